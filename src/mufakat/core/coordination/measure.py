"""What each event of the log adds to the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from mufakat.core.base import LoggedEvent
from mufakat.core.coordination import resource
from mufakat.core.coordination.lease import Rule
from mufakat.core.coordination.state import State


@dataclass(frozen=True, slots=True)
class Sample:
    """Something that was measured once: a count to add, or a duration in seconds."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


WAITED = frozenset({Rule.FROM_QUEUE})
PREEMPTED = frozenset({Rule.PREEMPT_GRACE, Rule.PREEMPT_NOW})
HELD = frozenset({Rule.HELD, Rule.LOCK_DELAY, Rule.QUEUED_BEFORE})
ENDS = frozenset(
    {"lease.released", "lease.expired", "lease.lost", "lease.transferred"},
)
OTHER = "other"


class Starts:
    """When things began whose end is still to come; the oldest are forgotten beyond `most`."""

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._at: dict[tuple[str, ...], int] = {}

    def begin(self, key: tuple[str, ...], at: int) -> None:
        """Remember a beginning; a later one under the same key counts."""
        self._at.pop(key, None)
        self._at[key] = at
        if len(self._at) > self._most:
            del self._at[next(iter(self._at))]

    def end(self, key: tuple[str, ...], at: int) -> float | None:
        """Seconds since the beginning; None where it is not known."""
        began = self._at.pop(key, None)
        return None if began is None else max(0, at - began) / 1000


def of(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    """What an event adds; events that are older than what `starts` knows add no durations."""
    read = READERS.get(event.kind)
    if read is not None:
        yield from read(event, starts)


def _state(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    before, after = _word(event, "from", State), _word(event, "to", State)
    if before != after:
        yield Sample("iacp_state_transitions_total", 1, (before, after))
        seconds = _since(event)
        if seconds is not None:
            yield Sample("iacp_state_seconds", seconds, (before,))


def _queued(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    starts.begin(("lease", event.subject), event.at)
    yield from ()


def _granted(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    yield from _by_kind(event, "iacp_lease_acquired_total")
    rule = event.data.get("rule")
    waited = starts.end(("lease", event.subject), event.at)
    if rule == Rule.FREE:
        yield Sample("iacp_lease_wait_seconds", 0)
    elif rule in WAITED and waited is not None:
        yield Sample("iacp_lease_wait_seconds", waited)


def _refused(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    rule = event.data.get("rule")
    if rule in HELD:
        yield from _by_kind(event, "iacp_lease_held_total")
    elif rule == Rule.STALE:
        yield Sample("iacp_lease_lost_total", 1, ("stale",))


def _renewed(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    yield from _by_kind(event, "iacp_lease_renewed_total")


def _ended(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    seconds = _since(event)
    if seconds is not None:
        yield Sample("iacp_lease_hold_seconds", seconds)
    match event.kind:
        case "lease.expired":
            yield from _by_kind(event, "iacp_lease_expired_total")
        case "lease.transferred":
            yield from _by_kind(event, "iacp_lease_transferred_total")
        case "lease.lost":
            preempted = event.data.get("rule") in PREEMPTED
            why = "preempted" if preempted else str(event.data.get("cause", OTHER))
            yield Sample("iacp_lease_lost_total", 1, (why,))
            if preempted:
                yield from _by_kind(event, "iacp_lease_preempted_total")


def _delivered(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    starts.begin(_entry(event), event.at)
    yield from ()


def _shown(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    seconds = starts.end(_entry(event), event.at)
    if seconds is not None:
        yield Sample("iacp_delivery_seconds", seconds, (str(event.data.get("path", OTHER)),))


def _done(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    starts.end(_entry(event), event.at)
    yield from ()


def _gate(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    yield Sample("iacp_gate_blocks_total", 1, (event.kind.removeprefix("gate."),))
    chars = _number(event, "chars")
    if chars:
        yield Sample("iacp_injected_chars_total", chars, ("gate",))


def _skipped(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    yield Sample("iacp_gate_skipped_total", _number(event, "count"))


def _packed(event: LoggedEvent, starts: Starts) -> Iterator[Sample]:
    chars = _number(event, "told")
    if chars:
        yield Sample("iacp_injected_chars_total", chars, ("pack",))


Reader = Callable[[LoggedEvent, Starts], Iterator[Sample]]
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "agent.state": _state,
        "lease.queued": _queued,
        "lease.granted": _granted,
        "lease.refused": _refused,
        "lease.renewed": _renewed,
        **dict.fromkeys(ENDS, _ended),
        "inbox.delivered": _delivered,
        "inbox.shown": _shown,
        **dict.fromkeys(("inbox.acked", "inbox.declined", "inbox.expired"), _done),
        **dict.fromkeys(("gate.blocked", "gate.allowed", "gate.gave_up"), _gate),
        "gate.skipped": _skipped,
        "turn.packed": _packed,
    }
)
KINDS = tuple(READERS)
"""Of the events that are worth reading for this."""


def _by_kind(event: LoggedEvent, name: str) -> Iterator[Sample]:
    """One for each kind of resource that a lease is about."""
    found = {_kind(str(key)) for key in event.data.get("resources", ())}
    return (Sample(name, 1, (kind,)) for kind in sorted(found))


def _kind(key: str) -> str:
    kind = key.partition(":")[0]
    return kind if kind in set(resource.Kind) else OTHER


def _since(event: LoggedEvent) -> float | None:
    began = event.data.get("since")
    return max(0, event.at - began) / 1000 if isinstance(began, int) else None


def _entry(event: LoggedEvent) -> tuple[str, ...]:
    return ("inbox", event.subject, str(event.data.get("number", "")))


def _word(event: LoggedEvent, name: str, words: type[StrEnum]) -> str:
    said = event.data.get(name)
    return str(said) if said in set(words) else OTHER


def _number(event: LoggedEvent, name: str) -> int:
    value: Any = event.data.get(name)
    return value if isinstance(value, int) and value > 0 else 0
