"""Backups are consistent and verified; a restore starts a history of its own."""

from __future__ import annotations

# ruff: noqa: ASYNC240 - a test may block its own loop
import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core import base
from mufakat.core.base import AgentId, Event
from mufakat.core.talk.turn import Status
from mufakat.ports.store import Transaction
from mufakat.storage import backup, check, connect, generation, head_row, opening, restore, store
from mufakat.storage.store import SqliteStore

pytestmark = pytest.mark.anyio


def say_and_record(n: int):
    def step(tx: Transaction) -> None:
        tx.messages.append(TALK, say(f"text {n} " * 30), id=number(n))
        tx.events.record(Event("said", str(n)))

    return step


async def write_for_ever(opened: SqliteStore) -> None:
    n = 0
    while True:
        await asyncio.gather(*(opened.write(say_and_record(n + i)) for i in range(1, 11)))
        n += 10


async def test_a_backup_that_cannot_be_written_says_so_in_our_words(
    opened: SqliteStore, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(base.Unavailable, match="Not a directory") as refused:
        await opened.backup(tmp_path / "file" / "copy.db")
    assert refused.value.fix


def problems_of(path: Path) -> tuple[str, ...]:
    engine = connect.single(path, query="mode=ro")
    try:
        with engine.connect() as connection:
            return check.health(connection, deep=True).problems
    finally:
        engine.dispose()


async def test_q14_backups_under_writes_are_consistent(opened: SqliteStore, tmp_path: Path) -> None:
    writing = asyncio.create_task(write_for_ever(opened))
    sizes = []
    for n in range(5):
        await asyncio.sleep(0.1)
        made = await opened.backup(tmp_path / f"{n}.db")
        assert problems_of(made) == ()
        with closing(connect.open_raw(made, {})) as raw:
            sizes.append(raw.execute("SELECT count(*) FROM messages").fetchone()[0])
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0]
    assert not list(tmp_path.glob("*.part*"))


async def test_a_backup_stands_alone_and_overwrites_nothing(
    opened: SqliteStore, tmp_path: Path
) -> None:
    made = await opened.backup(tmp_path / "deep" / "one.db")
    assert sorted(path.name for path in made.parent.iterdir()) == ["one.db"]
    before = made.read_bytes()
    with pytest.raises(base.Conflict):
        await opened.backup(made)
    assert made.read_bytes() == before


async def test_two_backups_of_one_second_and_one_revision_are_two_files(
    opened: SqliteStore, tmp_path: Path
) -> None:
    made = [await opened.backup(tmp_path) for _ in range(3)]
    assert len({path.name for path in made}) == 3
    assert backup.newest(tmp_path) == made[-1]


async def test_b4_seven_backups_are_kept(path: Path, opened: SqliteStore, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "mine.db").touch()
    made = []
    for n in range(9):
        await opened.write(lambda tx, n=n: tx.events.record(Event("x", str(n))))
        made.append(await opened.backup(folder))
        await asyncio.sleep(0.01)
    left = {path.name for path in folder.iterdir()}
    assert len(left) == 8 and "mine.db" in left
    assert made[-1].name in left and made[0].name not in left


async def test_b4_a_copy_that_is_not_sound_is_no_backup(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 5)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE conversations SET messages = 77")
    with pytest.raises(base.StoreCorrupt, match="counter"):
        backup.take(path, tmp_path / "bad.db")
    assert not list(tmp_path.glob("bad*"))


async def with_messages(path: Path, count: int) -> str:
    """A closed database of `count` messages; answers its epoch."""
    opened = await store.open_store(path)
    if await opened.read(lambda tx: tx.conversations.get(TALK)) is None:
        await opened.write(make.setup)
    have = await opened.read(lambda tx: tx.events.head())
    for n in range(have + 1, count + 1):
        await opened.write(say_and_record(n))
    epoch = await opened.read(lambda tx: tx.events.epoch())
    await opened.close()
    return epoch


async def new_history(path: Path, epoch: str, *, generation_before: int) -> None:
    """The check itself: nobody can take the restored history for the one before."""
    opened = await store.open_store(path)
    facts = dict((await opened.check(deep=True)).facts)
    now = await opened.read(lambda tx: tx.events.epoch())
    await opened.close()
    assert now != epoch
    assert int(facts["generation"]) > generation_before


async def test_b5_a_restore_has_a_new_epoch_and_a_higher_generation(
    path: Path, tmp_path: Path
) -> None:
    epoch = await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    await with_messages(path, 6)
    for expected in (2, 3):
        done = restore.restore(saved, path)
        assert done.head.generation == expected
        await new_history(path, epoch, generation_before=expected - 1)
    opened = await store.open_store(path)
    assert await opened.read(lambda tx: tx.messages.get(number(3)))
    assert await opened.read(lambda tx: tx.messages.get(number(4))) is None
    assert await opened.write(lambda tx: tx.events.record(Event("x", "y"))) == 4
    assert not (await opened.check(deep=True)).problems
    await opened.close()


