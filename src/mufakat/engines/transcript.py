"""Putting an answer together from pieces, whole messages and restarts, without a double."""

from __future__ import annotations

from dataclasses import dataclass, field

from mufakat.core.talk import stream

BETWEEN = "\n\n"


@dataclass(slots=True)
class Transcript:
    """What the agent said in a turn: finished messages, and the one that is growing."""

    messages: list[str] = field(default_factory=list)
    growing: str = ""

    @property
    def answer(self) -> str:
        """The last thing said: the growing message, else the last one with any words."""
        if self.growing.strip():
            return self.growing
        return next((text for text in reversed(self.messages) if text.strip()), "")

    def piece(self, text: str) -> list[stream.StreamEvent]:
        """A piece came in; what to tell the listener."""
        if not text:
            return []
        before = BETWEEN if not self.growing and self.messages else ""
        self.growing += text
        return [stream.Text(before + text, begins=bool(before))]

    def whole(self, text: str) -> list[stream.StreamEvent]:
        """A whole message came in, all of it or its beginning streamed before."""
        events: list[stream.StreamEvent] = []
        if not text.startswith(self.growing):
            events += self.void("the message came out differently")
        events += self.piece(text[len(self.growing) :])
        self.close()
        return events

    def close(self) -> None:
        """The growing message is finished."""
        if self.growing:
            self.messages.append(self.growing)
        self.growing = ""

    def void(self, why: str) -> list[stream.StreamEvent]:
        """The growing message will be said again; finished ones stay."""
        if not self.growing:
            return []
        self.growing = ""
        kept = BETWEEN.join(self.messages)
        return [stream.TextReset(why), *([stream.Text(kept)] if kept else [])]
