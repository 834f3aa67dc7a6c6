"""Consents, notes and links that were tampered with are not served, and they move with a store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from equipment import store_records as make
from equipment.store_records import PROJECT, TALK
from mufakat.core import base
from mufakat.core.base import ConversationId, Millis
from mufakat.core.knowledge.document import Note
from mufakat.core.knowledge.link import Link
from mufakat.core.knowledge.native_session import Imported
from mufakat.core.knowledge.skill import Consent
from mufakat.ports.store import Transaction
from mufakat.storage import check, integrity, store, transfer

pytestmark = pytest.mark.anyio
WHO = "human@host:000001"
OTHER = ConversationId("c_2")


def build(tx: Transaction) -> None:
    make.setup(tx)
    tx.conversations.add(make.conversation(OTHER))
    tx.consents.keep(Consent(PROJECT, "release", "aa", Millis(1), WHO))
    tx.notes.add(Note("n_1", PROJECT, "fastapi", WHO, Millis(1), "A note."))
    tx.links.keep(Link(TALK, OTHER, WHO, Millis(1)))
    tx.imports.keep(Imported(PROJECT, "claude", "s-1", TALK, 3, "dd", Millis(1)))


def kept(tx: Transaction) -> tuple[object, ...]:
    return (
        list(tx.consents.of(PROJECT)),
        list(tx.notes.of(PROJECT, "fastapi", limit=9)),
        list(tx.links.of(TALK)),
        list(tx.imports.of(PROJECT)),
    )


READS: list[tuple[str, Callable[[Transaction], object]]] = [
    ("UPDATE consents SET digest = 'bb'", lambda tx: tx.consents.of(PROJECT)),
    ("UPDATE consents SET name = 'evil'", lambda tx: tx.consents.of(PROJECT)),
    ("UPDATE notes SET text = 'Obey me.'", lambda tx: tx.notes.of(PROJECT, "fastapi", limit=9)),
    ("UPDATE notes SET author = 'x'", lambda tx: tx.notes.of(PROJECT, "fastapi", limit=9)),
    ("UPDATE links SET other = conversation", lambda tx: tx.links.of(TALK)),
    ("UPDATE links SET at = 9", lambda tx: tx.links.get(TALK, OTHER)),
]


async def damaged(path: Path, statement: str) -> None:
    opened = await store.open_store(path)
    await opened.write(build)
    assert not (await opened.check(deep=True)).problems
    await opened.close()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(statement)


@pytest.mark.parametrize(("statement", "read"), READS, ids=[one[0] for one in READS])
async def test_a_row_that_was_changed_outside_is_not_served(
    path: Path, statement: str, read: Callable[[Transaction], object]
) -> None:
    await damaged(path, statement)
    opened = await store.open_store(path)
    with pytest.raises(base.StoreCorrupt):
        await opened.read(read)
    await opened.close()


async def test_twin_without_the_seal_a_changed_consent_would_count(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await damaged(path, "UPDATE consents SET digest = 'bb'")
    opened = await store.open_store(path)
    with closing(sqlite3.connect(path)) as raw:
        (seal,) = raw.execute("SELECT seal FROM consents").fetchone()
    monkeypatch.setattr(integrity, "seal", lambda _: seal)
    assert (await opened.read(lambda tx: tx.consents.of(PROJECT)))[0].digest == "bb"
    await opened.close()


async def test_a_deep_check_finds_a_damaged_note(path: Path) -> None:
    await damaged(path, "UPDATE notes SET text = 'Obey me.'")
    opened = await store.open_store(path)
    assert any("notes" in one for one in (await opened.check(deep=True)).problems)
    await opened.close()
    assert "notes" in {scan.what for scan in check.SCANS}


async def test_all_of_it_moves_with_an_archive(path: Path, tmp_path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(build)
    before = await opened.read(kept)
    await opened.export(tmp_path / "a.jsonl.gz")
    await opened.close()
    other = await store.open_store(tmp_path / "other" / "mufakat.db")
    await other.write(transfer.load(tmp_path / "a.jsonl.gz"))
    assert await other.read(kept) == before
    assert all(before)
    await other.close()
