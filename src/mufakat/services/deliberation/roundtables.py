"""Roundtables as the doors see them: begin, look, pause, say, drop, go on, stop."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mufakat.core.base import Conflict, InvalidInput, Paused, RoundtableId
from mufakat.core.deliberation import caps, round, roundtable, vendors
from mufakat.core.deliberation.caps import Caps, Spent
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.merging import Merged
from mufakat.core.deliberation.preflight import Preflight
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Remark, Roundtable, Status
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.ports.store import Store, Transaction
from mufakat.services import request, talk
from mufakat.services.acceptance import Acceptance
from mufakat.services.deliberation import decisions, driving, forecast, opening
from mufakat.services.deliberation.driving import Driver
from mufakat.services.deliberation.opening import Asked
from mufakat.services.packing import Packing
from mufakat.services.roster import Roster
from mufakat.services.turns import Turns

log = logging.getLogger(__name__)
END_SECONDS = 60.0
BY_PERSON = "a person asked for it"


@dataclass(frozen=True, slots=True)
class View:
    """A table with all that was said at it, and what it came to so far."""

    table: Roundtable
    words: Sequence[Word]
    merged: Merged
    decisions: Sequence[Decision]
    spent: Spent
    warning: str = ""


class Roundtables:
    """Begins tables and sees them through."""

    def __init__(
        self,
        store: Store,
        roster: Roster,
        packing: Packing,
        turns: Turns,
        accepting: Acceptance,
    ) -> None:
        self._store = store
        self._roster = roster
        self._packing = packing
        self._turns = turns
        self._acceptance = accepting
        self._driver = Driver(store, turns, packing)
        self._tasks: dict[RoundtableId, asyncio.Task[None]] = {}
        self._again: dict[RoundtableId, bool] = {}

    async def start(self, asked: Asked, *, key: str = "") -> View:
        """Store a table and let it run; answers at once.

        Raises InvalidInput, EngineMissing or DoesNotFit; then nothing was stored.
        """
        asked = self._ready(asked)
        expected = await self.preflight(asked)
        over = caps.exceeded(
            dataclasses.replace(asked.caps, cost=None, seconds=None),
            Spent(expected.chars, expected.tokens),
        )
        if over:
            raise InvalidInput(
                f"The roundtable would take about {expected.chars:,} characters and "
                f"{expected.tokens:,} tokens: {over}.",
                fix="Raise the cap, or ask fewer seats or rounds.",
            )
        seats = opening.seats_of(asked, self._roster)
        table, known = await self._store.write(
            lambda tx: opening.open_table(tx, self._acceptance, asked, seats=seats, key=key)
        )
        if not known:
            self._begin(table.id)
        return await self.get(table.id)

    async def preflight(self, asked: Asked) -> Preflight:
        """What a table would cost, by seat and round; nothing is stored or asked."""
        asked = self._ready(asked)
        return await forecast.of(self._store, self._packing, self._roster, asked)

    async def get(self, id: str) -> View:
        """One table by id, unique prefix or `last`; raises NotFound."""
        return await self._store.read(lambda tx: _view(tx, opening.resolve(tx, id)))

    async def list(
        self, *, conversation: str = "", before: str = "", limit: int = 50
    ) -> Sequence[Roundtable]:
        """Newest first."""

        def query(tx: Transaction) -> Sequence[Roundtable]:
            of = talk.resolve(tx, conversation).id if conversation else None
            return tx.roundtables.list(conversation=of, before=before, limit=limit)

        return await self._store.read(query)

    async def wait(self, id: str, *, seconds: float) -> View:
        """Wait until a table has ended or is paused, or the time is over."""
        found = (await self.get(id)).table
        task = self._tasks.get(found.id)
        if task is not None:
            await asyncio.wait({task}, timeout=seconds)
        return await self.get(found.id)

    async def pause(self, id: str, *, why: str = BY_PERSON) -> View:
        """Let what runs end and ask nobody more until the table is resumed."""

        def change(tx: Transaction, table: Roundtable) -> Roundtable:
            return roundtable.pause(table, tx.now(), why=why)

        return await self._change(id, change, "roundtable.paused")

    async def resume(self, id: str) -> View:
        """Go on after a pause."""

        def change(tx: Transaction, table: Roundtable) -> Roundtable:
            if table.status is not Status.PAUSED:
                raise Conflict(
                    f"The roundtable is {table.status}.",
                    fix=f"Give it another round: mufakat rt more {table.id}",
                )
            return roundtable.start(table, tx.now())

        view = await self._change(id, change, "roundtable.resumed")
        self._begin(view.table.id)
        return view

    async def more(self, id: str, *, rounds: int = 1, raised: Caps | None = None) -> View:
        """Add rounds; a table that has ended goes on, under new caps where some are given."""
        if raised is not None:
            caps.check(raised)

        def change(tx: Transaction, table: Roundtable) -> Roundtable:
            longer = roundtable.again(table, tx.now(), rounds=rounds, caps=raised)
            unfinished = len(_here(tx, table)) < len(table.active)
            # The round that it ended in is over where everybody has answered.
            if unfinished or table.status in roundtable.LIVE:
                return longer
            return roundtable.advance(longer, tx.now())

        view = await self._change(id, change, "roundtable.continued")
        self._begin(view.table.id, restarted=True)
        return view

    async def say(self, id: str, text: str) -> View:
        """Say something to the table; every seat hears it with its next turn."""
        request.validate(request.Ask(text, "/"))

        def change(tx: Transaction, table: Roundtable) -> Roundtable:
            kinds, person = self._acceptance.scrub(text).kinds, self._acceptance.person
            draft = message.draft(Kind.PERSON, person, text=text, secrets=kinds)
            said = talk.append(tx, table.conversation, draft)
            remark = Remark(said.id, said.number, table.round)
            return roundtable.interject(table, remark, tx.now())

        return await self._change(id, change, "roundtable.remark")

    async def drop(self, id: str, label: str, *, why: str = BY_PERSON) -> View:
        """Take a seat off the table, and end the turn it is in."""
        found = (await self.get(id)).table
        letter = found.seat(label).label
        running = await self._store.read(lambda tx: driving.left_open(tx, found))

        def change(tx: Transaction, table: Roundtable) -> Roundtable:
            return roundtable.drop(table, letter, why=why, at=tx.now())

        view = await self._change(id, change, "roundtable.dropped", seat=letter)
        for word in running:
            if word.seat == letter:
                await self._turns.cancel(word.turns[-1])
        return view

    async def stop(self, id: str, *, why: str = BY_PERSON) -> View:
        """End a table with what was said so far; turns that run are cancelled."""

        def step(tx: Transaction) -> tuple[Roundtable, Sequence[Word]]:
            table = opening.resolve(tx, id)
            open_words = driving.left_open(tx, table)
            driving.end(tx, roundtable.stop(table, tx.now(), why=why))
            return table, open_words

        table, running = await self._store.write(step)
        for word in running:
            await self._turns.cancel(word.turns[-1])
        # Its job must have seen the end before another round can begin.
        return await self.wait(table.id, seconds=END_SECONDS)

    async def recover(self, *, alone: bool = True) -> None:
        """Go on with the tables that a killed server left running.

        `alone` is False where other servers use the store: their tables are theirs.
        """
        mine = self._acceptance.person
        for table in await self._store.read(lambda tx: tx.roundtables.running()):
            if alone or table.server == mine:
                self._begin(table.id, restarted=True)

    async def close(self) -> None:
        """Ask nobody more; tables stay as they are, and go on with the next server."""
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ready(self, asked: Asked) -> Asked:
        """A request that can work: every engine there, every role within what it can keep to."""
        asked = opening.settled(asked)
        for wanted in asked.seats:
            self._packing.role(asked.role, self._roster.ready(wanted.engine))
        return asked

    async def _change(
        self,
        id: str,
        change: Callable[[Transaction, Roundtable], Roundtable],
        kind: str,
        **data: object,
    ) -> View:
        def step(tx: Transaction) -> View:
            changed = change(tx, opening.resolve(tx, id))
            tx.roundtables.keep(changed)
            opening.announce(tx, changed, kind, why=changed.why, **data)
            return _view(tx, changed)

        return await self._store.write(step)

    def _begin(self, id: RoundtableId, *, restarted: bool = False) -> None:
        if id in self._tasks:
            # It may be about to leave: it looks once more.
            self._again[id] = restarted
            return
        task = asyncio.create_task(self._run(id, restarted=restarted), name=f"roundtable {id}")
        self._tasks[id] = task
        task.add_done_callback(lambda _: self._tasks.pop(id, None))

    async def _run(self, id: RoundtableId, *, restarted: bool) -> None:
        while True:
            self._again.pop(id, None)
            try:
                await self._driver.drive(id, restarted=restarted)
            except Paused as problem:
                await self._give_up(id, str(problem))
            except Exception:
                log.exception("the roundtable %s failed inside Mufakat", id)
                await self._give_up(id, "a fault in Mufakat; the server's log has the details")
            if id not in self._again:
                return
            restarted = self._again[id]

    async def _give_up(self, id: RoundtableId, why: str) -> None:
        """Pause a table that cannot go on by itself, so that it does not seem to run for ever."""

        def step(tx: Transaction) -> None:
            table = opening.resolve(tx, id)
            if table.status is Status.RUNNING:
                paused = roundtable.pause(table, tx.now(), why=why)
                tx.roundtables.keep(paused)
                opening.announce(tx, paused, "roundtable.paused", why=why)

        await self._store.write(step)


def _here(tx: Transaction, table: Roundtable) -> list[Word]:
    """Seats of the table that have answered in the round it is in."""
    letters = {seat.label for seat in table.active}
    words = tx.roundtables.words(table.id)
    return [w for w in words if w.round == table.round and w.final and w.seat in letters]


def _view(tx: Transaction, table: Roundtable) -> View:
    words = tx.roundtables.words(table.id)
    spent = dataclasses.replace(round.spent(words), seconds=table.seconds(tx.now()))
    return View(
        table,
        words,
        decisions.of_words(table, words, before=decisions.settled_before(tx, table)),
        tx.decisions.of_table(table.id),
        spent,
        vendors.warning(table.seats),
    )
