"""From what an engine said and how its process ended to one Reply; the same rule for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure
from mufakat.engines.process.command import Ended, Outcome

KILLED = 128
STOPPED: Mapping[Ended, tuple[Failure, str]] = MappingProxyType(
    {
        Ended.IDLE: (Failure.IDLE, "No output came for too long."),
        Ended.DEADLINE: (Failure.DEADLINE, "The turn took too long."),
    }
)
PROGRAM_FAULTS = (
    "file not found",
    "not executable",
    "not a program for this machine",
    "is missing",
)
"""Reasons for which another program would have started; all others are not the program's."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the stream came to, whatever became of the process."""

    finished: bool = False
    """The engine's own end mark came and it was good."""
    error: str | None = None
    """The engine's own words for a failed turn; None when it reported none."""
    error_class: Failure | None = None
    text: str = ""
    session: str = ""
    usage: Usage = Usage()
    running_total: Usage | None = None
    retry_after: float | None = None
    last_warning: str = ""
    """The newest retry or warning, for an end without a word."""


def reply(said: Said, outcome: Outcome) -> Reply:
    """The end of a turn.

    Our own flags decide first; then the engine's end mark; the exit code only explains.
    """
    status, problem, message = _judge(said, outcome)
    waiting = said.retry_after
    if waiting is None and problem is Failure.RATE_LIMIT:
        waiting = failure.retry_after(message)
    return Reply(
        status,
        text=said.text,
        session=said.session,
        usage=said.usage,
        running_total=said.running_total,
        failure=problem,
        message=failure.shown(message),
        retry_after=waiting,
        leftovers=outcome.leftovers,
    )


Judgement = tuple[Status, Failure | None, str]


def _judge(said: Said, outcome: Outcome) -> Judgement:
    if outcome.ended is Ended.CANCELLED:
        return Status.CANCELLED, None, ""
    if outcome.ended is Ended.NOT_STARTED:
        missing = outcome.why.endswith(PROGRAM_FAULTS)
        return _failed(Failure.MISSING if missing else Failure.INTERNAL, outcome.why)
    if said.finished:
        return _finished(said)
    if outcome.ended in STOPPED:
        kind, words = STOPPED[outcome.ended]
        return _failed(kind, _with(said, words))
    if said.error is not None:
        kind = said.error_class or failure.of_text(said.error, Failure.INTERNAL)
        return _failed(kind, said.error)
    return _unfinished(said, outcome)


def _finished(said: Said) -> Judgement:
    if said.text.strip():
        return Status.DONE, None, ""
    return _failed(Failure.EMPTY, said.last_warning or "The engine's answer is empty.")


def _unfinished(said: Said, outcome: Outcome) -> Judgement:
    """The process ended by itself, and no end mark came."""
    code = outcome.exit_code or 0
    if code < 0 or code > KILLED:
        died = f"signal {-code if code < 0 else code - KILLED}"
        return _failed(Failure.CRASHED, f"The engine's process was ended by {died}.")
    words = outcome.stderr_tail.strip() or said.last_warning
    if code:
        kind = failure.of_text(words, Failure.CRASHED)
        return _failed(kind, words or f"The engine ended with exit code {code}.")
    return _failed(Failure.NO_RESULT, said.last_warning or "The engine ended without a result.")


def _with(said: Said, message: str) -> str:
    """What we say of a turn that we stopped; an error may be only the echo of our stopping it."""
    last = said.last_warning or said.error
    return f"{message} Last: {last}" if last else message


def _failed(kind: Failure, message: str) -> Judgement:
    return Status.FAILED, kind, message
