"""Reading a chat completion, streamed or whole: pure, so that recordings can test it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure, fields
from mufakat.engines.process import json_line

Events = list[stream.StreamEvent]
DONE = "[DONE]"
TEXT = 16 * 1024 * 1024
"""Longest answer in characters."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the answer failed."""

    failure: Failure
    message: str
    retry_after: float | None = None


@dataclass(slots=True)
class Completion:
    """One answer while it comes."""

    text: str = ""
    finish: str = ""
    usage: Usage | None = None
    problem: Problem | None = None
    done: bool = False

    def data(self, data: str) -> Events:
        """The data of one server-sent event."""
        if data.strip() == DONE:
            self.done = True
            return []
        document = json_line.decode(data)
        if isinstance(document, json_line.NotJson):
            why = f"The server sent no JSON: {document.why}"
            self.problem = self.problem or Problem(Failure.MALFORMED, why)
            return []
        return self.document(document)

    def document(self, document: Mapping[str, object]) -> Events:
        """A piece of the answer, or all of it."""
        if document.get("error"):
            self.problem = self.problem or of_error(document)
            return []
        told: Events = []
        for choice in fields.rows(document, "choices")[:1]:
            told += self._choice(choice)
        usage = fields.table(document, "usage")
        if usage:
            self.usage = count(usage)
            # Some servers repeat it with every piece: told each time, it would cut the text there.
            told += [stream.UsageSeen(self.usage)] if self.finish else []
        return told

    def _choice(self, choice: Mapping[str, object]) -> Events:
        self.finish = fields.text(choice, "finish_reason") or self.finish
        part = fields.table(choice, "delta") or fields.table(choice, "message")
        thought = fields.text(part, "reasoning_content") or fields.text(part, "reasoning")
        text = fields.flat(part.get("content"))
        told: Events = [stream.Thought(thought)] if thought else []
        if text and len(self.text) + len(text) > TEXT:
            self.problem = Problem(Failure.LIMIT, "The answer is endless.")
        elif text:
            self.text += text
            told.append(stream.Text(text))
        if part.get("tool_calls"):
            told.append(stream.Unknown("tool_calls", part))
        return told

    def reply(self) -> Reply:
        """The end, after the last byte."""
        usage = self.usage or Usage()
        problem = self.problem or self._missing()
        if problem is None:
            return Reply(Status.DONE, text=self.text, usage=usage)
        return Reply(
            Status.FAILED,
            text=self.text,
            usage=usage,
            failure=problem.failure,
            message=failure.shown(problem.message),
            retry_after=problem.retry_after,
        )

    def _missing(self) -> Problem | None:
        if not self.finish and not self.done:
            return Problem(Failure.NO_RESULT, "The answer broke off before its end.")
        if not self.text.strip():
            return Problem(Failure.EMPTY, "The model answered nothing.")
        return None


def count(usage: Mapping[str, object]) -> Usage:
    """Four buckets: the prompt includes what the cache gave, the completion reasoning."""
    read = fields.count(usage, "prompt_tokens_details", "cached_tokens")
    fresh = max(0, fields.count(usage, "prompt_tokens") - read)
    return Usage(fresh=fresh, cache_read=read, output=fields.count(usage, "completion_tokens"))


def of_error(document: Mapping[str, object]) -> Problem:
    """An error document inside a stream."""
    error = document.get("error")
    words = fields.text(error, "message") or (error if isinstance(error, str) else str(error))
    status = fields.count(error, "code") or fields.count(document, "status")
    if 400 <= status < 600:
        return Problem(failure.of_status(status, words), words)
    kind = f"{fields.text(error, 'type')} {fields.text(error, 'code')} {words}"
    return Problem(failure.of_text(kind, Failure.OVERLOADED), words)


def of_response(status: int, body: str, retry_after: str) -> Problem:
    """A refused request."""
    document = json_line.decode(body)
    words = "" if isinstance(document, json_line.NotJson) else of_error(document).message
    words = words or body.strip() or f"HTTP status {status}"
    return Problem(
        failure.of_status(status, words), f"HTTP {status}: {words}", seconds(retry_after)
    )


def seconds(value: str) -> float | None:
    """The Retry-After header where it is a number; a date is not worth the clock it needs."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
