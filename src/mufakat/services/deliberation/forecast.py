"""Forecasting a table: its first packs are made for real, and nothing is stored or asked."""

from __future__ import annotations

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId, RoundtableId
from mufakat.core.coordination import identity
from mufakat.core.deliberation import anonymity, preflight, vendors
from mufakat.core.deliberation.briefing import Briefing, Quoted
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.preflight import First, Preflight
from mufakat.core.deliberation.roundtable import Order, Roundtable
from mufakat.core.deliberation.seat import Seat, Wanted
from mufakat.core.pack.facts import HistoryFacts
from mufakat.ports.store import Store, Transaction
from mufakat.services import acceptance, ids
from mufakat.services.deliberation import briefs, decisions, opening
from mufakat.services.deliberation.briefs import Shared
from mufakat.services.deliberation.opening import Asked
from mufakat.services.packing import Packing
from mufakat.services.reading import Memory
from mufakat.services.roster import Roster

HOST = "here"
NOBODY = "human@here:000000"


async def of(store: Store, packing: Packing, roster: Roster, asked: Asked) -> Preflight:
    """What a table would cost; raises DoesNotFit where a seat's pack is impossible."""
    table = planned(asked, opening.seats_of(asked, roster))
    memory, known = await store.read(lambda tx: _memory(tx, packing, asked))
    first = opening.ask_of(asked, asked.seats[0], table=table.id)
    shared = Shared(memory, await packing.look(first, memory), known)
    firsts = [_first(packing, roster, asked, table, seat, shared=shared) for seat in table.seats]
    return preflight.estimate(table, firsts, warning=vendors.warning(table.seats))


def planned(asked: Asked, seats: tuple[Seat, ...]) -> Roundtable:
    """A table that is nowhere stored."""
    return Roundtable(
        id=RoundtableId("r_" + "0" * 26),
        project=ProjectId(""),
        conversation=ConversationId(""),
        question=MessageId(""),
        number=1,
        seats=seats,
        rounds=asked.rounds,
        created=Millis(0),
        updated=Millis(0),
        order=Order(asked.order),
        blind=asked.blind,
        anonymous=asked.anonymous,
        budget=asked.budget,
        caps=asked.caps,
    )


def _first(
    packing: Packing,
    roster: Roster,
    asked: Asked,
    table: Roundtable,
    seat: Seat,
    *,
    shared: Shared,
) -> First:
    engine = roster.get(seat.engine)
    brief = Briefing(
        table=table.id,
        letter=seat.label,
        others=tuple(
            anonymity.name(one, anonymous=True) for one in table.seats if one.label != seat.label
        ),
        stance=seat.stance,
        round=1,
        rounds=table.rounds,
        question=Quoted(shared.memory.history.total, NOBODY, asked.question),
        rules=packing.prompt(briefs.RULES),
    )
    packed = packing.made(
        opening.ask_of(asked, Wanted(seat.engine, seat.model, seat.stance), table=table.id),
        shared.memory,
        shared.looked,
        identity=str(identity.assign(seat.engine, HOST, instance="0" * 32)),
        engine=engine,
        brief=lambda facts: briefs.told(facts, brief, shared.decisions),
    )
    chars = len(packed.delivery.user) + len(packed.delivery.system)
    return First(seat.label, chars, engine.capabilities.resume, packed.pack.receipt.variant)


def _memory(tx: Transaction, packing: Packing, asked: Asked) -> tuple[Memory, tuple[Decision, ...]]:
    """What the seats would share; a conversation that is to be made has no history."""
    known = next((one.id for one in tx.projects.list() if one.path == asked.project), None)
    if not asked.conversation:
        return Memory(HistoryFacts(ids.fence(), total=1)), ()
    found = acceptance.conversation_in(tx, asked.conversation, known or ProjectId(""))
    memory = packing.reading.load_until(tx, found, asked=found.messages + 1, without=())
    return memory, decisions.told(tx, found, scrub=packing.scrub)
