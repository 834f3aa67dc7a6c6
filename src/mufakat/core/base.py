"""What every rule shares: ids, the error tree with its codes, and the shape of an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NewType

ProjectId = NewType("ProjectId", str)
ConversationId = NewType("ConversationId", str)
MessageId = NewType("MessageId", str)
TurnId = NewType("TurnId", str)
PackId = NewType("PackId", str)
AgentId = NewType("AgentId", str)
RoundtableId = NewType("RoundtableId", str)
Revision = NewType("Revision", int)
"""Position in the event log: gapless, in commit order, from 1."""
Millis = NewType("Millis", int)
"""Milliseconds since 1970 on the store's own high-water clock."""


class MufakatError(Exception):
    """Something went wrong that Mufakat has no better word for; run `mufakat doctor`."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str = "", *, fix: str = "", **detail: Any) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.fix = fix
        self.detail = detail


class InvalidInput(MufakatError):
    """The request cannot be understood; correct the named field."""

    code = "invalid_input"


class TooLarge(InvalidInput):
    """The text is larger than this door takes; put it into a file and name the file instead."""

    code = "too_large"


class DoesNotFit(InvalidInput):
    """The parts that may not be cut are larger than the budget; raise `budget` or shorten them."""

    code = "does_not_fit"


class BadCursor(InvalidInput):
    """The number lies beyond what this caller was given; read again and use one of those."""

    code = "bad_cursor"


class NotFound(MufakatError):
    """There is no such record; list what there is and check the id."""

    code = "not_found"


class Conflict(MufakatError):
    """The record is in another state than the request expects; read it again."""

    code = "conflict"


class IdempotencyConflict(Conflict):
    """This Idempotency-Key was used for another request; choose a new key."""

    code = "idempotency_conflict"


class Superseded(Conflict):
    """The same session joined again, so this credential is of the past; use the newer one."""

    code = "superseded"


class StaleState(Conflict):
    """The report is older than what is known; read the state again before the next one."""

    code = "stale"


class Held(Conflict):
    """Somebody else has it or waits for it; wait in the queue with `wait`, or take another part."""

    code = "held"


class Deadlock(Conflict):
    """Waiting would close a circle in which nobody goes on; release what you hold and ask anew."""

    code = "deadlock"


class LeaseLost(Conflict):
    """The lease is no longer yours; write nothing more under it and ask for it anew."""

    code = "lease_lost"


class NotAllowed(MufakatError):
    """The credential does not permit this; use the operator's token."""

    code = "not_allowed"


class TooBroad(NotAllowed):
    """The pattern takes in more than the policy gives this class; name a part of it."""

    code = "too_broad"


class Unauthenticated(MufakatError):
    """No valid token came with the request; send `Authorization: Bearer …`."""

    code = "unauthenticated"


class Unavailable(MufakatError):
    """Something Mufakat needs is not there just now; try again."""

    code = "unavailable"
    retryable = True


class InUse(Unavailable):
    """Another process holds what this command needs; stop it or choose another one."""

    code = "in_use"


class Paused(Unavailable):
    """The person has paused all agents; nothing starts until: mufakat agents unpause."""

    code = "paused"


class TooMany(Unavailable):
    """Too much at once from one sender; wait as long as the answer says, then go on."""

    code = "too_many"


class StoreError(MufakatError):
    """The database cannot be used; `mufakat check` says what is wrong with it."""

    code = "store"


class StoreCorrupt(StoreError):
    """The database is damaged; nothing was written. Restore the newest good backup."""

    code = "store_corrupt"


class StoreNewer(StoreError):
    """The database was written by a newer Mufakat; upgrade this one."""

    code = "store_newer"


class StoreRolledBack(StoreError):
    """The database is older than what this home has seen; restore it properly or accept it."""

    code = "store_rolled_back"


class StoreReadOnly(StoreError):
    """The database or its file system is read-only; make it writable."""

    code = "store_read_only"
    retryable = True


class StorageFull(StoreError):
    """The disk is full; nothing was half written. Free some space and try again."""

    code = "storage_full"
    retryable = True


class EngineError(MufakatError):
    """The agent's engine cannot be used; `mufakat doctor` says why."""

    code = "engine"


class EngineUnknown(EngineError):
    """There is no engine of that name; `mufakat engines` lists them."""

    code = "engine_unknown"


class EngineMissing(EngineError):
    """The engine's program is not on PATH; install it or set its command in the settings."""

    code = "engine_missing"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the append-only log, as a step hands it to the store."""

    kind: str
    subject: str
    """Id of what it is about, for example a turn's."""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event as it stands in the log."""

    revision: Revision
    at: Millis
    kind: str
    subject: str
    data: Mapping[str, Any]
