"""A check finds what does not agree in mail and leases, and a damaged envelope is not served."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from equipment import coordination_records as make
from equipment.coordination_records import ALICE, BOB, grant, post
from equipment.store_records import PROJECT, number
from mufakat.core import base
from mufakat.core.base import Millis
from mufakat.core.coordination.inbox import Intent, Status
from mufakat.core.coordination.notice import Notice
from mufakat.ports.store import Transaction
from mufakat.storage import check, connect, store

pytestmark = pytest.mark.anyio
KEY = "task:report"


def build(tx: Transaction) -> None:
    make.join(tx)
    for n in range(1, 6):
        post(tx, n, ALICE, BOB, intent=Intent.REQUEST)
    grant(tx, "l_1", KEY, "file:/srv/demo/a")
    grant(tx, "l_2", "task:other", holder=BOB)
    tx.notices.keep(Notice(PROJECT, "staging", "is down", ALICE, Millis(1), Millis(1 << 60)))


async def database(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(build)
    assert not (await opened.check(deep=True)).problems
    await opened.close()


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(statement)


SECOND = (
    "INSERT INTO lease_resources SELECT 'l_2', resource, fence, pattern, live "
    f"FROM lease_resources WHERE resource = '{KEY}'"
)


@pytest.mark.parametrize(
    ("statement", "finds"),
    [
        ("UPDATE instances SET inbox_head = 6", "an inbox has gaps"),
        ("DELETE FROM deliveries WHERE number = 3", "an inbox has gaps"),
        ("UPDATE deliveries SET number = 9 WHERE number = 3", "an inbox has gaps"),
        ("UPDATE instances SET acked = 6", "more of an inbox is acknowledged"),
        (
            "UPDATE deliveries SET recipient = 'x@y' WHERE number = 5 AND recipient LIKE 'c_d%'",
            "nobody's inbox",
        ),
        ("UPDATE deliveries SET number = NULL WHERE number = 5", "open without a number"),
        ("UPDATE deliveries SET status = 'held' WHERE number = 5", "held with one"),
        ("UPDATE resources SET fence = fence - 1", "ahead of its counter"),
        ("DELETE FROM resources", "ahead of its counter"),
        ("UPDATE resources SET fence = 2 * fence", "generation to come"),
        ("UPDATE leases SET ended = 5, cause = 'expired'", "whether it is live"),
        ("DELETE FROM lease_resources WHERE lease = 'l_2'", "whether it is live"),
        (SECOND, "held by one alone, and by somebody else"),
        ("UPDATE envelopes SET sender = 'codex@host:ffffff'", "envelopes m_"),
        ("DELETE FROM messages WHERE number = 3", "belongs to a missing row"),
    ],
)
async def test_a_check_finds_what_does_not_agree(path: Path, statement: str, finds: str) -> None:
    await database(path)
    change(path, statement)
    engine = connect.single(path, query="mode=ro")
    with engine.connect() as connection:
        problems = check.health(connection, deep=True).problems
    engine.dispose()
    assert any(finds in problem for problem in problems), problems


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE envelopes SET sender = 'codex@host:ffffff'",
        "UPDATE envelopes SET intent = 'inform'",
        "UPDATE notices SET text = 'is up'",
    ],
)
async def test_b7_a_damaged_row_is_never_served(path: Path, statement: str) -> None:
    await database(path)
    change(path, statement)
    opened = await store.open_store(path)

    def read(tx: Transaction) -> object:
        return tx.notices.live(PROJECT, Millis(1)), tx.inbox.envelope(number(1))

    with pytest.raises(base.StoreCorrupt):
        await opened.read(read)
    await opened.close()


async def test_what_was_told_of_is_not_part_of_the_seal(path: Path) -> None:
    await database(path)
    opened = await store.open_store(path)

    def step(tx: Transaction) -> None:
        tx.inbox.keep_envelope(
            make.envelope(1, to=(ALICE, BOB), intent=Intent.REQUEST, watched=True)
        )
        make.moved(tx, 1, Status.ACKED)

    await opened.write(step)
    assert not (await opened.check(deep=True)).problems
    await opened.close()
