"""The sequential lease that concurrent histories over HTTP are compared with, expiry included."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from equipment.linear import Checker, Operation

SLACK = 0.02
"""Seconds by which the server's milliseconds and our clock may differ."""
GRACE = 30.0
NOBODY = {"valid": False, "holder": -1}


@dataclass(frozen=True, slots=True)
class Held:
    """What may be so: who holds the resource, and between which times that ends."""

    fence: int = 0
    """The newest one; before the first grant the one that its number follows."""
    client: int = -1
    """Who holds it; -1 for nobody."""
    id: str = ""
    """Empty while its holder does not know it either."""
    ttl: float = 0.0
    early: float = 0.0
    late: float = 0.0


@dataclass(frozen=True, slots=True)
class Rules:
    """How a lease goes on; `calls` of every client, because each call renews what it holds."""

    calls: Mapping[int, Sequence[tuple[float, float]]]

    def step(self, held: Held, one: Operation, low: float, high: float) -> Sequence[Held]:
        """Every state that may be after `one` took effect between `low` and `high`."""
        held = self._touched(held, high)
        found: list[Held] = []
        if held.client < 0 or high >= held.early - SLACK:
            gone = replace(held, client=-1, id="", ttl=0.0, early=0.0, late=0.0)
            found += self._free(gone, held, one, low, high)
        if held.client >= 0 and low <= held.late + SLACK:
            # It has not ended, so it cannot have ended before this.
            found += self._live(replace(held, early=max(held.early, low)), one, low, high)
        return found

    def _touched(self, held: Held, until: float) -> Held:
        """The latest end after all calls that the holder had begun by then."""
        if held.client < 0:
            return held
        late = held.late
        for call, back in self.calls.get(held.client, ()):
            if call > until or call > late + SLACK:
                break
            late = max(late, min(back, late + SLACK, until) + held.ttl)
        return replace(held, late=late)

    def _free(
        self, gone: Held, before: Held, one: Operation, low: float, high: float
    ) -> Iterator[Held]:
        match one.what:
            case "acquire" if one.open or (one.result and one.result["fence"] == gone.fence + 1):
                yield _granted(gone, one, low, high)
            case "renew" | "release" if one.open or not one.result:
                yield gone
            case "check" if one.open or one.result == NOBODY:
                yield gone
            case "start":
                yield gone
                if before.client >= 0:
                    # It was over by time, but nobody had noticed.
                    yield _begun(before, low, high)

    def _live(self, held: Held, one: Operation, low: float, high: float) -> Iterator[Held]:
        theirs = held.client == one.client and _names(held, one)
        match one.what:
            case "acquire":
                yield from _asked(held, one, low, high)
            case "renew" if one.open or one.result == theirs:
                yield _longer(held, one, low, high) if theirs else held
            case "release" if one.open or one.result == theirs:
                yield Held(held.fence) if theirs else held
            case "check" if one.open or _checked(held, one):
                yield held
            case "start":
                yield _begun(held, low, high)


def _names(held: Held, one: Operation) -> bool:
    """Whether an operation gives the fence and the lease that stand."""
    return one.what in {"renew", "release"} and _same(held, one.given)


def _same(held: Held, named: Mapping[str, Any]) -> bool:
    """Whether a fence and a lease are the ones that stand."""
    return held.fence == named["fence"] and held.id in {"", named["id"]}


def _asked(held: Held, one: Operation, low: float, high: float) -> Iterator[Held]:
    mine = held.client == one.client
    if one.open:
        yield _longer(held, one, low, high) if mine else held
    elif not one.result and not mine:
        yield held
    elif one.result and mine and _same(held, one.result):
        yield replace(_longer(held, one, low, high), id=one.result["id"])


def _granted(gone: Held, one: Operation, low: float, high: float) -> Held:
    ttl = one.given["ttl"]
    fence = one.result["fence"] if one.result else gone.fence + 1
    id = one.result["id"] if one.result else ""
    return Held(fence, one.client, id, ttl, low + ttl, high + ttl)


def _longer(held: Held, one: Operation, low: float, high: float) -> Held:
    ttl = one.given["ttl"]
    return replace(held, early=max(held.early, low + ttl), late=max(held.late, high + ttl))


def _begun(held: Held, low: float, high: float) -> Held:
    """When the server starts, its holder could not renew meanwhile."""
    rest = min(held.ttl, GRACE)
    return replace(held, early=max(held.early, low + rest), late=max(held.late, high + rest))


def _checked(held: Held, one: Operation) -> bool:
    valid, holder = one.result["valid"], one.result["holder"]
    if valid or held.fence == one.given["fence"]:
        return bool(valid) and held.fence == one.given["fence"] and holder == held.client
    # A grant that its waiter has not come for yet is nobody's.
    return holder in {held.client, -1}


def checker(history: Sequence[Operation], *, before: int) -> Checker[Held]:
    """For the history of one resource, whose first fence comes after `before`."""
    calls: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for one in sorted(history, key=lambda one: one.call):
        calls[one.client].append((one.call, one.back))
    return Checker(Held(before), Rules(calls).step)


def write(path: Path, history: Iterable[tuple[str, Operation]]) -> None:
    """Keep a history, one operation a line, each with its resource."""
    lines = (json.dumps({"resource": name, **asdict(one)}) for name, one in history)
    path.write_text("".join(f"{line}\n" for line in lines))


def read(path: Path) -> dict[str, list[Operation]]:
    """The operations of each resource; what happened to the server happened to all of them."""
    parts: dict[str, list[Operation]] = defaultdict(list)
    everywhere: list[Operation] = []
    for line in path.read_text().splitlines():
        record: dict[str, Any] = json.loads(line)
        name = record.pop("resource")
        one = Operation(**record)
        (parts[name] if name else everywhere).append(one)
    return {name: part + everywhere for name, part in parts.items()}
