"""One turn's way through an engine: pack, start, listen, end."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path

from mufakat.core.base import Conflict, Event, MufakatError, StoreError
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Progress, Want
from mufakat.core.pack.tiering import Seen
from mufakat.core.talk import stream, turn
from mufakat.core.talk.session import Session
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.engine import Access, Engine, McpServer, Run
from mufakat.ports.library import Library
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services import following, ids, packing, turn_record
from mufakat.services.announce import Announcer
from mufakat.services.coordination import runs
from mufakat.services.job import Job
from mufakat.services.knowledge import tiering
from mufakat.services.knowledge.pulls import Pulls
from mufakat.services.packing import Packed, Packing
from mufakat.services.turn_record import Heard

log = logging.getLogger(__name__)
TOOLS = "mufakat"
"""Name of the MCP server that every run gets."""
USELESS = frozenset({Failure.SESSION_LOST, Failure.TOO_LONG})
"""After these the next turn starts a fresh session, with a pack that is within the budget."""


def pauses() -> Iterator[float]:
    """Seconds between tries to store how a turn ended, for as long as the server lives."""
    return chain((0.1, 1.0, 5.0), repeat(15.0))


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a turn may take, in seconds."""

    total: float
    idle: float


class Runner:
    """Runs turns; each run ends with exactly one final status, whatever happens."""

    def __init__(
        self,
        store: Store,
        library: Library,
        packer: Packing,
        scrub: Scrub,
        *,
        workspaces: Path,
        limits: Limits,
        reach: Callable[[str], Access] | None = None,
        pulls: Pulls | None = None,
    ) -> None:
        self._store = store
        self._library = library
        self._packing = packer
        self._scrub = scrub
        self._workspaces = workspaces
        self._limits = limits
        self._reach = reach
        """How an agent reaches the server with the token of its run; None where nothing listens."""
        self._pulls = pulls or Pulls({}, scrub)

    async def run(self, job: Job, engine: Engine, *, closing: asyncio.Event) -> None:
        """Run a queued turn to its end; only the loss of this process leaves it unfinished.

        Once `closing` is set, an end that cannot be stored is not tried for long.
        """
        say = self._announcer(job)
        heard = Heard()
        try:
            reply = await self._attempt(job, engine, say, heard=heard)
        except MufakatError as problem:
            reply = _failed(problem)
        except Exception:
            log.exception("turn %s failed inside Mufakat", job.turn.id)
            reply = Reply(Status.FAILED, failure=Failure.INTERNAL)
        finally:
            self._pulls.forget(job.turn.id)
        await self._conclude(job, reply, heard, say=say, closing=closing)

    async def refuse(self, job: Job, problem: MufakatError, *, closing: asyncio.Event) -> None:
        """End a queued turn that no engine can take."""
        say = self._announcer(job)
        await self._conclude(job, _failed(problem), Heard(), say=say, closing=closing)

    def _announcer(self, job: Job) -> Announcer:
        return Announcer(
            self._store, self._scrub, turn=job.turn.id, conversation=job.conversation.id
        )

    async def _conclude(
        self, job: Job, reply: Reply, heard: Heard, *, say: Announcer, closing: asyncio.Event
    ) -> None:
        """Store how a turn ended, however long there is no room for it."""
        for pause in pauses():
            try:
                await say.flush()
                return await self._end(job, reply, heard, say=say)
            except MufakatError as problem:
                log.exception("the end of turn %s could not be stored", job.turn.id)
                if not problem.retryable:
                    # An engine may claim what cannot be stored; its turn ends all the same.
                    reply = Reply(Status.FAILED, failure=Failure.INTERNAL, message=str(problem))
                    heard = Heard()
            with suppress(TimeoutError):
                await asyncio.wait_for(closing.wait(), pause)
                break
        return await self._end(job, reply, heard, say=say)

    async def _end(self, job: Job, reply: Reply, heard: Heard, *, say: Announcer) -> None:
        try:
            await self._store.write(
                lambda tx: turn_record.end(tx, job, reply, heard, say=say, scrub=self._scrub)
            )
        except Conflict:
            # The answer of an earlier try was lost, or another server has ended the turn.
            found = await self._store.read(lambda tx: tx.turns.get(job.turn.id))
            if found is None or found.status not in turn.FINAL:
                raise

    async def _attempt(self, job: Job, engine: Engine, say: Announcer, *, heard: Heard) -> Reply:
        if job.cancel.is_set():
            return Reply(Status.CANCELLED)
        packed = await self._packed(job, engine)
        loads = await asyncio.to_thread(engine.instructions, Path(job.ask.project))
        packed = dataclasses.replace(packed, instructions=loads)
        token = await self._store.write(lambda tx: turn_record.start(tx, job, packed, say))
        heard.access = self._reach(token) if self._reach else None
        reply = await self._ask_engine(job, engine, packed, say, heard=heard)
        if reply.failure is Failure.SESSION_LOST and packed.session is not None:
            packed = await self._begin_anew(job, engine, packed, say, heard=heard)
            reply = await self._ask_engine(job, engine, packed, say, heard=heard)
        reply, packed = await self._follow_up(job, engine, packed, say, heard=heard, reply=reply)
        heard.seen = self._seen(job, packed, reply, heard=heard)
        heard.session = await self._session_after(job, engine, packed, reply, heard=heard)
        heard.ended = True
        return reply

    async def _packed(self, job: Job, engine: Engine) -> Packed:
        if job.brief is not None:
            self._pulls.confine(job.turn.id)
            return await job.brief(job, engine, ids.nonce())
        memory = await self._packing.memory(
            job.conversation, job.agent, asked=job.prompt.number, budget=job.ask.budget
        )
        return await self._packing.pack(
            job.ask, memory, identity=job.agent.identity, engine=engine, nonce=ids.nonce()
        )

    async def _follow_up(
        self,
        job: Job,
        engine: Engine,
        packed: Packed,
        say: Announcer,
        *,
        heard: Heard,
        reply: Reply,
    ) -> tuple[Reply, Packed]:
        """Ask again with what the agent asked for in its final text, as often as the rules permit.

        What it asked for is no part of the answer; what it asked for in vain is named.
        """
        progress, nonce, last = Progress(), packed.facts.nonce, reply
        vain: tuple[Want, ...] = ()
        while last.status is Status.DONE and not job.cancel.is_set():
            asked = pull.wants(last.text, nonce)
            step = pull.follow_up(progress, asked)
            if step is None:
                vain += pull.unanswered(progress, asked)
                break
            progress, heard.round, vain = step.progress, step.progress.follow_ups, step.refused
            answers = await self._pulls.answer_all(following.asker(job), step.wants)
            await self._record(say.event("turn.pulled", following.event(answers, vain)))
            answers += following.in_vain(vain, progress)
            again = partial(following.again, job, packed, last, answers=answers, step=step)
            packed = again(capabilities=engine.capabilities)
            last = await self._ask_engine(job, engine, packed, say, heard=heard)
            if last.failure is Failure.SESSION_LOST and packed.session is not None:
                packed = again(capabilities=replace(engine.capabilities, resume=False))
                last = await self._ask_engine(job, engine, packed, say, heard=heard)
            reply = following.joined(reply, last, nonce)
        note = await self._name(job, vain, progress, say=say)
        text = pull.without_markers(reply.text, nonce) or reply.text
        return dataclasses.replace(reply, text=text, message=reply.message or note), packed

    async def _name(
        self, job: Job, vain: Sequence[Want], progress: Progress, *, say: Announcer
    ) -> str:
        """Tell the person, and the log, what the agent asked for and was never given."""
        given = {one.want for one in self._pulls.of_run(job.turn.id) if one.text}
        left = [one for one in dict.fromkeys(vain) if one not in given]
        if not left:
            return ""
        data = following.event(following.in_vain(left, progress), left)
        await self._record(say.event("turn.pulled", data))
        note = following.not_given(left, progress)
        await say.take(stream.Notice(note, level="warning"))
        return note

    async def _record(self, event: Event) -> None:
        await self._store.write(lambda tx: tx.events.record(event))

    def _seen(self, job: Job, packed: Packed, reply: Reply, *, heard: Heard) -> tuple[Seen, ...]:
        """What the turn made of the sections that it was told; nothing for one that failed."""
        if reply.status is not Status.DONE:
            return ()
        said = "\n".join([reply.text, *(tool.input for tool in heard.tools.values())])
        pulled = self._pulls.of_run(job.turn.id)
        return tiering.seen(packed.facts, packed.pack, said=said, pulled=pulled)

    async def _begin_anew(
        self, job: Job, engine: Engine, packed: Packed, say: Announcer, *, heard: Heard
    ) -> Packed:
        """Deliver the whole pack to a fresh session, and record that this is what was sent.

        The engine refused before it asked its model, so nothing can happen twice.
        """
        why = "the engine no longer knows its session; a fresh one gets the whole pack"
        await say.take(stream.Notice(why, level="warning"))
        anew = dataclasses.replace(
            packed,
            delivery=packing.fresh(packed.pack, engine.capabilities, nonce=packed.facts.nonce),
            session=None,
            resume_why=why,
            fork=False,
        )
        heard.session = None
        heard.pack = await self._store.write(
            lambda tx: turn_record.keep_pack(tx, job, anew, say).id
        )
        return anew

    async def _ask_engine(
        self, job: Job, engine: Engine, packed: Packed, say: Announcer, *, heard: Heard
    ) -> Reply:
        resumed = packed.session

        async def on_event(event: stream.StreamEvent) -> None:
            await self._listen(event, job, packed, say=say, heard=heard)

        await say.begin(packed.facts.nonce)
        run = Run(
            id=job.turn.id,
            delivery=packed.delivery,
            cwd=Path(job.ask.project),
            permission=self._packing.role(job.ask.role, engine).permission,
            workspace=self._workspace(job),
            model=job.ask.model,
            resume=resumed.id if resumed else "",
            fork=packed.fork,
            running_total=resumed.running_total if resumed else Usage(),
            access=heard.access,
            mcp=_tools(heard.access, engine),
            idle_seconds=self._limits.idle,
            total_seconds=self._limits.total,
        )
        return await engine.run(run, on_event, cancel=job.cancel)

    async def _listen(
        self,
        event: stream.StreamEvent,
        job: Job,
        packed: Packed,
        *,
        say: Announcer,
        heard: Heard,
    ) -> None:
        """Announce what the engine reports, and keep what must outlive a crash at once."""
        run, name = job.turn.id, job.agent.identity
        asks = isinstance(event, stream.PermissionAsked) and event.granted is not True
        if heard.blocked and not asks:
            heard.blocked = False
            await self._store.write(lambda tx: runs.went_on(tx, name, run))
        match event:
            case stream.SessionStarted():
                # Kept at its first mention: a crash must not lose the way back.
                job.copied.set()
                heard.session = turn_record.session(job, packed, event.session)
                await say.take(event, also=lambda tx: turn_record.keep_session(tx, heard.session))
            case stream.Compacted():
                # At once too: after a crash nothing may count on what the session was told.
                heard.compacted = True
                if heard.session is not None:
                    heard.session = turn_record.forgotten(heard.session)
                await say.take(event, also=lambda tx: turn_record.keep_session(tx, heard.session))
            case stream.PermissionAsked() if asks:
                heard.blocked = True
                await say.take(event, also=lambda tx: runs.asked(tx, name, run))
            case stream.Tool():
                event = heard.own(event)
                heard.hear(event)
                await say.take(event)
            case _:
                await say.take(event)

    def _workspace(self, job: Job) -> Path:
        workspace = self._workspaces / job.agent.id
        # `parents` would make the folder between with whatever mode the umask leaves.
        for folder in (self._workspaces, workspace):
            folder.mkdir(mode=0o700, exist_ok=True)
        return workspace

    async def _session_after(
        self, job: Job, engine: Engine, packed: Packed, reply: Reply, *, heard: Heard
    ) -> Session | None:
        """The engine's session with all it knows now; None where there is nothing to resume."""
        id = reply.session or (heard.session.id if heard.session else "")
        if not id or not engine.capabilities.resume or reply.failure in USELESS:
            return None
        kept = turn_record.session(job, packed, id)
        # A turn that failed may not have told its session anything.
        told = packed.delivery.told if reply.status is Status.DONE else kept.told
        place = await self._library.place(Path(job.ask.project))
        total = reply.running_total or kept.running_total
        return dataclasses.replace(kept, told=told, place=place, running_total=total)


def _tools(access: Access | None, engine: Engine) -> tuple[McpServer, ...]:
    """The room's own tools, where the engine takes any and the server can be reached."""
    if access is None or not engine.capabilities.mcp:
        return ()
    bearer = {"Authorization": f"Bearer {access.token}"}
    return (McpServer(TOOLS, url=f"{access.url}/mcp/", headers=bearer),)


def _failed(problem: MufakatError) -> Reply:
    """A turn that Mufakat itself could not see through."""
    ours = isinstance(problem, StoreError) or problem.retryable
    failure = Failure.INTERNAL if ours else Failure.BAD_REQUEST
    return Reply(Status.FAILED, failure=failure, message=str(problem))
