"""What leases must do, written down a second time and without a store: small and slow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

TASK_A, TASK_B, PORT, SLOT = "task:a", "task:b", "port:80", "custom:s"
PY, A_FILES, B_MD = "file:/r/*.py", "file:/r/a*", "file:/r/b.md"
RESOURCES = (TASK_A, TASK_B, PORT, SLOT, PY, A_FILES, B_MD)
OVERLAPPING = frozenset({(PY, A_FILES), (A_FILES, PY)})
UNFENCED = frozenset({PORT, SLOT})
REST, CLAIM, START, AGING = 15_000, 10_000, 30_000, 900_000
MAX_HOLD = 8 * 3_600_000


@dataclass(frozen=True)
class Wish:
    """What somebody asks for."""

    holder: str
    resources: tuple[str, ...]
    shared: bool = False
    slots: int = 1
    ttl: int = 60_000
    rank: int = 1


@dataclass(frozen=True)
class Grant:
    """A lease that stands."""

    id: str
    wish: Wish
    fences: tuple[int, ...]
    since: int
    expires: int
    claim_until: int | None = None

    def live(self, now: int) -> bool:
        return self.expires > now and (self.claim_until is None or self.claim_until > now)


@dataclass(frozen=True)
class Entry:
    """Somebody who waits."""

    id: str
    wish: Wish
    enqueued: int
    until: int


@dataclass
class Model:
    """The leases, the queue and the rests, as they must be."""

    now: int
    counters: dict[str, int]
    grants: dict[str, Grant] = field(default_factory=dict)
    queue: list[Entry] = field(default_factory=list)
    rests: list[tuple[Wish, int]] = field(default_factory=list)
    over: dict[str, str] = field(default_factory=dict)
    """Why each ended lease ended."""

    def expire(self) -> None:
        """Whatever time ends, then the queue."""
        self.rests = [(wish, until) for wish, until in self.rests if until > self.now]
        self.queue = [one for one in self.queue if one.until > self.now]
        for grant in [one for one in self.grants.values() if not one.live(self.now)]:
            unclaimed = grant.claim_until is not None
            self.end(grant.id, "expired")
            keys = tuple(key for key in grant.wish.resources if key in UNFENCED)
            if keys and not unclaimed:
                rest = replace(grant.wish, resources=keys)
                self.rests.append((rest, self.now + min(grant.wish.ttl, REST)))
        self.settle()

    def end(self, id: str, why: str) -> None:
        del self.grants[id]
        self.over[id] = why

    def own(self, wish: Wish) -> Grant | None:
        key = (wish.holder, wish.resources, wish.shared, wish.slots)
        found = [
            one
            for one in self.grants.values()
            if key == (one.wish.holder, one.wish.resources, one.wish.shared, one.wish.slots)
        ]
        return max(found, key=lambda one: one.fences, default=None)

    def blocked(self, wish: Wish) -> bool:
        held = [one.wish for one in self.grants.values()]
        return meets(wish, [*held, *(rest for rest, _ in self.rests)])

    def line(self) -> list[Entry]:
        return sorted(self.queue, key=lambda one: one.enqueued - one.wish.rank * AGING)

    def behind(self, wish: Wish, before: Iterable[Entry]) -> bool:
        """Whether it must leave something to who came before, unless they wait for its holder."""
        others = [one.wish for one in before]
        hits = [one for one in others if meets(wish, [one])] or (
            others if wish.slots > 1 and meets(wish, others) else []
        )
        return any(not self.leads(one.holder, wish.holder, queue=True) for one in hits)

    def leads(self, start: str, goal: str, *, queue: bool) -> bool:
        """Whether somebody waits, over however many others, for somebody."""
        seen, open_ = set(), [start]
        while open_:
            name = open_.pop()
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                open_.extend(self.waits_for(name, queue=queue))
        return False

    def waits_for(self, name: str, *, queue: bool) -> set[str]:
        found: set[str] = set()
        line = self.line()
        for at, entry in enumerate(line):
            if entry.wish.holder != name:
                continue
            others = [one.wish for one in self.grants.values()]
            others += [rest for rest, _ in self.rests]
            earlier = [one.wish for one in line[:at]] if queue else []
            for group in (others, earlier):
                found |= {one.holder for one in group if meets(entry.wish, [one])}
                if entry.wish.slots > 1 and meets(entry.wish, group):
                    found |= {one.holder for one in group if one.slots > 1} - {name}
        return found

    def deadlock(self, wish: Wish) -> bool:
        others = [one.wish for one in self.grants.values()] + [rest for rest, _ in self.rests]
        hits = {one.holder for one in others if meets(wish, [one])}
        if wish.slots > 1 and meets(wish, others):
            hits |= {one.holder for one in others if one.slots > 1 and one.holder != wish.holder}
        return any(self.leads(name, wish.holder, queue=False) for name in hits)

    def settle(self) -> None:
        for entry in self.line():
            place = self.line().index(entry)
            own = self.own(entry.wish)
            if own is not None and (own.claim_until is None or not self.blocked(entry.wish)):
                self.queue.remove(entry)
            elif not self.blocked(entry.wish) and not self.behind(entry.wish, self.line()[:place]):
                self.queue.remove(entry)
                self.grant(entry.id, entry.wish, claim=CLAIM)

    def grant(self, id: str, wish: Wish, *, claim: int = 0) -> Grant:
        fences = []
        for key in wish.resources:
            self.counters[key] += 1
            fences.append(self.counters[key])
        until = self.now + claim if claim else None
        made = Grant(id, wish, tuple(fences), self.now, self.now + wish.ttl, until)
        self.grants[id] = made
        return made

    def prolong(self, grant: Grant, ttl: int) -> Grant:
        until = self.now + ttl
        if any(_wants(one.wish, grant.wish) for one in self.queue):
            until = min(until, grant.since + MAX_HOLD)
        longer = replace(grant, expires=max(grant.expires, until))
        self.grants[grant.id] = longer
        return longer

    def ask(self, wish: Wish, wait: int) -> str:
        """What a request must get: `renewed`, `granted`, `held`, `deadlock` or `queued`."""
        own = self.own(wish)
        blocked = self.blocked(wish)
        if own is not None and (own.claim_until is None or not blocked):
            self.grants[own.id] = replace(self.prolong(own, wish.ttl), claim_until=None)
            return "renewed"
        score = self.now - wish.rank * AGING
        before = [one for one in self.line() if one.enqueued - one.wish.rank * AGING <= score]
        if not blocked and not self.behind(wish, before):
            return "granted"
        if not wait:
            return "held"
        return "deadlock" if self.deadlock(wish) else "queued"

    def restart(self) -> None:
        self.queue = []
        for grant in list(self.grants.values()):
            longer = max(grant.expires, self.now + min(grant.wish.ttl, START))
            self.grants[grant.id] = replace(grant, expires=longer)


def overlap(one: str, other: str) -> bool:
    return one == other or (one, other) in OVERLAPPING


def _wants(wish: Wish, held: Wish) -> bool:
    """Whether somebody else who waits is kept waiting by what is held, counted or not."""
    other = wish.holder != held.holder and not (wish.shared and held.shared)
    return other and any(overlap(a, b) for a in wish.resources for b in held.resources)


def meets(wish: Wish, others: Iterable[Wish]) -> bool:
    """Whether the request cannot stand beside all of these."""
    strangers = [one for one in others if one.holder != wish.holder]
    for one in strangers:
        if wish.shared and one.shared:
            continue
        counted = wish.slots > 1 and one.slots > 1
        pairs = [(a, b) for a in wish.resources for b in one.resources if overlap(a, b)]
        if any(not (counted and a == b) for a, b in pairs):
            return True
    if wish.slots == 1:
        return False
    for key in wish.resources:
        taken = [one for one in strangers if one.slots > 1 and key in one.resources]
        if len({one.holder for one in taken}) >= min([wish.slots, *(one.slots for one in taken)]):
            return True
    return False
