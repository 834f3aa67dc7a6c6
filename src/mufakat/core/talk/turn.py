"""A turn: one request to one agent, from its acceptance to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mufakat.core.base import AgentId, ConversationId, MessageId, Millis, PackId, TurnId
from mufakat.core.talk.usage import Usage


class Status(StrEnum):
    """Where a turn stands; the last four are final."""

    QUEUED = "queued"
    """Accepted and stored; the engine has not started, so it may be started again."""
    RUNNING = "running"
    """The engine has started and may have had effects; never started again by itself."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """The server died while the engine ran; a retry is offered."""


FINAL = frozenset({Status.DONE, Status.FAILED, Status.CANCELLED, Status.INTERRUPTED})

MOVES: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.QUEUED: frozenset({Status.RUNNING, Status.FAILED, Status.CANCELLED}),
        Status.RUNNING: frozenset(
            {Status.DONE, Status.FAILED, Status.CANCELLED, Status.INTERRUPTED}
        ),
        Status.DONE: frozenset(),
        Status.FAILED: frozenset(),
        Status.CANCELLED: frozenset(),
        Status.INTERRUPTED: frozenset(),
    }
)


class Failure(StrEnum):
    """Why a turn failed; `RETRY` says what helps."""

    LOGIN = "login"
    FORBIDDEN = "forbidden"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TOO_LONG = "too_long"
    BAD_REQUEST = "bad_request"
    NETWORK = "network"
    MALFORMED = "malformed"
    NO_RESULT = "no_result"
    EMPTY = "empty"
    SESSION_LOST = "session_lost"
    MISSING = "missing"
    CRASHED = "crashed"
    IDLE = "idle"
    DEADLINE = "deadline"
    LIMIT = "limit"
    REFUSED = "refused"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether another try can help, and what a person should do first."""

    retryable: bool
    fix: str


ADVICE: Mapping[Failure, Advice] = MappingProxyType(
    {
        Failure.LOGIN: Advice(False, "Log in with the engine's own command, then try again."),
        Failure.FORBIDDEN: Advice(False, "The account may not use this model; choose another one."),
        Failure.RATE_LIMIT: Advice(True, "Wait for the limit to reset, or ask another engine."),
        Failure.OVERLOADED: Advice(True, "The model's server has trouble; try again in a minute."),
        Failure.TOO_LONG: Advice(False, "Lower `budget` or choose a model with a larger window."),
        Failure.BAD_REQUEST: Advice(
            False, "The model's server refused the request; see the message."
        ),
        Failure.NETWORK: Advice(True, "The connection broke; check the network and try again."),
        Failure.MALFORMED: Advice(True, "The model's server sent garbage; try again."),
        Failure.NO_RESULT: Advice(True, "The engine ended without a result; try again."),
        Failure.EMPTY: Advice(True, "The model answered nothing; try again or rephrase."),
        Failure.SESSION_LOST: Advice(
            True, "The engine lost its session; the next try starts anew."
        ),
        Failure.MISSING: Advice(False, "Install the engine or set its command in the settings."),
        Failure.CRASHED: Advice(True, "The engine's process died; `mufakat doctor` may say why."),
        Failure.IDLE: Advice(True, "Nothing came for too long; try again or raise `idle_seconds`."),
        Failure.DEADLINE: Advice(True, "It took too long; split the task or raise `turn_seconds`."),
        Failure.LIMIT: Advice(False, "A limit of the engine ended the turn; narrow the request."),
        Failure.REFUSED: Advice(
            False, "Mufakat did not start it, for safety; the message says why."
        ),
        Failure.INTERNAL: Advice(False, "A fault in Mufakat; the server's log has the details."),
    }
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an engine's run came to."""

    status: Status
    """DONE, FAILED or CANCELLED."""
    text: str = ""
    session: str = ""
    usage: Usage = Usage()
    """This turn's alone, also where the engine counts over its whole session."""
    running_total: Usage | None = None
    """The engine's own counter after the turn, where it accumulates; kept for the next one."""
    failure: Failure | None = None
    message: str = ""
    """The engine's own words about the failure, cleaned."""
    retry_after: float | None = None
    """Seconds, where the model's server said so."""
    leftovers: tuple[int, ...] = ()
    """Processes that could not be ended; must be empty."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn."""

    id: TurnId
    conversation: ConversationId
    agent: AgentId
    identity: str
    engine: str
    model: str
    role: str
    persona: str
    status: Status
    prompt: MessageId
    created: Millis
    started: Millis | None = None
    ended: Millis | None = None
    pack: PackId | None = None
    answer: MessageId | None = None
    usage: Usage = Usage()
    failure: Failure | None = None
    message: str = ""
    process: str = ""
    """Run mark of the engine's processes, for the sweep after a crash."""
    options: str = "{}"
    """JSON of what the caller asked for (mode, budget, fresh)."""


def fix(turn: Turn) -> str:
    """What a person should do about a turn that ended badly; empty where nothing is wrong."""
    if turn.status is Status.INTERRUPTED:
        return f"Look at what it did, then: mufakat turns retry {turn.id}"
    return ADVICE[turn.failure].fix if turn.failure else ""


def may_move(now: Status, then: Status) -> bool:
    """Whether a turn in `now` may go to `then`."""
    return then in MOVES[now]


def after_crash(status: Status) -> Status:
    """What a turn found at start-up becomes: started ones are never run again by themselves."""
    return Status.INTERRUPTED if status is Status.RUNNING else status
