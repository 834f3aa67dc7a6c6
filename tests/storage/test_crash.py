"""kill -9 in the middle of writing: what was acknowledged is there, and nothing is torn."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from equipment import store_writer
from mufakat.core.base import MessageId, Revision
from mufakat.storage import check, connect, store

pytestmark = pytest.mark.anyio


def killed_round(path: Path, name: str, seconds: float) -> dict[str, int]:
    """Let a process write for a while, kill it, and answer what it was told is stored."""
    process = subprocess.Popen(
        [sys.executable, store_writer.__file__, str(path), name], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    lines = [line.split() for line in (first + rest).splitlines(keepends=True) if line[-1] == "\n"]
    return {id: int(revision) for id, revision in lines}


def lost(path: Path, acknowledged: dict[str, int]) -> list[str]:
    """The check itself: acknowledged messages that are not there under their revision."""
    with closing(connect.open_raw(path, {})) as raw:
        there = dict(raw.execute("SELECT subject, revision FROM events").fetchall())
        said = {row[0] for row in raw.execute("SELECT id FROM messages").fetchall()}
    return [id for id, at in acknowledged.items() if there.get(id) != at or id not in said]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", [20, pytest.param(200, marks=pytest.mark.slow)])
async def test_q3_kill_9_loses_nothing_that_was_acknowledged(path: Path, rounds: int) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    acknowledged: dict[str, int] = {}
    for number in range(rounds):
        acknowledged |= killed_round(path, f"{number:03d}", dice.random() / 5)
        engine = connect.single(path, query="mode=ro")
        with engine.connect() as connection:
            assert not check.health(connection, deep=False).problems
        engine.dispose()
        assert not lost(path, acknowledged)
    assert len(acknowledged) > rounds
    opened = await store.open_store(path)
    assert not (await opened.check(deep=True)).problems
    head = await opened.read(lambda tx: tx.events.head())
    assert head >= max(acknowledged.values())
    last = max(acknowledged, key=lambda id: acknowledged[id])
    assert await opened.read(lambda tx: tx.messages.get(MessageId(last)))
    log = await opened.read(lambda tx: tx.events.after(Revision(head - 5), limit=10))
    assert [event.revision for event in log] == list(range(head - 4, head + 1))
    await opened.close()


def test_q3_twin_answering_before_the_commit_loses_messages(tmp_path: Path) -> None:
    """A writer that acknowledges first and commits later must fail the same check."""
    path = tmp_path / "early.db"
    script = (
        "import sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('CREATE TABLE events (revision INTEGER PRIMARY KEY, subject TEXT)')\n"
        "db.execute('CREATE TABLE messages (id TEXT)')\n"
        "db.execute('BEGIN IMMEDIATE')\n"
        "for n in range(1, 100):\n"
        "    db.execute('INSERT INTO events VALUES (?, ?)', (n, f'm_{n}'))\n"
        "    db.execute('INSERT INTO messages VALUES (?)', (f'm_{n}',))\n"
        "    print(f'm_{n}', n, flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    lines = [process.stdout.readline().split() for _ in range(50)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stdin.close()
    with pytest.raises(AssertionError):
        assert not lost(path, {id: int(at) for id, at in lines})


async def test_q3_a_database_whose_making_was_interrupted_is_made_anew(path: Path) -> None:
    path.parent.mkdir()
    script = (
        "import os, signal, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "db.execute('PRAGMA cache_size=1')\n"
        "db.execute('BEGIN IMMEDIATE')\n"
        "db.execute('CREATE TABLE projects (id TEXT)')\n"
        "for _ in range(50):\n"
        "    db.execute('INSERT INTO projects VALUES (hex(randomblob(2000)))')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=30)
    assert done.returncode == -signal.SIGKILL
    assert path.stat().st_size and path.with_name(path.name + "-journal").stat().st_size
    opened = await store.open_store(path, reserve_bytes=0)
    assert not (await opened.check(deep=True)).problems
    await opened.close()
