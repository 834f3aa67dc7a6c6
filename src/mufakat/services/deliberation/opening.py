"""Opening a roundtable: all that must be on disk before anybody is told that it began."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import (
    AgentId,
    Event,
    InvalidInput,
    Millis,
    NotFound,
    ProjectId,
    RoundtableId,
    TurnId,
)
from mufakat.core.deliberation import caps, roundtable, seat, vendors
from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.roundtable import Order, Roundtable
from mufakat.core.deliberation.seat import Seat, Wanted
from mufakat.core.talk import message
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind, Message
from mufakat.core.talk.turn import Status, Turn
from mufakat.ports.store import Transaction
from mufakat.services import acceptance, idempotency, ids, request, resolving, talk
from mufakat.services.acceptance import Acceptance
from mufakat.services.coordination import agents, pause, runs
from mufakat.services.job import Job
from mufakat.services.request import Ask
from mufakat.services.roster import Roster

BUDGET = 12_000
"""Characters of a seat's pack: of every fact the best part, since each is told to all seats."""
ROLE = "general"
"""Reads and changes nothing, so that a turn that a crash cut off can be asked again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A roundtable as it is asked for."""

    question: str
    project: str
    """Absolute path of the folder."""
    seats: tuple[Wanted, ...]
    conversation: str = ""
    """Id or unique prefix; empty starts a new one."""
    rounds: int = 2
    order: str = Order.DELIBERATIVE.value
    blind: bool = True
    anonymous: bool = True
    role: str = ROLE
    budget: int = BUDGET
    caps: Caps = Caps()


def settled(asked: Asked) -> Asked:
    """Refuse what can never work; raises InvalidInput with the fix."""
    seat.check(asked.seats)
    roundtable.check_rounds(asked.rounds)
    caps.check(asked.caps)
    if asked.order not in set(Order):
        raise InvalidInput(
            f"There is no order {asked.order[:40]!r}.", fix=f"Use {' or '.join(Order)}."
        )
    request.validate(Ask(asked.question, asked.project, budget=asked.budget))
    return dataclasses.replace(asked, project=str(request.folder(asked.project)))


def ask_of(asked: Asked, wanted: Wanted, *, table: str) -> Ask:
    """The request of one seat, as every turn has one."""
    return Ask(
        asked.question,
        asked.project,
        asked.conversation,
        engine=wanted.engine,
        model=wanted.model,
        role=asked.role,
        budget=asked.budget,
        table=table,
    )


def seats_of(asked: Asked, roster: Roster) -> tuple[Seat, ...]:
    """The seats with their letters and vendors; nobody sits on them yet."""
    return tuple(
        Seat(
            letter,
            wanted.engine,
            wanted.model,
            wanted.stance,
            vendors.of(
                roster.capabilities(wanted.engine).vendor, wanted.engine, model=wanted.model
            ),
            agent=AgentId(""),
            identity="",
        )
        for letter, wanted in zip(seat.LETTERS, asked.seats, strict=False)
    )


def open_table(
    tx: Transaction, accepting: Acceptance, asked: Asked, *, seats: tuple[Seat, ...], key: str
) -> tuple[Roundtable, bool]:
    """Store question, seats and the running table; the same key stores nothing new.

    Answers the table, and whether it was known.
    """
    digest = idempotency.digest("roundtable", dataclasses.asdict(asked))
    known = idempotency.earlier(tx, key, digest)
    if known:
        return resolve(tx, known), True
    pause.refuse(tx)
    conversation = _conversation(tx, accepting, asked)
    agents.greet(tx, accepting.person)
    runs.follow(tx, conversation, accepting.person)
    kinds = accepting.scrub(asked.question).kinds
    draft = message.draft(Kind.PERSON, accepting.person, text=asked.question, secrets=kinds)
    question = talk.append(tx, conversation.id, draft)
    id = RoundtableId(ids.new("r", tx.now()))
    taken = [_take(tx, accepting, conversation, asked=asked, free=one, table=id) for one in seats]
    table = _table(asked, question, taken, id=id, at=tx.now(), server=accepting.person)
    table = dataclasses.replace(table, project=conversation.project)
    table = tx.roundtables.add(roundtable.start(table, tx.now()))
    idempotency.keep(tx, key, digest, id)
    announce(tx, table, "roundtable.started", seats=[one.label for one in table.seats])
    return table, False


def _table(
    asked: Asked,
    question: Message,
    seats: Sequence[Seat],
    *,
    id: RoundtableId,
    at: Millis,
    server: str,
) -> Roundtable:
    """The table on a question that is stored; whose project it is, its conversation says."""
    return Roundtable(
        id=id,
        project=ProjectId(""),
        conversation=question.conversation,
        question=question.id,
        number=question.number,
        seats=tuple(seats),
        rounds=asked.rounds,
        created=at,
        updated=at,
        order=Order(asked.order),
        blind=asked.blind,
        anonymous=asked.anonymous,
        role=asked.role,
        budget=asked.budget,
        caps=asked.caps,
        server=server,
    )


def _conversation(tx: Transaction, accepting: Acceptance, asked: Asked) -> Conversation:
    folder = request.folder(asked.project)
    project = talk.ensure_project(tx, str(folder), folder.name)
    if not asked.conversation:
        return talk.add(tx, project, accepting.scrub(asked.question).text)
    return acceptance.conversation_in(tx, asked.conversation, project.id)


def _take(
    tx: Transaction,
    accepting: Acceptance,
    conversation: Conversation,
    *,
    asked: Asked,
    free: Seat,
    table: RoundtableId,
) -> Seat:
    wanted = Wanted(free.engine, free.model, free.stance)
    ask = ask_of(asked, wanted, table=table)
    agent = accepting.take_seat(tx, conversation, ask, label=free.label)
    return dataclasses.replace(free, agent=agent.id, identity=agent.identity)


def queue_turn(tx: Transaction, table: Roundtable, one: Seat) -> Job:
    """Store the turn of a seat; it is started with the pack of its round."""
    project, question = tx.projects.get(table.project), tx.messages.get(table.question)
    if project is None or question is None:
        raise NotFound(f"The roundtable {table.id} has lost its project or its question.")
    ask = Ask(
        question.text,
        project.path,
        table.conversation,
        engine=one.engine,
        model=one.model,
        role=table.role,
        budget=table.budget,
        table=table.id,
    )
    queued = Turn(
        id=TurnId(ids.new("t", tx.now())),
        conversation=table.conversation,
        agent=one.agent,
        identity=one.identity,
        engine=one.engine,
        model=one.model,
        role=table.role,
        persona="",
        status=Status.QUEUED,
        prompt=table.question,
        created=tx.now(),
        options=request.to_json(ask, server=table.server),
    )
    return acceptance.queue(tx, queued)


def resolve(tx: Transaction, id: str) -> Roundtable:
    """A roundtable by id, unique prefix or `last`; raises NotFound or InvalidInput."""
    exact = tx.roundtables.get(RoundtableId(id))
    if exact is not None:
        return exact
    found = tx.roundtables.list(limit=1) if id == talk.LAST else tx.roundtables.find(id)
    return resolving.only(id, found, noun="roundtable", fix="List them: mufakat rt list")


def announce(tx: Transaction, table: Roundtable, kind: str, **data: object) -> None:
    """Write an event about a table; texts that people or agents wrote stay out of it."""
    body = {
        "conversation": table.conversation,
        "status": table.status.value,
        "round": table.round,
        "rounds": table.rounds,
        **data,
    }
    tx.events.record(Event(kind, table.id, body))
