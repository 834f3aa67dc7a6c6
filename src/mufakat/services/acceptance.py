"""Accepting a request: all that must be on disk before anybody is told it was accepted."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import AgentId, Conflict, Event, ProjectId, TurnId
from mufakat.core.coordination import identity
from mufakat.core.talk import message, turn
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind
from mufakat.core.talk.turn import Failure, Reply, Status, Turn
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services import (
    branch_state,
    idempotency,
    ids,
    job,
    request,
    resolving,
    talk,
    turn_record,
)
from mufakat.services.coordination import agents, pause, runs
from mufakat.services.job import Job
from mufakat.services.request import Ask


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that is on disk; `known` when its key was used for it before."""

    job: Job
    known: bool


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Puts requests into the store, on behalf of one person at one host."""

    scrub: Scrub
    host: str
    person: str

    def accept(self, tx: Transaction, ask: Ask, *, key: str, digest: str) -> Accepted:
        """Store prompt and queued turn in the step of `tx`; the same key stores nothing new."""
        known = idempotency.earlier(tx, key, digest)
        if known:
            return Accepted(job.of(tx, resolve(tx, known)), known=True)
        pause.refuse(tx)
        conversation = self._conversation(tx, ask)
        agent = self._agent(tx, conversation, ask)
        kinds = self.scrub(ask.prompt).kinds
        agents.greet(tx, self.person)
        runs.follow(tx, conversation, self.person)
        draft = message.draft(Kind.PERSON, self.person, text=ask.prompt, secrets=kinds)
        prompt = talk.append(tx, conversation.id, draft)
        queued = Turn(
            id=TurnId(ids.new("t", tx.now())),
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
            options=request.to_json(ask, server=self.person),
        )
        idempotency.keep(tx, key, digest, queued.id)
        return Accepted(queue(tx, queued), known=False)

    def take_seat(
        self, tx: Transaction, conversation: Conversation, ask: Ask, *, label: str
    ) -> Agent:
        """A new agent for one seat of one table, also where its engine has others there.

        It does not follow the conversation: its table tells it what it may hear.
        """
        return self._new_agent(
            tx, conversation, ask, persona=f"seat {label} of {ask.table}", follows=False
        )

    def newcomer(self, engine: str) -> str:
        """How a preview names an agent that does not exist yet."""
        return str(identity.assign(engine, self.host, instance="0" * 32))

    def _conversation(self, tx: Transaction, ask: Ask) -> Conversation:
        folder = request.folder(ask.project)
        project = talk.ensure_project(tx, str(folder), folder.name)
        if not ask.conversation:
            return talk.add(tx, project, self.scrub(ask.prompt).text)
        return conversation_in(tx, ask.conversation, project.id)

    def _agent(self, tx: Transaction, conversation: Conversation, ask: Ask) -> Agent:
        found = agent_for(tx, conversation, ask)
        if found is not None:
            return found
        return self._new_agent(tx, conversation, ask, persona=ask.persona)

    def _new_agent(
        self,
        tx: Transaction,
        conversation: Conversation,
        ask: Ask,
        *,
        persona: str,
        follows: bool = True,
    ) -> Agent:
        name, instance = agents.allot(tx, ask.engine, self.host)
        created = tx.agents.add(
            Agent(
                id=AgentId(ids.new("a", tx.now())),
                conversation=conversation.id,
                identity=name,
                engine=ask.engine,
                role=ask.role,
                persona=persona,
                created=tx.now(),
            )
        )
        runs.seat(tx, created, conversation, instance=instance, follows=follows)
        return created


def conversation_in(tx: Transaction, id: str, project: ProjectId) -> Conversation:
    """The conversation that a request names; raises Conflict where nothing may be asked in it."""
    found = talk.resolve(tx, id, project=project)
    if found.project != project:
        raise Conflict(
            f"Conversation {found.id} belongs to another project.",
            fix="Ask from its folder, or leave the conversation out.",
        )
    branch_state.refuse_closed(tx, found.id)
    return found


def agent_for(tx: Transaction, conversation: Conversation, ask: Ask) -> Agent | None:
    """The agent that a request goes to, where it has been in the conversation before."""
    return tx.agents.find(conversation.id, engine=ask.engine, role=ask.role, persona=ask.persona)


def queue(tx: Transaction, queued: Turn) -> Job:
    """Store a turn and announce it."""
    stored = tx.turns.add(queued)
    data = {"conversation": stored.conversation, "identity": stored.identity}
    tx.events.record(Event("turn.queued", stored.id, data))
    return job.of(tx, stored)


def again(tx: Transaction, id: str, *, key: str, server: str) -> Accepted:
    """Queue what a turn asked once more; raises Conflict unless it ended without success."""
    digest = idempotency.digest("retry", id)
    known = idempotency.earlier(tx, key, digest)
    if known:
        return Accepted(job.of(tx, resolve(tx, known)), known=True)
    pause.refuse(tx)
    old = resolve(tx, id)
    if old.status not in turn.FINAL or old.status is Status.DONE:
        raise Conflict(
            f"The turn is {old.status}.", fix="Only turns that ended without success are retried."
        )
    branch_state.refuse_closed(tx, old.conversation)
    fresh = Turn(
        id=TurnId(ids.new("t", tx.now())),
        conversation=old.conversation,
        agent=old.agent,
        identity=old.identity,
        engine=old.engine,
        model=old.model,
        role=old.role,
        persona=old.persona,
        status=Status.QUEUED,
        prompt=old.prompt,
        created=tx.now(),
        options=request.taken_over(old.options, server=server),
    )
    idempotency.keep(tx, key, digest, fresh.id)
    return Accepted(queue(tx, fresh), known=False)


def interrupt(tx: Transaction, left: Turn) -> None:
    """Record that a turn's server died; it may have had effects, so it is not run again."""
    why = "the server ended while the engine ran; it may have had effects"
    ended = tx.turns.move(left.id, Status.INTERRUPTED, message=why)
    reply = Reply(Status.INTERRUPTED, message=why)
    runs.end(tx, left.identity, left.id, reply)
    told = turn_record.summary(reply, None)
    data = {**told, "conversation": left.conversation, "fix": turn.fix(ended)}
    tx.events.record(Event("turn.ended", left.id, data))


def give_up(tx: Transaction, left: Turn, why: str) -> None:
    """Record that a queued turn can no longer be run, so that it does not wait for ever."""
    reply = Reply(Status.FAILED, failure=Failure.INTERNAL, message=why)
    tx.turns.move(left.id, reply.status, failure=Failure.INTERNAL.value, message=why)
    data = {**turn_record.summary(reply, None), "conversation": left.conversation}
    tx.events.record(Event("turn.ended", left.id, data))


def resolve(tx: Transaction, id: str) -> Turn:
    """A turn by id, unique prefix or `last`; raises NotFound or InvalidInput."""
    exact = tx.turns.get(TurnId(id))
    if exact is not None:
        return exact
    found = tx.turns.list(limit=1) if id == talk.LAST else tx.turns.find(id)
    return resolving.only(id, found, noun="turn", fix="List them: mufakat turns list")
