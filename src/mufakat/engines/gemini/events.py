"""Reading Gemini CLI's stream: deltas, tools, and a result without which nothing succeeded."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure, fields
from mufakat.engines.cli import session_id, verdict
from mufakat.engines.transcript import Transcript

Event = Mapping[str, object]
Events = list[stream.StreamEvent]

EXIT: Mapping[int, Failure] = {
    41: Failure.LOGIN,
    53: Failure.LIMIT,
    55: Failure.REFUSED,
}
HTTP_EXIT = {status & 255: status for status in (400, 401, 403, 404, 429, 500, 502, 503, 504)}
"""The exit code is the lower byte of the HTTP status."""
RETRY_GAP = 0.9
"""Seconds of silence after which a first piece that comes again is a new attempt."""
LEAST_PIECE = 4
WRAPPED = re.compile(r"\[API Error: (.*?)\](?:\n|$)", re.DOTALL)


def count(stats: Event) -> Usage:
    """Four buckets: input includes what came from the cache, the total includes reasoning."""
    total, said = fields.count(stats, "total_tokens"), fields.count(stats, "output_tokens")
    given, read = fields.count(stats, "input_tokens"), fields.count(stats, "cached")
    return Usage(fresh=max(0, given - read), cache_read=read, output=max(said, total - given))


@dataclass(slots=True)
class Gemini:
    """The state of one stream; `expected` is the only session id it may report."""

    expected: str
    session: str = ""
    script: Transcript = field(default_factory=Transcript)
    tools: dict[str, stream.Tool] = field(default_factory=dict)
    result: Event | None = None
    warning: str = ""
    first_piece: str = ""
    last_time: float | None = None

    def feed(self, event: Event) -> Events:
        """Take the next object of the stream."""
        handlers: Mapping[str, Callable[[Event], Events]] = {
            "init": self._init,
            "message": self._message,
            "tool_use": self._tool_began,
            "tool_result": self._tool_ended,
            "error": self._warned,
            "result": self._result,
        }
        kind = fields.text(event, "type")
        handle = handlers.get(kind)
        return handle(event) if handle else [stream.Unknown(kind or "untyped", event)]

    def stray(self, line: str) -> Events:
        """A text line between the objects is only worth a notice."""
        return [stream.Notice(failure.shown(line), "debug")]

    def _init(self, event: Event) -> Events:
        found = event.get("session_id")
        self.session = session_id.accepted(found, session_id.UUID, self.expected)
        if not self.session:
            return [stream.Notice("Gemini named an unexpected session; not kept.", "warning")]
        return [stream.SessionStarted(self.session, fields.text(event, "model"))]

    def _message(self, event: Event) -> Events:
        if fields.text(event, "role") != "assistant":
            return []
        content = fields.text(event, "content")
        if event.get("delta") is not True:
            return self.script.whole(content)
        restarted = self._restarted(content, _time(event))
        events = self.script.void("Gemini began its answer again") if restarted else []
        if not self.script.growing:
            self.first_piece = content
        return [*events, *self.script.piece(content)]

    def _restarted(self, piece: str, at: float | None) -> bool:
        """Gemini says nothing of a new attempt: its first piece comes again after a pause."""
        before, self.last_time = self.last_time, at
        if not self.script.growing or at is None or before is None:
            return False
        return at - before >= RETRY_GAP and len(piece) >= LEAST_PIECE and piece == self.first_piece

    def _tool_began(self, event: Event) -> Events:
        self.script.close()
        call = stream.Tool(
            fields.text(event, "tool_id"),
            fields.text(event, "tool_name"),
            stream.ToolStatus.RUNNING,
            input=fields.line(event.get("parameters")),
        )
        self.tools[call.id] = call
        return [call]

    def _tool_ended(self, event: Event) -> Events:
        self.script.close()
        id_ = fields.text(event, "tool_id")
        begun = self.tools.pop(id_, stream.Tool(id_, "", stream.ToolStatus.RUNNING))
        good = fields.text(event, "status") == "success"
        output = fields.text(event, "output") or fields.text(event, "error", "message")
        status = stream.ToolStatus.OK if good else stream.ToolStatus.FAILED
        return [replace(begun, status=status, output=output)]

    def _warned(self, event: Event) -> Events:
        self.warning = fields.text(event, "message")
        return [stream.Notice(failure.shown(self.warning), "warning")]

    def _result(self, event: Event) -> Events:
        if self.result is not None:
            return [stream.Unknown("result/second", event)]
        self.result = event
        return [stream.UsageSeen(count(fields.table(event, "stats")))]

    def said(self, exit_code: int | None) -> verdict.Said:
        """What it all came to; without a result event nothing succeeded, whatever the exit code."""
        told = verdict.Said(
            text=self.script.answer,
            session=self.session,
            usage=count(fields.table(self.result, "stats")),
            last_warning=self.warning,
        )
        if self.result is None:
            return self._unfinished(told, exit_code)
        if fields.text(self.result, "status") == "success":
            return replace(told, finished=True)
        words = fields.text(self.result, "error", "message") or self.warning or "The turn failed."
        return replace(told, error=_unwrapped(words), error_class=_class(words, exit_code))

    def _unfinished(self, told: verdict.Said, exit_code: int | None) -> verdict.Said:
        if exit_code in EXIT or exit_code in HTTP_EXIT:
            words = self.warning or f"Gemini ended with exit code {exit_code}."
            return replace(told, error=words, error_class=_class(words, exit_code))
        return told


def _class(words: str, exit_code: int | None) -> Failure:
    code = exit_code or 0
    if code in EXIT:
        return EXIT[code]
    if code in HTTP_EXIT:
        return failure.of_status(HTTP_EXIT[code], words)
    return failure.of_text(words, Failure.INTERNAL)


def _unwrapped(words: str) -> str:
    found = WRAPPED.match(words)
    return found[1] if found else words


def _time(event: Event) -> float | None:
    try:
        return datetime.fromisoformat(fields.text(event, "timestamp")).timestamp()
    except ValueError:
        return None
