"""Reading OpenCode's stream: whole parts, usage step by step, and no end mark but the last step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mufakat.core.talk import stream
from mufakat.core.talk import usage as usages
from mufakat.core.talk.turn import Failure
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure, fields
from mufakat.engines.cli import session_id, verdict
from mufakat.engines.transcript import Transcript

Event = Mapping[str, object]
Events = list[stream.StreamEvent]

ENDS = frozenset({"stop", "length", "end-turn", "end_turn"})
NAMES = {
    "ContextOverflowError": Failure.TOO_LONG,
    "ProviderAuthError": Failure.LOGIN,
    "MessageOutputLengthError": Failure.LIMIT,
    "ContentFilterError": Failure.BAD_REQUEST,
}


def count(part: Event) -> Usage:
    """Four buckets of one step: input excludes the cache, output and reasoning are apart."""
    tokens = fields.table(part, "tokens")
    fresh = fields.count(tokens, "input")
    read = fields.count(tokens, "cache", "read")
    written = fields.count(tokens, "cache", "write")
    said = fields.count(tokens, "output")
    rest = fields.count(tokens, "total") - fresh - read - written
    thought = fields.count(tokens, "reasoning")
    output = rest if said <= rest <= said + thought else said + thought
    return Usage(fresh, read, written, output, fields.number(part, "cost"))


@dataclass(slots=True)
class OpenCode:
    """The state of one stream; `expected` is the session that is resumed, empty for a new one."""

    expected: str = ""
    session: str = ""
    script: Transcript = field(default_factory=Transcript)
    usage: Usage = field(default_factory=Usage)
    reason: str = ""
    """Why the last step ended."""
    error: Event | None = None
    strange: bool = False

    def feed(self, event: Event) -> Events:
        """Take the next object of the stream."""
        handlers: Mapping[str, Callable[[Event], Events]] = {
            "step_start": self._step,
            "text": self._text,
            "reasoning": _thought,
            "tool_use": self._tool,
            "step_finish": self._step_ended,
            "error": self._failed,
        }
        kind = fields.text(event, "type")
        handle = handlers.get(kind)
        if not handle:
            return [stream.Unknown(kind or "untyped", event)]
        return [*self._named(event), *handle(event)]

    def stray(self, line: str) -> Events:
        """A text line between the objects is only worth a notice."""
        return [stream.Notice(failure.shown(line), "debug")]

    def _named(self, event: Event) -> Events:
        if self.session or self.strange:
            return []
        found = event.get("sessionID")
        self.session = session_id.accepted(found, session_id.OPENCODE, self.expected)
        if self.session:
            return [stream.SessionStarted(self.session)]
        self.strange = True
        return [stream.Notice("OpenCode named an unexpected session; not kept.", "warning")]

    def _step(self, event: Event) -> Events:
        """A new step means that an earlier error was not the end."""
        del event
        self.error, self.reason = None, ""
        return []

    def _text(self, event: Event) -> Events:
        return self.script.whole(fields.text(event, "part", "text"))

    def _tool(self, event: Event) -> Events:
        part = fields.table(event, "part")
        state = fields.table(part, "state")
        good = fields.text(state, "status") == "completed"
        return [
            stream.Tool(
                fields.text(part, "callID"),
                fields.text(part, "tool"),
                stream.ToolStatus.OK if good else stream.ToolStatus.FAILED,
                input=fields.line(state.get("input")),
                output=fields.text(state, "output") or fields.text(state, "error"),
            )
        ]

    def _step_ended(self, event: Event) -> Events:
        if self.reason in ENDS:
            return [stream.Unknown("step_finish/second", event)]
        part = fields.table(event, "part")
        self.reason = fields.text(part, "reason")
        self.usage = usages.plus(self.usage, count(part))
        return [stream.UsageSeen(self.usage)]

    def _failed(self, event: Event) -> Events:
        self.error = fields.table(event, "error")
        return []

    def said(self, exit_code: int | None) -> verdict.Said:
        """What it all came to: the last step's reason stands for the end mark."""
        told = verdict.Said(text=self.script.answer, session=self.session, usage=self.usage)
        if self.error is not None:
            return self._with_error(told, self.error)
        if self.reason == "content-filter":
            words = "The provider's content filter ended the answer."
            return replace(told, error=words, error_class=Failure.BAD_REQUEST)
        if self.reason in ENDS:
            return replace(told, finished=True)
        if self.reason == "unknown" and exit_code == 0:
            words = "The answer ended without a reason."
            empty = not told.text.strip()
            return replace(
                told, error=words, error_class=Failure.EMPTY if empty else Failure.NO_RESULT
            )
        return told

    def _with_error(self, told: verdict.Said, error: Event) -> verdict.Said:
        name, status = fields.text(error, "name"), fields.count(error, "data", "statusCode")
        words = fields.text(error, "data", "message") or name or "The turn failed."
        kind = NAMES.get(name) or (
            failure.of_status(status, words) if status else failure.of_text(words, Failure.INTERNAL)
        )
        waiting = fields.text(error, "data", "responseHeaders", "retry-after")
        seconds = float(waiting) if waiting.replace(".", "", 1).isdecimal() else None
        return replace(told, error=words, error_class=kind, retry_after=seconds)


def _thought(event: Event) -> Events:
    words = fields.text(event, "part", "text")
    return [stream.Thought(words)] if words else []
