"""An answer while it grows, as people may see it: what the agent asks for in it is left out."""

from __future__ import annotations

from mufakat.core.pack import pull
from mufakat.core.pack.pull import Reading


class Unmarked:
    """Takes an answer in pieces and gives back what is sure to be no part of a marker.

    All pieces come to what `pull.without_markers` makes of the whole. Held back is only the begin
    of a line that may still become a marker with the run's own nonce, and the ends of lines before.
    """

    __slots__ = ("_begun", "_breaks", "_dropped", "_held", "_line", "_nonce", "_reading", "told")

    def __init__(self, nonce: str = "") -> None:
        """Without a nonce nothing is a marker."""
        self._nonce = nonce
        self._reading = Reading(nonce)
        self._line = self._held = ""
        self._begun = self._dropped = False
        self._breaks = 0
        self.told = False
        """Whether anything was given back."""

    def anew(self) -> Unmarked:
        """The same for an answer that begins again."""
        return Unmarked(self._nonce)

    def take(self, piece: str, *, begins: bool = False) -> str:
        """What of the answer so far can be shown more.

        Where the piece `begins` another message, a code block that was left open is over.
        """
        if begins and piece.startswith("\n"):
            shown = self._end_line()
            self._reading = Reading(self._nonce)
            return shown + self.take(piece[1:])
        first, *rest = piece.split("\n")
        parts = [self._grow(first)]
        for part in rest:
            parts += (self._end_line(), self._grow(part))
        return "".join(parts)

    def end(self) -> str:
        """What is left to be shown of an answer that is over; nothing may come after it."""
        shown = self._end_line()
        return shown if self._dropped else shown + "\n" * (self._breaks - 1)

    def _grow(self, part: str) -> str:
        self._line = (self._line + part)[: pull.LINE_CHARS + 1]
        self._held += part
        if not self._begun and self._reading.may_count(self._held):
            return ""
        return self._release()

    def _release(self) -> str:
        if not self._held:
            return ""
        shown = "\n" * self._breaks + self._held
        self._held, self._breaks = "", 0
        self._begun = self.told = True
        return shown

    def _end_line(self) -> str:
        shown = ""
        if self._reading.counts(self._line):
            self._dropped = True
            self._breaks = self._breaks if self.told else 0
        else:
            shown = self._release()
            self._breaks += 1
        self._line = self._held = ""
        self._begun = False
        return shown
