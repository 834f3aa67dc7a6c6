"""The one clock that runs by itself: what must happen though nobody calls, and when."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from mufakat.core.base import Millis, MufakatError, Revision
from mufakat.core.coordination import identity, policy
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.policy import Policy
from mufakat.core.coordination.state import On, State
from mufakat.ports.process import Processes
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import act, agents, inbox, leases, pause, reactions, states
from mufakat.services.coordination.act import Outside

log = logging.getLogger(__name__)
LONGEST = 60.0
"""Seconds without a look, also where nothing is due."""
GATHER = 0.25
"""A look waits so long for what else is about to happen: an answer streams ten events a second."""
AGAIN = 5.0
"""Seconds until what failed, or could not be done, is tried again."""
EVERYBODY = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What there is to do: at one revision of the log, at one time."""

    head: Revision
    now: Millis
    due: Millis | None
    """When something expires, ripens or is given up next."""
    watched: Mapping[str, Binding]
    """Processes of this machine that run instances, by identity."""
    rebooted: Mapping[str, Binding]
    """Those of this machine's earlier life: they ended with it."""
    pending: bool
    """A rule has fired whose act is still to be done."""


class Timer:
    """One task that sleeps until the next thing is due and wakes when the log grows."""

    def __init__(
        self,
        store: Store,
        processes: Processes,
        *,
        host: str,
        outside: Outside,
        rules: Callable[[Transaction], Policy] = lambda _: policy.DEFAULT,
        quiet_seconds: float = 3600,
        cut: Callable[[Instance], Millis | None] = lambda _: None,
    ) -> None:
        self._store = store
        self._processes = processes
        self._host = identity.host_label(host)
        self._outside = outside
        self._rules = rules
        self._quiet = round(quiet_seconds * 1000)
        self._cut = cut
        """When one whose connection was cut is lost."""
        self._watches: dict[str, tuple[Binding, Callable[[], None]]] = {}
        self._dead: dict[str, Binding] = {}
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._acting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; whatever a stopped server missed is made up for first."""
        self._task = asyncio.create_task(self._run(), name="timer")

    async def close(self) -> None:
        """Stop; what is due then happens at the next start."""
        tasks = [task for task in (self._task, self._acting) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for _, stop in self._watches.values():
            stop()
        self._watches.clear()

    async def _run(self) -> None:
        # Conditions may have come true while nobody looked, or under rules of an older server.
        first = True
        while True:
            try:
                head, pause = await self._tend(first=first)
                first = False
            except Exception:
                # A fault in one of its duties must not end all others for as long as we run.
                log.exception("what is due could not be done")
                await asyncio.sleep(AGAIN)
            else:
                await self._sleep(head, pause)

    async def _tend(self, *, first: bool) -> tuple[Revision, float]:
        """Do what is due; answers the log's head and how many seconds there are until more is."""
        plan = await self._store.read(self._plan)
        if first or (plan.due is not None and plan.due <= plan.now):
            await self._store.write(self._due)
            plan = await self._store.read(self._plan)
        self._dead |= plan.rebooted
        self._watch(plan.watched)
        if self._dead:
            await self._bury()
        if plan.pending and (self._acting is None or self._acting.done()):
            self._acting = asyncio.create_task(self._act(), name="reactions")
        return plan.head, self._pause(plan)

    def _pause(self, plan: Plan) -> float:
        longest = AGAIN if plan.pending else LONGEST
        if plan.due is None:
            return longest
        ahead = (plan.due - plan.now) / 1000
        # What was due is done by now; if some of it is not, asking at once would ask for ever.
        return min(longest, ahead + 0.001) if ahead > 0 else AGAIN

    async def _sleep(self, head: Revision, seconds: float) -> None:
        grown = asyncio.ensure_future(self._store.wait(head, seconds=seconds))
        woken = asyncio.ensure_future(self._woken.wait())
        try:
            await asyncio.wait({grown, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            grown.cancel()
            woken.cancel()
        self._woken.clear()
        if grown.done() and not grown.cancelled() and grown.result() > head:
            await asyncio.sleep(GATHER)

    def _plan(self, tx: Transaction) -> Plan:
        now, boot = tx.now(), self._processes.boot()
        there = tx.instances.list(online=True, limit=EVERYBODY)
        foreign = [one for one in there if one.binding.pid and not agents.ours(one)]
        local = [one for one in foreign if one.host == self._host]
        times = [
            tx.leases.earliest(),
            tx.inbox.earliest(),
            reactions.earliest(tx),
            *(self._lost_at(tx, one) for one in there),
        ]
        return Plan(
            head=tx.events.head(),
            now=now,
            due=min((at for at in times if at is not None), default=None),
            watched={one.identity: one.binding for one in local if one.binding.boot == boot},
            rebooted={one.identity: one.binding for one in local if one.binding.boot != boot},
            pending=any(rule.pending for rule in tx.reactions.active()),
        )

    def _lost_at(self, tx: Transaction, one: Instance) -> Millis | None:
        """When a cut connection or silence becomes absence."""
        ends = (self._cut(one), self._silent_at(tx, one))
        return min((at for at in ends if at is not None), default=None)

    def _silent_at(self, tx: Transaction, one: Instance) -> Millis | None:
        """When silence becomes absence, for those whose death nobody would notice."""
        ours = agents.ours(one)
        watched = not ours and one.binding.pid and one.host == self._host
        runs = ours and one.standing.state is not State.IDLE
        if watched or runs or one.engine == identity.PERSON or one.identity == pause.SYSTEM:
            return None
        silent = Millis(one.seen + self._quiet)
        if silent > tx.now():
            return silent
        return max([silent, *(held.expires for held in tx.leases.of(one.identity))])

    def _due(self, tx: Transaction) -> None:
        leases.expire(tx, self._rules(tx))
        inbox.overdue(tx)
        for one in tx.instances.list(online=True, limit=EVERYBODY):
            at = self._lost_at(tx, one)
            if at is not None and at <= tx.now():
                # An idle agent of a conversation has no process: it is simply not needed now.
                states.depart(tx, one.identity, On.EXITED if agents.ours(one) else On.LOST)
        reactions.evaluate(tx)

    def _watch(self, wanted: Mapping[str, Binding]) -> None:
        for name in [name for name, (at, _) in self._watches.items() if wanted.get(name) != at]:
            self._watches.pop(name)[1]()
        for name, binding in wanted.items():
            if name not in self._watches and name not in self._dead:
                gone = partial(self._gone, name, binding)
                stop = self._processes.watch(binding.pid, binding.pid_start, ended=gone)
                self._watches[name] = (binding, stop)

    def _gone(self, name: str, binding: Binding) -> None:
        self._dead[name] = binding
        self._woken.set()

    async def _bury(self) -> None:
        dead = dict(self._dead)

        def step(tx: Transaction) -> None:
            for name, binding in dead.items():
                present = tx.instances.get(name)
                # It may have come back as another process meanwhile.
                if present is not None and present.binding == binding:
                    states.depart(tx, name, On.CRASHED)

        await self._store.write(step)
        for name in dead:
            self._dead.pop(name, None)
            if name in self._watches:
                self._watches.pop(name)[1]()

    async def _act(self) -> None:
        active = await self._store.read(lambda tx: tx.reactions.active())
        for rule, key in [(one, key) for one in active for key in one.pending]:
            with suppress(MufakatError):
                await act.later(self._store, rule, key, outside=self._outside)
