"""What opening refuses, says and leaves behind."""

# ruff: noqa: ASYNC240 - a test may block its own loop

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import stat
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from equipment import store_records as make
from equipment import store_writer
from equipment.store_records import TALK, number, say
from mufakat.core import base
from mufakat.core.base import Event
from mufakat.storage import generation, lock, opening, store

pytestmark = pytest.mark.anyio


async def holder(path: Path) -> asyncio.subprocess.Process:
    """A second process that has the database open."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        store_writer.__file__,
        str(path),
        "1",
        "hold",
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    return process


async def end(process: asyncio.subprocess.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()


async def is_refused(path: Path, pid: int) -> None:
    """The check itself: a second opening fails fast and names the first."""
    before = time.monotonic()
    with pytest.raises(base.InUse) as refused:
        await store.open_store(path)
    assert time.monotonic() - before < 3
    assert refused.value.detail["pid"] == pid
    assert refused.value.detail["address"] == "http://127.0.0.1:1"
    assert str(pid) in str(refused.value) and "http://127.0.0.1:1" in str(refused.value)
    assert refused.value.fix


async def test_b2_a_second_process_is_refused_and_told_who_has_it(path: Path) -> None:
    process = await holder(path)
    try:
        await is_refused(path, process.pid)
    finally:
        await end(process)
    opened = await store.open_store(path)
    assert await opened.read(lambda tx: tx.conversations.get(store_writer.TALK))
    await opened.close()


async def test_b2_twin_without_the_lock_two_servers_share_a_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await holder(path)
    monkeypatch.setattr(
        lock, "acquire", lambda *_, **__: lock.Lock(os.open("/dev/null", os.O_RDWR))
    )
    monkeypatch.setattr(lock.Lock, "release", lambda self: None)
    try:
        with pytest.raises(pytest.fail.Exception):
            await is_refused(path, process.pid)
    finally:
        await end(process)


async def test_b2_the_same_process_cannot_open_twice_either(path: Path) -> None:
    opened = await store.open_store(path)
    with pytest.raises(base.InUse):
        await store.open_store(path)
    await opened.close()


async def test_b2_a_link_to_the_database_has_the_same_lock(path: Path) -> None:
    opened = await store.open_store(path)
    link = path.parent.parent / "link.db"
    link.symlink_to(path)
    with pytest.raises(base.InUse):
        await store.open_store(link)
    await opened.close()


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_b2_network_file_systems_are_refused(kind: str) -> None:
    mounts = (
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        f"40 22 0:52 / /home/my\\040files rw - {kind} server:/x rw\n"
    )
    with pytest.raises(base.Unavailable, match=kind.partition(".")[0]) as refused:
        lock.refuse_network(Path("/home/my files/deep/mufakat.db"), mounts=mounts)
    assert "--force" in refused.value.fix
    lock.refuse_network(Path("/home/other/mufakat.db"), mounts=mounts)


def test_b2_a_network_folder_with_a_name_in_any_script_is_refused() -> None:
    mounts = "40 22 0:52 / /home/данные\\0401 rw - nfs4 server:/x rw\n"
    with pytest.raises(base.Unavailable, match="nfs4"):
        lock.refuse_network(Path("/home/данные 1/mufakat.db"), mounts=mounts)


async def test_b6_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    await (await store.open_store(path)).close()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    before = path.read_bytes()
    with pytest.raises(base.StoreNewer, match="9999"):
        await store.open_store(path)
    assert path.read_bytes() == before


async def test_b3_an_older_copy_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(lambda tx: tx.events.record(Event("old", "x")))
    await opened.close()
    shutil.copy(path, tmp_path / "old.db")
    opened = await store.open_store(path)
    await opened.write(lambda tx: tx.events.record(Event("new", "x")))
    epoch = await opened.read(lambda tx: tx.events.epoch())
    await opened.close()
    shutil.copy(tmp_path / "old.db", path)
    with pytest.raises(base.StoreRolledBack) as refused:
        await store.open_store(path)
    assert "--accept-rollback" in refused.value.fix
    opened = await store.open_store(path, accept_rollback=True)
    assert await opened.read(lambda tx: tx.events.epoch()) != epoch
    assert dict((await opened.check()).facts)["generation"] == "2"
    await opened.close()
    await (await store.open_store(path)).close()


async def test_b3_another_database_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    for where in (path, tmp_path / "other.db"):
        opened = await store.open_store(where)
        await opened.write(lambda tx: tx.events.record(Event("x", "y")))
        await opened.close()
    shutil.copy(tmp_path / "other.db", path)
    with pytest.raises(base.StoreRolledBack):
        await store.open_store(path)


async def test_b3_a_lost_write_ahead_log_is_noticed(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.close()
    torn = path.read_bytes()
    opened = await store.open_store(path)
    await opened.write(lambda tx: tx.events.record(Event("x", "y")))
    await opened.close()
    path.write_bytes(torn)
    with pytest.raises(base.StoreRolledBack):
        await store.open_store(path)


async def test_b3_a_vanished_database_is_not_replaced_by_an_empty_one(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(lambda tx: tx.events.record(Event("x", "y")))
    await opened.close()
    path.unlink()
    with pytest.raises(base.StoreRolledBack):
        await store.open_store(path)
    assert not path.exists()
    opened = await store.open_store(path, accept_rollback=True)
    await opened.close()


async def test_b3_a_damaged_side_file_does_not_lock_anybody_out(path: Path) -> None:
    await (await store.open_store(path)).close()
    generation.path_of(path).write_text("{not json")
    await (await store.open_store(path)).close()
    assert generation.read(path) is not None


@pytest.mark.parametrize(
    "content",
    [b"this is not a database, it only pretends" * 200, b"SQLite format 3\0" + b"x" * 5000],
)
async def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(base.StoreCorrupt) as refused:
        await store.open_store(path)
    assert refused.value.fix
    assert path.read_bytes() == content


async def test_somebody_elses_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE messages (id)")
    before = path.read_bytes()
    with pytest.raises(base.InvalidInput):
        await store.open_store(path)
    assert path.read_bytes() == before


async def test_a_folder_in_its_place_is_an_error_with_a_fix(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(base.MufakatError) as refused:
        await store.open_store(path)
    assert refused.value.fix


async def test_a_failed_opening_lets_go_of_the_lock(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"x" * 5000)
    for _ in range(2):
        with pytest.raises(base.StoreCorrupt):
            await store.open_store(path)
    path.unlink()
    await (await store.open_store(path)).close()


async def test_row_67_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        path = tmp_path / "new" / "home" / "mufakat.db"
        opened = await store.open_store(path, reserve_bytes=4096)
        await opened.write(make.setup)
        await opened.backup(path.parent / "backups" / "one.db")
        modes = {
            file.relative_to(tmp_path).as_posix(): stat.S_IMODE(file.stat().st_mode)
            for file in (tmp_path / "new").rglob("*")
        }
        modes["new"] = stat.S_IMODE((tmp_path / "new").stat().st_mode)
        await opened.close()
    finally:
        os.umask(old)
    wanted = {name: 0o600 for name in modes} | {
        "new": 0o700,
        "new/home": 0o700,
        "new/home/backups": 0o700,
    }
    assert modes == wanted
    assert {f"new/home/mufakat.db{end}" for end in ("", "-wal", "-shm", ".gen", ".lock")} < set(
        modes
    )


async def test_row_67_a_database_that_others_could_read_is_closed_to_them(path: Path) -> None:
    await (await store.open_store(path)).close()
    path.chmod(0o644)
    opened = await store.open_store(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    await opened.close()


async def reads_but_does_not_write(opened: store.SqliteStore) -> None:
    assert opened.read_only
    got = await opened.read(lambda tx: tx.messages.get(number(1)))
    assert got is not None and got.text == "kept"
    with pytest.raises(base.StoreReadOnly) as refused:
        await opened.write(lambda tx: tx.events.record(Event("x", "y")))
    assert refused.value.fix
    assert not (await opened.check(deep=True)).problems
    assert await opened.wait(base.Revision(0), seconds=0.01) == 0
    await opened.close()


async def one_message(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(make.setup)
    await opened.write(lambda tx: tx.messages.append(TALK, say("kept"), id=number(1)))
    await opened.close()


async def test_a_read_only_database_is_opened_for_reading(path: Path) -> None:
    await one_message(path)
    before = path.read_bytes()
    await reads_but_does_not_write(await store.open_store(path, read_only=True))
    assert path.read_bytes() == before


async def test_a_file_that_cannot_be_written_is_opened_for_reading(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await one_message(path)
    real = os.access
    monkeypatch.setattr(os, "access", lambda at, mode: mode != os.W_OK and real(at, mode))
    assert opening.read_only(path)
    await reads_but_does_not_write(await store.open_store(path))


def test_a_missing_file_is_not_read_only(tmp_path: Path) -> None:
    assert not opening.read_only(tmp_path / "no.db")
