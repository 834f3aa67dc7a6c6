"""Group commit: neighbours in one commit do not harm each other, and twins that do are caught."""

from __future__ import annotations

import asyncio
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core import base
from mufakat.core.base import Event, Revision
from mufakat.ports.store import Transaction
from mufakat.storage import events, writer
from mufakat.storage.store import SqliteStore

from .test_pragmas import connection_of

pytestmark = pytest.mark.anyio


async def together(opened: SqliteStore, *steps: Callable[[Transaction], object]) -> list[object]:
    """Run steps in one commit: a first step holds the writer until the others wait."""
    go_on = threading.Event()
    first = asyncio.create_task(opened.write(lambda tx: go_on.wait(20)))
    others = [asyncio.create_task(opened.write(step)) for step in steps]
    await asyncio.sleep(0.1)
    go_on.set()
    assert await first
    return await asyncio.gather(*others, return_exceptions=True)


def limit_pages(tx: Transaction, pages: int) -> None:
    """A disk that is full at so many pages."""
    connection_of(tx).exec_driver_sql(f"PRAGMA max_page_count={pages}").fetchall()


def leave_pages(tx: Transaction, pages: int) -> None:
    """A disk that is full after so many pages more."""
    [(used,)] = connection_of(tx).exec_driver_sql("PRAGMA page_count").fetchall()
    limit_pages(tx, used + pages)


def record(name: str) -> Callable[[Transaction], Revision]:
    return lambda tx: tx.events.record(Event(name, "x"))


async def names(opened: SqliteStore) -> list[str]:
    log = await opened.read(lambda tx: tx.events.after(Revision(0), limit=99))
    return [event.kind for event in log]


async def test_a_batch_is_one_commit(opened: SqliteStore) -> None:
    assert await together(opened, record("a"), record("b"), record("c")) == [1, 2, 3]
    assert await names(opened) == ["a", "b", "c"]


async def test_when_sqlite_rolls_back_by_itself_the_whole_batch_fails(opened: SqliteStore) -> None:
    def rolled_back(tx: Transaction) -> None:
        tx.events.record(Event("torn", "x"))
        with pytest.raises(base.StorageFull):
            tx.messages.append(TALK, say("x" * 1_000_000), id=number(1))
        # Nobody may go on now: it would be committed without the rest of the step.
        tx.events.record(Event("alone", "x"))

    await opened.write(lambda tx: limit_pages(tx, 80))
    answers = await together(opened, record("before"), rolled_back, record("behind"))
    assert isinstance(answers[0], base.MufakatError)
    assert isinstance(answers[1], base.MufakatError)
    await opened.write(lambda tx: limit_pages(tx, 1 << 30))
    assert not {"torn", "before", "alone"} & set(await names(opened))
    assert await opened.write(record("after")) == len(await names(opened))
    assert not (await opened.check(deep=True)).problems


