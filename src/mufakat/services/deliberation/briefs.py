"""The packs of one round: facts are gathered once, and told to every seat by its own brief."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core import tokens
from mufakat.core.base import Conflict, MessageId, NotFound, RoundtableId
from mufakat.core.deliberation import anonymity, briefing, caps, position, round
from mufakat.core.deliberation.briefing import Briefing, Heard, Quoted
from mufakat.core.deliberation.caps import Spent
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.merging import Merged
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Roundtable
from mufakat.core.deliberation.seat import Seat
from mufakat.core.pack.facts import Facts
from mufakat.core.talk.message import Message
from mufakat.ports.engine import Engine
from mufakat.ports.store import Store, Transaction
from mufakat.services.deliberation import decisions, opening
from mufakat.services.job import Job
from mufakat.services.packing import Looked, Packed, Packing
from mufakat.services.reading import Memory
from mufakat.services.request import Ask

RULES = "roundtable"
"""The prompt with the rules of every table."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What all seats of a round are told alike."""

    memory: Memory
    looked: Looked
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """The table and what was said at it, in one snapshot."""

    table: Roundtable
    words: Sequence[Word]
    texts: Mapping[MessageId, Message]
    before: Mapping[str, str]
    """What other tables had agreed on."""


class Briefs:
    """Makes the packs of one round of one table."""

    def __init__(self, store: Store, packing: Packing, *, id: RoundtableId) -> None:
        self._store = store
        self._packing = packing
        self._scrub = packing.scrub
        self._id = id
        self._rules = packing.prompt(RULES)
        self._shared: Shared | None = None
        self._said: Said | None = None
        self._coming = Spent()
        self._lock = asyncio.Lock()
        self.capped = ""
        """Which cap had no room for a pack."""

    def begin(self) -> None:
        """Seats that speak from here on hear what was said until now."""
        self._said = None
        self._coming = Spent()

    async def pack(self, job: Job, engine: Engine, nonce: str) -> Packed:
        """The pack of one seat's turn; raises Conflict where a cap has no room for it."""
        async with self._lock:
            shared, said = await self._facts(job.ask), await self._words()
        one = next(seat for seat in said.table.seats if seat.agent == job.agent.id)
        memory, problem = await self._store.read(lambda tx: self._own(tx, shared, job, one))
        brief = self._briefing(said, one, problem)
        packed = self._packing.made(
            job.ask,
            memory,
            shared.looked,
            identity=job.agent.identity,
            engine=engine,
            nonce=nonce,
            brief=lambda facts: told(facts, brief, shared.decisions),
        )
        self._reserve(said, packed)
        return packed

    async def _facts(self, ask: Ask) -> Shared:
        if self._shared is None:
            memory, found = await self._store.read(self._load)
            looked = await self._packing.look(ask, memory)
            self._shared = Shared(memory, looked, found)
        return self._shared

    def _load(self, tx: Transaction) -> tuple[Memory, tuple[Decision, ...]]:
        table = opening.resolve(tx, self._id)
        thread = tx.conversations.get(table.conversation)
        if thread is None:
            raise NotFound(f"The roundtable {table.id} has lost its conversation.")
        memory = self._packing.reading.load_until(
            tx,
            thread,
            asked=table.number,
            without={seat.identity for seat in table.seats},
        )
        return memory, decisions.told(tx, thread, scrub=self._scrub, table=table.id)

    async def _words(self) -> Said:
        if self._said is None:
            self._said = await self._store.read(self._read)
        return self._said

    def _read(self, tx: Transaction) -> Said:
        table = opening.resolve(tx, self._id)
        words = tx.roundtables.words(table.id)
        ids = [table.question, *(one.message for one in table.remarks)]
        ids += [word.answer for word in words if word.answer]
        return Said(table, words, tx.messages.some(ids), decisions.settled_before(tx, table))

    def _own(self, tx: Transaction, shared: Shared, job: Job, one: Seat) -> tuple[Memory, str]:
        """What is a seat's alone: its session, its mail, and a block that it is asked for again."""
        table = opening.resolve(tx, self._id)
        word = tx.roundtables.word(table.id, table.round, one.label)
        problem = word.problem if word and not word.final else ""
        return self._packing.reading.own(tx, shared.memory, job.agent), problem

    def _briefing(self, said: Said, one: Seat, problem: str) -> Briefing:
        table = said.table
        heard = round.heard_by(table, said.words, seat=one.label, round=table.round)
        known = [word for word in heard if word.final]
        return Briefing(
            table=table.id,
            letter=one.label,
            others=tuple(
                anonymity.name(seat, anonymous=table.anonymous)
                for seat in table.active
                if seat.label != one.label
            ),
            stance=one.stance,
            round=table.round,
            rounds=table.rounds,
            question=self._quoted(said, table.question),
            rules=self._rules,
            remarks=tuple(self._quoted(said, one.message) for one in table.remarks),
            heard=tuple(self._heard(said, word, own=word.seat == one.label) for word in heard),
            merged=decisions.of_words(table, known, before=said.before) if known else Merged(),
            correction=problem,
        )

    def _quoted(self, said: Said, id: MessageId) -> Quoted:
        message = said.texts.get(id)
        if message is None:
            raise NotFound(f"The message {id} of the roundtable is lost.")
        return Quoted(message.number, message.speaker, self._scrub(message.text).text)

    def _heard(self, said: Said, word: Word, *, own: bool) -> Heard:
        table, message = said.table, said.texts[word.answer or MessageId("")]
        text = self._scrub(position.without_block(message.text)).text
        if table.anonymous:
            text = anonymity.disguise(text, table.seats)
        name = anonymity.name(table.seat(word.seat), anonymous=table.anonymous)
        return Heard(message.number, name, word.round, text, self._safe(word, table), own)

    def _safe(self, word: Word, table: Roundtable) -> position.Position | None:
        def clean(text: str) -> str:
            text = self._scrub(text).text
            return anonymity.disguise(text, table.seats) if table.anonymous else text

        return position.mapped(word.position, clean) if word.position else None

    def _reserve(self, said: Said, packed: Packed) -> None:
        """Count what is about to be sent, so that seats that speak at once stay under the cap."""
        delivery = packed.delivery
        texts = [delivery.user, "" if packed.session else delivery.system]
        size = Spent(sum(map(len, texts)), sum(map(tokens.estimate, texts)))
        coming = caps.plus(self._coming, size)
        why = caps.exceeded(said.table.caps, caps.plus(round.spent(said.words), coming))
        if why:
            self.capped = why
            raise Conflict(f"Seat not asked: {why}.", fix="Raise the cap, with another round.")
        self._coming = coming


def told(facts: Facts, brief: Briefing, found: Sequence[Decision]) -> Facts:
    """The facts of a seat's request."""
    return dataclasses.replace(
        facts,
        prompt=briefing.request(brief),
        briefing=brief,
        decisions=found,
        roundtable=True,
    )