async def test_b5_twin_a_file_copied_back_is_caught(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    epoch = await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    monkeypatch.setattr(head_row, "begin_generation", lambda _, old, at_least: old)
    restore.restore(saved, path)
    with pytest.raises(AssertionError):
        await new_history(path, epoch, generation_before=1)


async def test_b5_nothing_of_the_backup_runs_or_resumes_by_itself(
    path: Path, tmp_path: Path
) -> None:
    await with_messages(path, 1)
    opened = await store.open_store(path)

    def two_turns(tx: Transaction) -> None:
        tx.agents.add(make.agent())
        tx.agents.keep_session(make.session())
        tx.turns.add(make.turn("t_1"))
        tx.turns.add(make.turn("t_2", status=Status.RUNNING))

    await opened.write(two_turns)
    saved = await opened.backup(tmp_path / "saved.db")
    await opened.close()
    restore.restore(saved, path)
    opened = await store.open_store(path)
    turns = await opened.read(lambda tx: tx.turns.list())
    assert [(t.id, t.status) for t in turns] == [
        ("t_2", Status.RUNNING),
        ("t_1", Status.CANCELLED),
    ]
    assert turns[1].ended and turns[1].message
    assert await opened.read(lambda tx: tx.agents.session(AgentId("a_1"))) is None
    await opened.close()


async def test_b5_what_was_there_is_kept_beside_it(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    await with_messages(path, 6)
    done = restore.restore(saved, path)
    assert done.aside is not None
    with closing(connect.open_raw(done.aside, {})) as raw:
        assert raw.execute("SELECT count(*) FROM messages").fetchone()[0] == 6
    again = restore.restore(saved, path)
    assert again.aside not in (None, done.aside)


async def test_b5_a_restore_into_an_empty_home(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    elsewhere = tmp_path / "other" / "home.db"
    done = restore.restore(saved, elsewhere)
    assert done.aside is None
    assert elsewhere.stat().st_mode & 0o777 == 0o600
    assert problems_of(elsewhere) == ()


async def test_b5_a_restore_over_a_ruined_database(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    ruined = b"\0" * path.stat().st_size
    path.write_bytes(ruined)
    with pytest.raises(base.StoreCorrupt):
        await store.open_store(path)
    done = restore.restore(saved, path)
    assert done.aside is not None and done.aside.read_bytes() == ruined
    assert done.head.generation == 2
    await (await store.open_store(path)).close()


async def test_b5_a_store_in_use_is_not_replaced(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 3)
    saved = backup.take(path, tmp_path / "three.db")
    opened = await store.open_store(path)
    with pytest.raises(base.InUse):
        restore.restore(saved, path)
    await opened.close()


async def test_b5_a_damaged_backup_changes_nothing(path: Path, tmp_path: Path) -> None:
    await with_messages(path, 40)
    saved = backup.take(path, tmp_path / "saved.db")
    content = bytearray(saved.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    saved.write_bytes(content)
    before, mark = path.read_bytes(), generation.read(path)
    with pytest.raises(base.StoreCorrupt):
        restore.restore(saved, path)
    assert (path.read_bytes(), generation.read(path)) == (before, mark)
    assert not list(path.parent.glob("*.restoring*"))


async def test_a_missing_backup_is_said(path: Path) -> None:
    with pytest.raises(base.NotFound):
        restore.restore(path.with_name("no.db"), path)


HOSTILE = {
    "trigger": "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM projects; END",
    "view": "CREATE VIEW v AS SELECT * FROM messages",
    "table": "CREATE TABLE extra (id)",
    "trigger that takes a table's name": "CREATE TRIGGER events AFTER DELETE ON keys "
    "BEGIN SELECT 1; END",
    "virtual table": "CREATE VIRTUAL TABLE events2 USING fts5(x)",
    "computed column": "ALTER TABLE projects ADD COLUMN e TEXT AS (hex(name))",
    "computing index": "CREATE INDEX i ON projects (lower(name))",
}


async def refuses(path: Path, hostile: Path) -> None:
    """The check itself: neither a restore nor an opening takes the file."""
    before = hostile.read_bytes()
    with pytest.raises(base.InvalidInput) as refused:
        restore.restore(hostile, path)
    assert refused.value.fix
    with pytest.raises(base.InvalidInput):
        await store.open_store(hostile)
    assert hostile.read_bytes() == before


@pytest.mark.parametrize("what", HOSTILE)
async def test_row_60_a_hostile_schema_is_refused(path: Path, tmp_path: Path, what: str) -> None:
    await with_messages(path, 2)
    hostile = backup.take(path, tmp_path / "hostile.db")
    with closing(sqlite3.connect(hostile)) as raw, raw:
        raw.execute(HOSTILE[what])
    before = path.read_bytes()
    await refuses(path, hostile)
    assert path.read_bytes() == before


async def test_statistics_of_another_tool_are_no_reason_to_refuse(path: Path) -> None:
    await with_messages(path, 2)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("ANALYZE")
    await (await store.open_store(path)).close()


async def test_row_60_twin_without_the_look_at_the_schema_a_trigger_acts(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_messages(path, 2)
    hostile = backup.take(path, tmp_path / "hostile.db")
    with closing(sqlite3.connect(hostile)) as raw, raw:
        raw.execute(HOSTILE["trigger"])
    monkeypatch.setattr(opening.schema, "refuse_foreign", lambda _: None)
    with pytest.raises(pytest.fail.Exception):
        await refuses(path, hostile)


async def test_row_60_no_extension_can_be_loaded(opened: SqliteStore) -> None:
    load = text("SELECT load_extension('x')")
    with pytest.raises(base.StoreError, match="not authorized"):
        await opened.read(lambda tx: tx._scope.rows(load))
