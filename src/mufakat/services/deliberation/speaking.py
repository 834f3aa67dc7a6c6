"""One seat's way through a round: asked, heard, corrected once, recorded; step by step on disk."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from mufakat.core import text
from mufakat.core.base import RoundtableId
from mufakat.core.deliberation import caps, merging, position, round, roundtable
from mufakat.core.deliberation.position import Known, Position
from mufakat.core.deliberation.round import Standing, Word
from mufakat.core.deliberation.roundtable import LIVE, Roundtable, Status
from mufakat.core.deliberation.seat import Seat
from mufakat.core.talk import turn
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Turn
from mufakat.ports.store import Transaction
from mufakat.services import job
from mufakat.services.deliberation import decisions, opening
from mufakat.services.job import Job


@dataclass(frozen=True, slots=True)
class Look:
    """How a seat's turns are looked at."""

    permission: Permission
    """What the table's role may do: what cannot change anything may be asked again."""
    restarted: bool = False
    """It goes on after an end: what was cancelled, that end has cancelled."""
    capped: str = ""
    """Which cap had no room for a pack, so that its seat was not asked."""


def step(tx: Transaction, id: RoundtableId, label: str, look: Look) -> Job | None:
    """Do the next thing for a seat in its round; answers the turn to see through, if there is one.

    None where it has spoken, or the table does not go on.
    """
    table = tx.roundtables.get(id)
    if table is None or table.status not in LIVE or not table.seat(label).active:
        return None
    word = tx.roundtables.word(id, table.round, label) or Word(id, table.round, label)
    if word.seen < len(word.turns) and not word.final:
        last = tx.turns.get(word.turns[-1])
        if last is not None and last.status not in turn.FINAL:
            return job.of(tx, last)
        word = _heard(tx, table, word, last, look)
        word = dataclasses.replace(word, seen=len(word.turns))
        tx.roundtables.keep_word(word)
        if word.final:
            _announce(tx, table, word)
    table = tx.roundtables.get(id) or table
    if word.final or table.status is not Status.RUNNING:
        return None
    return None if look.capped else _ask(tx, table, word)


def _ask(tx: Transaction, table: Roundtable, word: Word) -> Job | None:
    """Ask a seat for the first time, or again, unless a cap leaves no room."""
    spent = round.spent(tx.roundtables.words(table.id))
    spent = dataclasses.replace(spent, seconds=table.seconds(tx.now()))
    if caps.reached(table.caps, spent):
        return None
    if len(word.turns) >= round.TRIES:
        tx.roundtables.keep_word(_missing(word, f"it was asked {len(word.turns)} times"))
        return None
    queued = opening.queue_turn(tx, table, table.seat(word.seat))
    heard = max((one.number for one in table.remarks), default=0)
    tx.roundtables.keep_word(
        dataclasses.replace(word, turns=(*word.turns, queued.turn.id), heard=heard)
    )
    opening.announce(
        tx,
        table,
        "roundtable.asked",
        seat=word.seat,
        turn=queued.turn.id,
        attempt=len(word.turns) + 1,
    )
    return queued


def _heard(tx: Transaction, table: Roundtable, word: Word, last: Turn | None, look: Look) -> Word:
    """A word after its last turn has ended, however it did."""
    if last is None:
        return _missing(word, "its turn is lost")
    word = _billed(tx, word, last)
    match last.status:
        case turn.Status.DONE:
            return _read(tx, table, word, last)
        case turn.Status.FAILED if look.capped and last.pack is None:
            return word
        case turn.Status.FAILED:
            return _missing(word, f"{last.failure or 'failed'}: {last.message}"[:300])
        case turn.Status.CANCELLED if not look.restarted:
            return _missing(word, "its turn was cancelled")
    return _cut_off(tx, table, word, look)


def _cut_off(tx: Transaction, table: Roundtable, word: Word, look: Look) -> Word:
    """What a crash cut off is asked again only where it cannot have changed anything."""
    if look.permission is Permission.READ:
        return word
    if table.status is Status.RUNNING:
        why = f"seat {word.seat} was cut off and may have changed something; look, then resume"
        paused = roundtable.pause(table, tx.now(), why=why)
        tx.roundtables.keep(paused)
        opening.announce(tx, paused, "roundtable.paused", why=why)
    return word


def _read(tx: Transaction, table: Roundtable, word: Word, last: Turn) -> Word:
    """Read the block; a first one that cannot be read is asked for once more."""
    answer = tx.messages.get(last.answer) if last.answer else None
    if answer is None:
        return _missing(word, "it answered nothing")
    word = word if word.answer else dataclasses.replace(word, answer=answer.id)
    found = position.parse(answer.text, _known(tx, table, table.seat(word.seat)))
    if isinstance(found, Position):
        return dataclasses.replace(word, standing=Standing.STATED, position=found, problem="")
    problem = f"line {found.line}: {found.why}"
    # A problem that stands already is the one that it was told.
    standing = Standing.UNSTATED if word.problem else word.standing
    return dataclasses.replace(word, standing=standing, problem=problem)


def _known(tx: Transaction, table: Roundtable, seat: Seat) -> Known:
    """What a seat may vote on: what it was told, and what it said itself."""
    words = tx.roundtables.words(table.id)
    heard = round.heard_by(table, words, seat=seat.label, round=table.round)
    before = decisions.settled_before(tx, table)
    earlier = [one for one in words if one.round < table.round]
    merged = decisions.of_words(table, earlier, before=before)
    claims = merging.known(round.stated(heard))
    agreed = {one.id for one in merged.of(merging.Outcome.AGREED)}
    return Known(seat.label, {**before, **claims}, frozenset({*before, *agreed}))


def _billed(tx: Transaction, word: Word, last: Turn) -> Word:
    """Add what a turn sent and cost; what engines keep in their system slot is sent once."""
    pack = tx.packs.get(last.pack) if last.pack else None
    chars = 0
    if pack is not None:
        chars = len(tx.packs.text(pack.sent) or "")
        if pack.system and not pack.resumed:
            chars += len(tx.packs.text(pack.system) or "")
    costs = [one for one in (word.cost, last.usage.cost) if one is not None]
    return dataclasses.replace(
        word,
        chars=word.chars + chars,
        tokens=word.tokens + last.usage.total,
        cost=sum(costs) if costs else None,
    )


def _missing(word: Word, why: str) -> Word:
    return dataclasses.replace(word, standing=Standing.MISSING, problem=why)


def _announce(tx: Transaction, table: Roundtable, word: Word) -> None:
    said = word.position
    opening.announce(
        tx,
        table,
        "roundtable.spoke",
        seat=word.seat,
        standing=word.standing.value,
        answer=word.answer,
        claims=[one.id for one in said.claims] if said else [],
        chars=word.chars,
        tokens=word.tokens,
        problem=text.one_line(word.problem, 200),
    )
