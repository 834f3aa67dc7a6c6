"""Turns as jobs: accepted, run one at a time per agent, ended, mended after a crash."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from mufakat.core.base import AgentId, EngineError, MufakatError, ProjectId, TurnId
from mufakat.core.pack import assemble
from mufakat.core.pack.facts import HistoryFacts
from mufakat.core.pack.receipt import Receipt
from mufakat.core.talk import turn
from mufakat.core.talk.turn import Status, Turn
from mufakat.ports.store import Store, Transaction
from mufakat.services import acceptance, forking, idempotency, ids, job, request, talk
from mufakat.services.acceptance import Acceptance, Accepted
from mufakat.services.coordination import pause
from mufakat.services.job import Job
from mufakat.services.packing import Packing
from mufakat.services.reading import Memory
from mufakat.services.request import Ask
from mufakat.services.roster import Roster
from mufakat.services.runner import Runner

SAFE_FIXED_CHARS = 6_000
"""Room that the fixed sections never exceed; prompts nearer to the budget are packed first."""

PAUSED_SECONDS = 60.0
"""How long a paused turn sleeps when nothing is heard."""

CANCEL_SECONDS = 60.0
"""How long a cancel waits for the turn's end; its processes are ended well before."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a request would be told, without asking anybody."""

    receipt: Receipt
    texts: tuple[tuple[str, str], ...]
    system: str
    user: str
    engine: str
    identity: str
    resume_why: str


