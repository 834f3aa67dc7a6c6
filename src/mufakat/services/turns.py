"""Turns as jobs: accepted, run one at a time per agent, ended, mended after a crash."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import (
    AgentId,
    Conflict,
    Event,
    NotFound,
    TurnId,
)
from mufakat.core.coordination import identity
from mufakat.core.pack.facts import HistoryFacts
from mufakat.core.pack.receipt import Receipt
from mufakat.core.talk import message, turn
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind
from mufakat.core.talk.turn import Status, Turn
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import idempotency, ids, request, talk
from mufakat.services.packing import Memory, Packing
from mufakat.services.request import Ask
from mufakat.services.roster import Roster
from mufakat.services.turn_job import Job, Runner

SAFE_FIXED_CHARS = 6_000
"""Room that the fixed sections never exceed; prompts nearer to the budget are packed first."""


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
        scrub: Scrub,
        *,
        host: str,
        person: str,
    ) -> None:
        self._store = store
        self._roster = roster
        self._packing = packer
        self._runner = runner
        self._scrub = scrub
        self._host = host
        self._person = person
        self._running: dict[TurnId, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._busy: dict[AgentId, asyncio.Lock] = {}

    async def ask(self, ask: Ask, *, key: str = "") -> Turn:
        """Accept a request and start it; answers at once with the queued turn.

        Raises InvalidInput, NotFound, EngineError or DoesNotFit; then nothing was stored.
        """
        ask = self._settled(ask)
        budget = ask.budget or self._packing.budget
        if len(ask.prompt) + SAFE_FIXED_CHARS > budget:
            await self.preview(ask)
        digest = idempotency.digest(dataclasses.asdict(ask))
        fresh, accepted = await self._store.write(lambda tx: self._accept(tx, ask, key, digest))
        if fresh:
            self._launch(accepted)
        return accepted.turn

    async def preview(self, ask: Ask) -> Preview:
        """Make the pack of a request without storing or asking anything."""
        ask = self._settled(ask)
        engine = self._roster.get(ask.engine)
        memory, name = await self._store.read(lambda tx: self._memory_of(tx, ask))
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
        return await self._store.read(lambda tx: resolve(tx, id))

    async def list(
        self, *, conversation: str = "", before: str = "", limit: int = 50
    ) -> Sequence[Turn]:
        """Newest first."""

        def query(tx: Transaction) -> Sequence[Turn]:
            of = talk.resolve(tx, conversation).id if conversation else None
            return tx.turns.list(conversation=of, before=before, limit=limit)

        return await self._store.read(query)

    async def wait(self, id: str, *, seconds: float) -> Turn:
        """Wait until a turn has ended, or the time is over; answer it as it stands."""
        running = self._running.get(TurnId(id))
        if running is not None:
            await asyncio.wait({running[0]}, timeout=seconds)
        return await self.get(id)

    async def cancel(self, id: str) -> Turn:
        """End a turn; one that has ended already stays as it is."""
        found = await self.get(id)
        running = self._running.get(found.id)
        if running is not None:
            task, cancel = running
            cancel.set()
            await asyncio.wait({task})
        return await self.get(id)

    async def retry(self, id: str) -> Turn:
        """Ask again what a turn asked that failed, was cancelled or interrupted."""

        def step(tx: Transaction) -> Job:
            old = resolve(tx, id)
            if old.status not in turn.FINAL or old.status is Status.DONE:
                raise Conflict(
                    f"The turn is {old.status}.", fix="Only turns that did not succeed are retried."
                )
            again = dataclasses.replace(
                old, id=TurnId(ids.new("t")), status=Status.QUEUED, created=tx.now(), started=None,
                ended=None, pack=None, answer=None, failure=None, message="", process="",
            )  # fmt: skip
            return self._queued(tx, again)

        job = await self._store.write(step)
        self._launch(job)
        return job.turn

    async def recover(self) -> None:
        """Mend what a killed server left: queued turns start, running ones are interrupted."""

        def step(tx: Transaction) -> list[Job]:
            left = tx.turns.unfinished()
            for one in left:
                if turn.after_crash(one.status) is Status.INTERRUPTED:
                    interrupt(tx, one)
            return [self._job(tx, one) for one in left if one.status is Status.QUEUED]

        for job in await self._store.write(step):
            self._launch(job)

    async def close(self) -> None:
        """Cancel all that runs and wait until every process has ended."""
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

    def _accept(self, tx: Transaction, ask: Ask, key: str, digest: str) -> tuple[bool, Job]:
        known = idempotency.earlier(tx, key, digest)
        if known:
            return False, self._job(tx, resolve(tx, known))
        conversation = self._conversation(tx, ask)
        agent = self._agent(tx, conversation, ask)
        draft = message.draft(
            Kind.PERSON, self._person, text=ask.prompt, secrets=self._scrub(ask.prompt).kinds
        )
        prompt = talk.append(tx, conversation.id, draft)
        queued = Turn(
            id=TurnId(ids.new("t")),
            conversation=conversation.id,
            agent=agent.id,
            identity=agent.identity,
            engine=ask.engine,
            model=ask.model,
            role=ask.role,
            persona=ask.persona,
            status=Status.QUEUED,
            prompt=prompt.id,
            created=tx.now(),
            options=request.to_json(ask),
        )
        idempotency.keep(tx, key, digest, queued.id)
        return True, self._queued(tx, queued)

    def _queued(self, tx: Transaction, queued: Turn) -> Job:
        stored = tx.turns.add(queued)
        data = {"conversation": stored.conversation, "identity": stored.identity}
        tx.events.record(Event("turn.queued", stored.id, data))
        return self._job(tx, stored)

    def _conversation(self, tx: Transaction, ask: Ask) -> Conversation:
        folder = request.folder(ask.project)
        project = talk.ensure_project(tx, str(folder), folder.name)
        if not ask.conversation:
            return talk.add(tx, project, self._scrub(ask.prompt).text)
        found = talk.resolve(tx, ask.conversation)
        if found.project != project.id:
            raise Conflict(
                f"Conversation {found.id} belongs to another project.",
                fix="Ask from its folder, or leave the conversation out.",
            )
        return found

    def _agent(self, tx: Transaction, conversation: Conversation, ask: Ask) -> Agent:
        found = tx.agents.find(
            conversation.id, engine=ask.engine, role=ask.role, persona=ask.persona
        )
        if found is not None:
            return found
        instance = ids.instance()
        taken = tx.agents.identities(identity.label(ask.engine, 24))
        name = identity.assign(ask.engine, self._host, instance=instance, taken=taken)
        return tx.agents.add(
            Agent(
                AgentId(ids.new("a")),
                conversation.id,
                str(name),
                ask.engine,
                ask.role,
                ask.persona,
                tx.now(),
            )
        )

    def _memory_of(self, tx: Transaction, ask: Ask) -> tuple[Memory, str]:
        """What a request would know; for one that would start something new, nothing."""
        newcomer = str(identity.assign(ask.engine, self._host, instance="0" * 32))
        if not ask.conversation:
            return Memory(HistoryFacts(ids.fence())), newcomer
        conversation = talk.resolve(tx, ask.conversation)
        agent = tx.agents.find(
            conversation.id, engine=ask.engine, role=ask.role, persona=ask.persona
        )
        memory = self._packing.load(tx, conversation, agent.id if agent else None, asked=0)
        return memory, agent.identity if agent else newcomer

    def _job(self, tx: Transaction, queued: Turn) -> Job:
        """Everything a run needs, read from the store, so that a restart can do it too."""
        conversation = talk.resolve(tx, queued.conversation)
        agent, prompt = tx.agents.get(queued.agent), tx.messages.get(queued.prompt)
        if agent is None or prompt is None:
            raise NotFound(f"The turn {queued.id} lost its agent or its prompt.")
        ask = request.from_json(queued.options, prompt.text)
        return Job(queued, ask, conversation, agent, prompt, asyncio.Event())

    def _launch(self, job: Job) -> None:
        task = asyncio.create_task(self._run(job), name=f"turn {job.turn.id}")
        self._running[job.turn.id] = (task, job.cancel)
        task.add_done_callback(lambda _: self._running.pop(job.turn.id, None))

    async def _run(self, job: Job) -> None:
        # An engine's session takes one turn at a time, in the order they were accepted.
        lock = self._busy.setdefault(job.agent.id, asyncio.Lock())
        held = await _acquired_before(lock, job.cancel)
        try:
            await self._runner.run(job, self._roster.get(job.turn.engine))
        finally:
            if held:
                lock.release()


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


def resolve(tx: Transaction, id: str) -> Turn:
    """A turn by its id; raises NotFound."""
    found = tx.turns.get(TurnId(id))
    if found is None:
        raise NotFound(f"There is no turn {id}.", fix="List them: mufakat turns list")
    return found


def interrupt(tx: Transaction, left: Turn) -> None:
    """Record that a turn's server died; it may have had effects, so it is not run again."""
    why = "the server ended while the engine ran; it may have had effects"
    ended = tx.turns.move(left.id, Status.INTERRUPTED, message=why)
    data = {
        "conversation": left.conversation,
        "status": Status.INTERRUPTED.value,
        "answer": None,
        "message": why,
        "fix": turn.fix(ended),
    }
    tx.events.record(Event("turn.ended", left.id, data))
