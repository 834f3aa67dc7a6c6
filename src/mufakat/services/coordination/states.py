"""What every agent does now: each accepted report, its event and what follows, in one step."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mufakat.core import text
from mufakat.core.base import Event, Revision, StaleState, Unauthenticated
from mufakat.core.coordination import identity as identities
from mufakat.core.coordination import lease, state
from mufakat.core.coordination.inbox import UNREAD
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import Moved, On, Report, Same, Stale, Standing, State
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents, inbox, leases, reactions

T = TypeVar("T")
AT_ONCE = 0.2
"""Seconds of waiting that are not worth a word."""
DETAIL_CHARS = 200
EVERYBODY = 10_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All there is at one revision, to be followed by the log from there on."""

    epoch: str
    revision: Revision
    instances: Sequence[Instance]
    """Those that are not offline."""
    leases: Sequence[Lease]
    notices: Sequence[Notice]


class States:
    """Takes reports, and shows where everybody stands."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def report(self, by: Principal, identity: str, report: Report) -> Instance:
        """Take a report of an instance; raises StaleState with the present row, or NotAllowed.

        A sub-agent takes part from the first report that its instance makes of it.
        """
        await agents.only_self(self._store, by, identity, act="state")

        def step(tx: Transaction) -> Instance:
            instance = _present(tx, identity)
            if by.run and by.run != instance.standing.run:
                raise Unauthenticated("The run of this credential is over.")
            return agents.called(tx, move(tx, identity, report))

        return await self._store.write(step)

    async def blocking(
        self, by: Principal, on: On, work: Callable[[], Coroutine[Any, Any, T]], *, detail: str
    ) -> T:
        """Do what may have to wait; a caller that works is blocked for as long as it does."""
        task = asyncio.ensure_future(work())
        blocked: Instance | None = None
        try:
            await asyncio.wait({task}, timeout=AT_ONCE)
            if not task.done() and not by.operator:
                report = Report(State.BLOCKED, on=on, detail=detail)
                blocked = await self._store.write(lambda tx: _block(tx, by.identity, report))
            return await task
        finally:
            task.cancel()
            # What it stood in line for is given up before anybody is told so.
            await asyncio.wait({task})
            if blocked is not None:
                held = blocked
                await self._store.write(lambda tx: _unblock(tx, held))

    async def snapshot(self) -> Snapshot:
        """Read everything and its revision in one transaction."""
        return await self._store.read(_snapshot)


def _block(tx: Transaction, identity: str, report: Report) -> Instance | None:
    present = tx.instances.get(identity)
    if present is None or present.standing.state is not State.WORKING:
        return None
    return move(tx, identity, report)


def _unblock(tx: Transaction, blocked: Instance) -> None:
    """Back to work, where nothing newer has been reported meanwhile."""
    present = agents.known(tx, blocked.identity)
    if present.standing == blocked.standing:
        move(tx, blocked.identity, Report(State.WORKING))


def _present(tx: Transaction, name: str) -> Instance:
    """An instance; a part of one is stored when it is first spoken of, and lives in its run."""
    whole = identities.owner(name)
    if whole == name:
        return agents.known(tx, name)
    owner, part = agents.known(tx, whole), tx.instances.get(name)
    if part is None:
        if identities.sub(whole, name.removeprefix(f"{whole}/")) != name:
            raise agents.missing(tx, name)
        part = agents.register(
            tx,
            name,
            instance=owner.instance,
            standing=state.begin(tx.now(), owner.standing.run),
            project=owner.project,
            parent=whole,
        )
    if part.standing.run != owner.standing.run:
        part = begin(tx, part, owner.standing.run)
    return part


def move(tx: Transaction, identity: str, report: Report) -> Instance:
    """Take a report in the step of `tx`; raises StaleState where it is of the past."""
    before = agents.known(tx, identity)
    line = text.one_line(text.clean(report.detail), DETAIL_CHARS)
    decision = state.decide(before.standing, dataclasses.replace(report, detail=line), now=tx.now())
    match decision:
        case Stale(why=why):
            raise StaleState(
                f"The report of {identity} was not taken: {why}.", current=shown(before)
            )
        case Same(standing=standing):
            if standing != before.standing:
                tx.instances.keep(dataclasses.replace(before, standing=standing))
            return dataclasses.replace(before, standing=standing)
        case Moved(standing=standing):
            return settle(tx, before, standing)


def begin(tx: Transaction, before: Instance, run: str) -> Instance:
    """Start a run of an instance; every earlier run has nothing more to say."""
    _end_parts(tx, before, On.EXITED)
    return settle(tx, before, state.begin(tx.now(), run))


def depart(tx: Transaction, identity: str, on: On) -> Instance:
    """Take an instance for gone; one that has gone already stays as it is."""
    present = agents.known(tx, identity)
    standing = present.standing
    suspected = standing.on is On.LOST and on is not On.LOST
    if standing.state is State.OFFLINE and not suspected:
        return present
    return move(tx, identity, Report(State.OFFLINE, on=on))


def back(tx: Transaction, instance: Instance) -> Instance:
    """Take one that was lost for there again, in the same run; it has yet to say what it does."""
    standing = instance.standing
    if standing.on is not On.LOST:
        return instance
    again = dataclasses.replace(standing, state=State.STARTING, on=None, detail="", since=tx.now())
    return settle(tx, instance, again)


def settle(tx: Transaction, before: Instance, standing: Standing) -> Instance:
    """Keep and announce a new standing, then do in the same step what follows from it."""
    data = {
        "from": before.standing.state.value,
        "to": standing.state.value,
        "on": standing.on.value if standing.on else None,
        "run": standing.run,
        "ordinal": standing.ordinal,
        "debt": standing.debt,
        "since": before.standing.since,
        "epoch": before.epoch,
        "project": before.project,
    }
    revision = tx.events.record(Event("agent.state", before.identity, data))
    after = dataclasses.replace(
        before, standing=dataclasses.replace(standing, revision=revision), seen=tx.now()
    )
    tx.instances.keep(after)
    _follow(tx, before, after)
    reactions.changed(tx, before, after)
    return tx.instances.get(after.identity) or after


def _follow(tx: Transaction, before: Instance, after: Instance) -> None:
    if after.standing.state is before.standing.state and after.standing.on is before.standing.on:
        return
    match after.standing.on:
        case On.CRASHED:
            leases.end_of(tx, after.identity, lease.Cause.CRASHED)
        case On.EXITED:
            leases.end_of(tx, after.identity, lease.Cause.RELEASED)
    if after.standing.on in state.GONE:
        _end_parts(tx, after, after.standing.on or On.EXITED)
    if after.standing.state is State.IDLE:
        inbox.went_idle(tx, after)


def _end_parts(tx: Transaction, whole: Instance, on: On) -> None:
    """Let the sub-agents of an instance go with it, or with its run."""
    if whole.parent == identities.owner(whole.identity):
        return
    for one in tx.instances.list(project=whole.project, online=True, limit=EVERYBODY):
        if one.parent == whole.identity == identities.owner(one.identity):
            depart(tx, one.identity, on)


def debt(tx: Transaction, identity: str) -> int:
    """How many messages an agent has not been shown."""
    page = tx.inbox.page(identity, open_only=True, limit=EVERYBODY)
    return sum(one.status in UNREAD for one in page)


def shown(instance: Instance) -> dict[str, Any]:
    """The present row, as a refusal tells it."""
    standing = instance.standing
    return {
        "identity": instance.identity,
        "state": standing.state.value,
        "on": standing.on.value if standing.on else None,
        "detail": standing.detail,
        "run": standing.run,
        "ordinal": standing.ordinal,
        "revision": standing.revision,
    }


def _snapshot(tx: Transaction) -> Snapshot:
    now = tx.now()
    return Snapshot(
        epoch=tx.events.epoch(),
        revision=tx.events.head(),
        instances=tx.instances.list(online=True, limit=EVERYBODY),
        leases=tx.leases.live(),
        notices=[one for place in tx.projects.list() for one in tx.notices.live(place.id, now)],
    )