class Turns:
    """Accepts requests and sees them through."""

    def __init__(
        self,
        store: Store,
        roster: Roster,
        packer: Packing,
        runner: Runner,
        accepting: Acceptance,
    ) -> None:
        self._store = store
        self._roster = roster
        self._packing = packer
        self._runner = runner
        self._acceptance = accepting
        self._running: dict[TurnId, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._busy: WeakValueDictionary[AgentId, asyncio.Lock] = WeakValueDictionary()
        """A lock lives as long as a turn holds it or waits for it."""
        self._copying = forking.Guard(self._busy)
        self._closing = asyncio.Event()

    async def ask(self, ask: Ask, *, key: str = "") -> Turn:
        """Accept a request and start it; answers at once with the queued turn.

        Raises InvalidInput, NotFound, EngineError or DoesNotFit; then nothing was stored.
        """
        ask = self._settled(ask)
        engine = self._roster.get(ask.engine)
        wanted = self._packing.budget_for(ask, engine)
        budget, _ = assemble.budget_of(wanted, engine.capabilities.window_tokens)
        if len(ask.prompt) + SAFE_FIXED_CHARS > budget:
            await self.preview(ask)
        digest = idempotency.digest(dataclasses.asdict(ask))
        accepted = await self._store.write(
            lambda tx: self._acceptance.accept(tx, ask, key=key, digest=digest)
        )
        return self._begin(accepted)

    async def preview(self, ask: Ask) -> Preview:
        """Make the pack of a request without storing or asking anything."""
        ask = self._settled(ask)
        engine = self._roster.get(ask.engine)
        memory, name = await self._store.read(lambda tx: self._memory(tx, ask))
        packed = await self._packing.pack(ask, memory, identity=name, engine=engine)
        texts = [(section.kind, section.text) for section in packed.pack.sections]
        return Preview(
            packed.pack.receipt,
            (*texts, ("prompt", packed.pack.prompt)),
            packed.delivery.system,
            packed.delivery.user,
            ask.engine,
            name,
            packed.resume_why,
        )

    async def get(self, id: str) -> Turn:
        """One turn; raises NotFound."""
        return await self._store.read(lambda tx: acceptance.resolve(tx, id))

    async def list(
        self, *, conversation: str = "", before: str = "", limit: int = 50
    ) -> Sequence[Turn]:
        """Newest first."""

        def query(tx: Transaction) -> Sequence[Turn]:
            of = talk.resolve(tx, conversation).id if conversation else None
            return tx.turns.list(conversation=of, before=before, limit=limit)

        return await self._store.read(query)

    async def wait(self, id: str, *, seconds: float | None) -> Turn:
        """Wait until a turn has ended, or the time is over; answer it as it stands."""
        found = await self.get(id)
        running = self._running.get(found.id)
        if running is not None:
            await asyncio.wait({running[0]}, timeout=seconds)
        return await self.get(found.id)

    async def cancel(self, id: str) -> Turn:
        """End a turn; one that has ended already stays as it is.

        An end that finds no room on the disk goes on being tried after this has answered.
        """
        found = await self.get(id)
        running = self._running.get(found.id)
        if running is not None:
            task, cancel = running
            cancel.set()
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)
        return await self.get(id)

    async def retry(self, id: str, *, key: str = "") -> Turn:
        """Ask again what a turn asked that failed, was cancelled or interrupted."""
        server = self._acceptance.person
        return self._begin(
            await self._store.write(lambda tx: acceptance.again(tx, id, key=key, server=server))
        )

    async def see(self, queued: Job, *, seconds: float | None = None) -> Turn:
        """Start a stored turn that does not run yet, and wait until it has ended.

        Answers it as it stands when the time is over; the turn goes on.
        """
        if queued.turn.id not in self._running and queued.turn.status is Status.QUEUED:
            self._launch(queued)
        return await self.wait(queued.turn.id, seconds=seconds)

    async def recover(self, *, alone: bool = True) -> None:
        """Mend what a killed server left: queued turns start, running ones are interrupted.

        `alone` is False where other servers use the store: their turns are theirs.
        """
        server = self._acceptance.person

        def step(tx: Transaction) -> list[Job]:
            jobs: list[Job] = []
            for one in tx.turns.unfinished():
                if not alone and request.server_of(one.options) != server:
                    continue
                if turn.after_crash(one.status) is Status.INTERRUPTED:
                    acceptance.interrupt(tx, one)
                    continue
                if request.table_of(one.options):
                    # Its roundtable starts it, with what its seat is to be told.
                    continue
                try:
                    jobs.append(job.of(tx, one))
                except MufakatError as problem:
                    # One damaged prompt must not keep the whole server from starting.
                    acceptance.give_up(tx, one, str(problem))
            return jobs

        for queued in await self._store.write(step):
            self._launch(queued)

    async def close(self) -> None:
        """Cancel all that runs and wait until every process has ended.

        What is still queued stays so: it starts with the next server.
        """
        self._closing.set()
        running = [task for task, _ in self._running.values()]
        for _, cancel in self._running.values():
            cancel.set()
        if running:
            await asyncio.wait(running)

    def _settled(self, ask: Ask) -> Ask:
        """Fill in what the request leaves open, and refuse what cannot work."""
        request.validate(ask)
        folder = request.folder(ask.project)
        engine = ask.engine or self._roster.default()
        self._packing.role(ask.role, self._roster.ready(engine))
        self._packing.persona(ask.persona)
        return dataclasses.replace(ask, project=str(folder), engine=engine)

    def _memory(self, tx: Transaction, ask: Ask) -> tuple[Memory, str]:
        """What a request would know, and under which name it would be asked."""
        newcomer = self._acceptance.newcomer(ask.engine)
        if not ask.conversation:
            return Memory(HistoryFacts(ids.fence())), newcomer
        known = next((one.id for one in tx.projects.list() if one.path == ask.project), None)
        conversation = acceptance.conversation_in(tx, ask.conversation, known or ProjectId(""))
        agent = acceptance.agent_for(tx, conversation, ask)
        memory = self._packing.reading.load(
            tx, conversation, agent.id if agent else None, asked=0, budget=ask.budget
        )
        return memory, agent.identity if agent else newcomer

    def _begin(self, accepted: Accepted) -> Turn:
        if not accepted.known:
            self._launch(accepted.job)
        return accepted.job.turn

    def _launch(self, queued: Job) -> None:
        task = asyncio.create_task(self._run(queued), name=f"turn {queued.turn.id}")
        self._running[queued.turn.id] = (task, queued.cancel)
        task.add_done_callback(lambda _: self._running.pop(queued.turn.id, None))

    async def _run(self, queued: Job) -> None:
        # An engine's session takes one turn at a time, in the order they were accepted.
        lock = self._busy.setdefault(queued.agent.id, asyncio.Lock())
        held = await _acquired_before(lock, queued.cancel)
        try:
            await self._while_paused(queued.cancel)
            if not self._closing.is_set():
                above = await self._store.read(lambda tx: forking.above(tx, queued.agent))
                async with self._copying.held(above, queued.copied):
                    await self._start(queued)
        finally:
            if held:
                lock.release()

    async def _while_paused(self, cancel: asyncio.Event) -> None:
        """Keep a turn queued while the person has paused all agents."""
        while not (cancel.is_set() or self._closing.is_set()):
            paused, head = await self._store.read(lambda tx: (pause.paused(tx), tx.events.head()))
            if not paused:
                return
            news = self._store.wait(head, seconds=PAUSED_SECONDS)
            await _first(news, cancel.wait(), self._closing.wait())

    async def _start(self, queued: Job) -> None:
        try:
            engine = self._roster.get(queued.turn.engine)
        except EngineError as problem:
            # Settings and plugins may have changed since the turn was accepted.
            await self._runner.refuse(queued, problem, closing=self._closing)
        else:
            await self._runner.run(queued, engine, closing=self._closing)


async def _first(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait until one of several is done, and give up the others."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _acquired_before(lock: asyncio.Lock, cancel: asyncio.Event) -> bool:
    """Wait for a lock, but no longer than until `cancel` is set; answers whether it is held."""
    acquiring = asyncio.ensure_future(lock.acquire())
    cancelled = asyncio.ensure_future(cancel.wait())
    await asyncio.wait({acquiring, cancelled}, return_when=asyncio.FIRST_COMPLETED)
    cancelled.cancel()
    if not acquiring.done():
        acquiring.cancel()
        return False
    return True