async def test_a_locked_database_is_an_answer_not_a_hang(path: Path, opened: SqliteStore) -> None:
    await opened.write(
        lambda tx: connection_of(tx).exec_driver_sql("PRAGMA busy_timeout=50").fetchall()
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(base.Unavailable):
            await opened.write(record("blocked"))
        assert await names(opened) == []
        other.execute("ROLLBACK")
    assert await opened.write(record("free")) == 1


async def test_a_step_may_fail_in_any_way(opened: SqliteStore) -> None:
    def leaves(tx: Transaction) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        await opened.write(leaves)
    assert await opened.write(record("on")) == 1


class Broken(Exception):
    """Raised by a step on purpose."""


async def leaves_nothing(opened: SqliteStore) -> None:
    """The check itself: a failed step between two good ones has no effect."""

    def broken(tx: Transaction) -> None:
        tx.events.record(Event("broken", "x"))
        tx.messages.append(TALK, say("lost"), id=number(1))
        raise Broken

    await together(opened, record("before"), broken, record("behind"))
    assert await names(opened) == ["before", "behind"]
    assert await opened.read(lambda tx: tx.messages.get(number(1))) is None
    assert not (await opened.check()).problems


async def test_a_failed_step_in_a_batch_leaves_nothing(opened: SqliteStore) -> None:
    await leaves_nothing(opened)


async def test_twin_without_savepoints_a_failed_step_leaves_its_writes(
    opened: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = writer._end

    def commit_always(close: Callable[[], None], error: BaseException | None) -> None:
        savepoint = close.__self__  # type: ignore[attr-defined]
        end(savepoint.commit, error)

    monkeypatch.setattr(writer, "_end", commit_always)
    with pytest.raises(AssertionError):
        await leaves_nothing(opened)


async def not_seen_early(opened: SqliteStore) -> None:
    """The check itself: whoever is woken can read what it was woken for."""
    recorded, go_on = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> None:
        tx.events.record(Event("x", "y"))
        recorded.set()
        assert go_on.wait(20)

    writing = asyncio.create_task(opened.write(slow))
    await asyncio.to_thread(recorded.wait, 20)
    woken = await opened.wait(Revision(0), seconds=0.2)
    seen = await opened.read(lambda tx: tx.events.head())
    go_on.set()
    await writing
    assert woken == seen


async def test_nobody_is_woken_before_the_commit(opened: SqliteStore) -> None:
    await not_seen_early(opened)


async def test_twin_waking_when_recorded_is_too_early(
    opened: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = events.Events.record

    def eager(self: events.Events, event: Event) -> Revision:
        revision = original(self, event)
        opened._notifier.advance(revision)
        return revision

    monkeypatch.setattr(events.Events, "record", eager)
    with pytest.raises(AssertionError):
        await not_seen_early(opened)


async def test_a_writer_that_ends_by_a_fault_leaves_nobody_waiting(
    opened: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(head: object) -> None:
        raise RuntimeError("a fault in what follows a commit")

    assert opened._writer is not None
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    monkeypatch.setattr(opened._writer, "_committed", broken)
    go_on = threading.Event()
    first = asyncio.create_task(opened.write(lambda tx: go_on.wait(20)))
    await asyncio.sleep(0.1)
    later = [asyncio.create_task(opened.write(record("x"))) for _ in range(100)]
    await asyncio.sleep(0.1)
    go_on.set()
    answers = await asyncio.wait_for(
        asyncio.gather(first, *later, return_exceptions=True), timeout=20
    )
    assert isinstance(answers[-1], base.Unavailable)
    with pytest.raises(base.Unavailable):
        await opened.write(record("x"))


async def test_closing_finishes_what_is_queued(path: Path, opened: SqliteStore) -> None:
    writes = [asyncio.create_task(opened.write(record(str(n)))) for n in range(100)]
    await asyncio.sleep(0)
    await opened.close()
    assert sorted(await asyncio.gather(*writes)) == list(range(1, 101))


async def test_a_long_message_does_not_hold_the_head_back(opened: SqliteStore) -> None:
    steps = [
        (lambda tx, n=n: tx.messages.append(TALK, say("x" * 2_000_000), id=number(n)).number)
        for n in range(1, 9)
    ]
    assert sorted(await together(opened, *steps)) == list(range(1, 9))
    assert not (await opened.check(deep=True)).problems


def gapless(acknowledged: list[int], stored: list[int], errors: list[str]) -> None:
    """The check itself: every write answered once, numbered without gaps or doubles."""
    assert not errors, errors[:3]
    assert sorted(acknowledged) == list(range(1, len(acknowledged) + 1))
    assert sorted(stored) == sorted(acknowledged)


async def test_e1_sixteen_writers_get_every_revision_once(opened: SqliteStore) -> None:
    async def client(n: int) -> list[int]:
        return [await opened.write(record(f"{n}")) for _ in range(20)]

    answers = [r for each in await asyncio.gather(*map(client, range(16))) for r in each]
    log = await opened.read(lambda tx: tx.events.after(Revision(0), limit=1000))
    gapless(answers, [event.revision for event in log], [])


def naive(path: Path, begin: str, unique: str, seed: int) -> tuple[list[int], list[int], list[str]]:
    """A store that counts by MAX(rev)+1, each client on a connection of its own."""
    with closing(sqlite3.connect(path, isolation_level=None)) as first:
        first.execute("PRAGMA journal_mode=WAL").fetchall()
        first.execute(f"CREATE TABLE log (rev INTEGER {unique})")
    answers: queue.SimpleQueue[int] = queue.SimpleQueue()
    failures: queue.SimpleQueue[str] = queue.SimpleQueue()

    def client(n: int) -> None:
        dice = random.Random(seed + n)
        with closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as mine:
            for _ in range(20):
                try:
                    mine.execute(begin)
                    found = mine.execute("SELECT coalesce(max(rev), 0) + 1 FROM log").fetchone()[0]
                    time.sleep(dice.random() / 500)
                    mine.execute("INSERT INTO log VALUES (?)", (found,))
                    if mine.in_transaction:
                        mine.execute("COMMIT")
                    answers.put(found)
                except sqlite3.Error as error:
                    failures.put(str(error))
                    if mine.in_transaction:
                        mine.execute("ROLLBACK")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(client, range(16)))
    with closing(sqlite3.connect(path)) as last:
        stored = [row[0] for row in last.execute("SELECT rev FROM log")]
    return drain(answers), stored, drain(failures)


def drain(what: queue.SimpleQueue) -> list:
    found = []
    while not what.empty():
        found.append(what.get())
    return found


def test_e1_twin_deferred_transactions_get_busy_at_once(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="locked"):
        gapless(*naive(tmp_path / "naive.db", "BEGIN DEFERRED", "PRIMARY KEY", 1))


def test_e1_twin_counting_outside_a_transaction_doubles_revisions(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        gapless(*naive(tmp_path / "naive.db", "SELECT 1", "", 2))


async def test_the_clock_of_a_batch_never_goes_back(opened: SqliteStore) -> None:
    times = await together(opened, *[lambda tx: tx.now() for _ in range(20)])
    assert times == sorted(times)
    assert await opened.read(lambda tx: tx.now()) >= times[-1]


async def test_setup_is_sound(opened: SqliteStore) -> None:
    got = await opened.read(lambda tx: tx.conversations.get(TALK))
    assert got == make.conversation()
