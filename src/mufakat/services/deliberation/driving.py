"""Carrying a table through its rounds: each step is on disk, so a killed server goes on there."""

from __future__ import annotations

import asyncio
import dataclasses
from dataclasses import dataclass
from functools import partial

from mufakat.core.base import RoundtableId
from mufakat.core.deliberation import caps, round, roundtable
from mufakat.core.deliberation.merging import Merged, Outcome
from mufakat.core.deliberation.round import Speak, Standing, Word
from mufakat.core.deliberation.roundtable import Roundtable, Status
from mufakat.ports.store import Store, Transaction
from mufakat.services.deliberation import decisions, opening, speaking
from mufakat.services.deliberation.briefs import Briefs
from mufakat.services.deliberation.speaking import Look
from mufakat.services.packing import Packing
from mufakat.services.turns import Turns


@dataclass(frozen=True, slots=True)
class Plan:
    """Who is asked now, in which round, and for how many seconds there is time."""

    round: int
    seats: tuple[str, ...]
    seconds: float | None


class Driver:
    """Drives one table until it ends or is paused."""

    def __init__(self, store: Store, turns: Turns, packing: Packing) -> None:
        self._store = store
        self._turns = turns
        self._packing = packing

    async def drive(self, id: RoundtableId, *, restarted: bool = False) -> None:
        """Go on with a table from wherever it stands."""
        briefs, at = self._briefs(id), 0
        role = (await self._store.read(lambda tx: opening.resolve(tx, id))).role
        look = Look(self._packing.permission(role), restarted)
        while True:
            plan = await self._store.write(partial(advance, id=id, capped=briefs.capped))
            if plan is None:
                return
            if plan.round != at:
                # Facts hold for a round: the project may have changed since the last one.
                briefs, at = self._briefs(id), plan.round
            briefs.begin()
            if not await self._round(id, plan, briefs, look):
                await self._out_of_time(id)
                return
            look = dataclasses.replace(look, restarted=False)

    def _briefs(self, id: RoundtableId) -> Briefs:
        return Briefs(self._store, self._packing, id=id)

    async def _round(self, id: RoundtableId, plan: Plan, briefs: Briefs, look: Look) -> bool:
        """Let seats speak at once; False where the time was over before they had."""
        speaking_now = [
            asyncio.create_task(self._speak(id, label, briefs, look), name=f"{id} seat {label}")
            for label in plan.seats
        ]
        try:
            done, late = await asyncio.wait(speaking_now, timeout=plan.seconds)
            for task in done:
                task.result()
            return not late
        finally:
            for task in speaking_now:
                task.cancel()
            await asyncio.gather(*speaking_now, return_exceptions=True)

    async def _speak(self, id: RoundtableId, label: str, briefs: Briefs, look: Look) -> None:
        while True:
            look = dataclasses.replace(look, capped=briefs.capped)
            job = await self._store.write(partial(speaking.step, id=id, label=label, look=look))
            if job is None:
                return
            await self._turns.see(dataclasses.replace(job, brief=briefs.pack))
            look = dataclasses.replace(look, restarted=False)

    async def _out_of_time(self, id: RoundtableId) -> None:
        def step(tx: Transaction) -> list[Word]:
            table = opening.resolve(tx, id)
            if table.status is not Status.RUNNING:
                return []
            spent = caps.Spent(seconds=table.seconds(tx.now()))
            why = caps.exceeded(table.caps, spent) or "the time is over"
            end(tx, roundtable.cap(table, tx.now(), why=why))
            return left_open(tx, table)

        for word in await self._store.write(step):
            await self._turns.cancel(word.turns[-1])


def advance(tx: Transaction, id: RoundtableId, capped: str = "") -> Plan | None:
    """Decide what comes next for a table, and write it; None where nothing does."""
    while True:
        table = opening.resolve(tx, id)
        if table.status is not Status.RUNNING:
            return None
        words = tx.roundtables.words(id)
        spent = dataclasses.replace(round.spent(words), seconds=table.seconds(tx.now()))
        here = [word for word in words if word.round == table.round]
        step = round.next_step(table, {word.seat for word in here if word.final})
        if isinstance(step, Speak):
            why = capped or caps.reached(table.caps, spent)
            if why:
                end(tx, roundtable.cap(table, tx.now(), why=why))
                return None
            seconds = table.caps.seconds
            left = None if seconds is None else max(0.0, seconds - spent.seconds)
            return Plan(table.round, step.seats, left)
        if not _close(tx, table, here):
            return None


def _close(tx: Transaction, table: Roundtable, here: list[Word]) -> bool:
    """Close a round; answers whether another one follows."""
    if all(word.standing is Standing.MISSING for word in here):
        why = "no seat answered: " + "; ".join(f"{word.seat}: {word.problem}" for word in here)
        end(tx, roundtable.fail(table, tx.now(), why=why[:500]))
        return False
    merged = decisions.merged(tx, table)
    opening.announce(tx, table, "roundtable.round", **counted(merged))
    why = round.ends(table, merged)
    if why:
        end(tx, roundtable.finish(table, tx.now(), why=why))
        return False
    tx.roundtables.keep(roundtable.advance(table, tx.now()))
    return True


def end(tx: Transaction, table: Roundtable) -> None:
    """Store a table that has ended, with what it came to."""
    tx.roundtables.keep(table)
    merged = decisions.record(tx, table)
    opening.announce(tx, table, "roundtable.ended", why=table.why, **counted(merged))


def left_open(tx: Transaction, table: Roundtable) -> list[Word]:
    """Words of this round whose turns still run."""
    return [
        word
        for word in tx.roundtables.words(table.id)
        if word.round == table.round and word.turns and not word.final
    ]


def counted(merged: Merged) -> dict[str, object]:
    """What a round came to, by ids."""
    return {
        **{one.value: [point.id for point in merged.of(one)] for one in Outcome},
        "new": list(merged.new),
        "unstated": list(merged.unstated),
        "reopened": [one.id for one in merged.reopened],
    }
