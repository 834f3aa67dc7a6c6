"""The policy for doors: what is in force, and what it would answer to a request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from mufakat.core.base import Millis
from mufakat.core.coordination import asking, lease_queue, policy
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.lease import Book, Granted, Held, Holder, Renewed, Rule, Waiter
from mufakat.core.coordination.policy import NAMES
from mufakat.core.coordination.principal import Principal
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import lease_asking, lease_book, lease_steps
from mufakat.services.coordination.lease_asking import Asked
from mufakat.services.coordination.rulebook import Edition, Rulebook


@dataclass(frozen=True, slots=True)
class Explained:
    """What a request would get just now, and by which rule."""

    answer: str
    """`granted`, `renewed`, `queued`, `held`, `deadlock` or `refused`."""
    rule: Rule
    rank: int
    name: str
    """Of the class."""
    clamped: bool
    """A higher class was asked for."""
    version: str
    """Of the policy."""
    high_traffic: bool
    ttl: int
    """Milliseconds."""
    why: str = ""
    note: str = ""
    """What keeps the class from being a higher one."""
    holders: tuple[Holder, ...] = ()
    position: int = 0
    cycle: tuple[str, ...] = ()


class Policy:
    """The policy as doors see it."""

    def __init__(self, store: Store, rulebook: Rulebook) -> None:
        self._store = store
        self._rulebook = rulebook

    async def current(self) -> Edition:
        """The policy in force, its version, and what is wrong with a newer file."""
        return await asyncio.to_thread(self._rulebook.edition)

    async def reload(self) -> Edition:
        """Read the file now, and announce it; a wrong one leaves the last good one in force."""
        edition = await asyncio.to_thread(self._rulebook.reload)
        await self._store.write(self._rulebook.of)
        return edition

    async def explain(self, by: Principal, request: Request) -> Explained:
        """What `acquire` would answer now, without doing it; raises InvalidInput as it would."""
        asking.check(request)
        edition = await self.current()
        spelled = await lease_asking.spelled(self._store, by, request.resources)
        wish = replace(request, resources=spelled)

        def query(tx: Transaction) -> Explained:
            busy = self._rulebook.busy
            asked = lease_asking.wanted(tx, by, wish, edition.policy, high_traffic=busy)
            found = _explained(tx, asked, edition.policy)
            return replace(found, version=edition.version, high_traffic=busy)

        return await self._store.read(query)


def _explained(tx: Transaction, asked: Asked, rules: policy.Policy) -> Explained:
    now, wanted = tx.now(), asked.wanted
    bare = Explained(
        "refused",
        Rule.FREE,
        wanted.rank,
        NAMES[wanted.rank],
        asked.clamped,
        version="",
        high_traffic=False,
        ttl=wanted.ttl,
        note=_note(asked),
    )
    if asked.refused is not None:
        return replace(bare, rule=asked.refused.rule, why=asked.refused.why)
    entry = Waiter("", wanted, now, Millis(now + asked.wait))
    book = lease_book.near(tx, wanted, rules)
    answer = lease_steps.decide(entry, book, rules, now=now)
    over = lease_steps.over_budget(tx, asked, rules)
    match answer:
        case Renewed():
            return replace(bare, answer="renewed", rule=Rule.SAME_REQUEST)
        case Granted() if over is None:
            return replace(bare, answer="granted")
        case Held() if over is None:
            return _held(replace(bare, holders=answer.holders), answer, entry, book, rules)
    return replace(bare, rule=Rule.BUDGET, why=over.why if over else "")


def _note(asked: Asked) -> str:
    if not asked.claimed:
        return ""
    name = NAMES[asked.wanted.rank]
    return f"The role {asked.claimed} is claimed, not verified: it gives the class {name}."


def _held(
    bare: Explained, answer: Held, entry: Waiter, book: Book, rules: policy.Policy
) -> Explained:
    found = replace(bare, rule=answer.rule, position=answer.position)
    if entry.until <= entry.enqueued:
        return replace(found, answer="held")
    circle = lease_queue.cycle(entry.wanted, book, entry.enqueued)
    if circle is not None:
        return replace(found, answer="deadlock", rule=Rule.DEADLOCK, cycle=circle.cycle)
    if lease_queue.depth(entry.wanted, book) >= rules.queue:
        return replace(found, answer="refused", rule=Rule.QUEUE_FULL)
    return replace(found, answer="queued", rule=Rule.WAITS)
