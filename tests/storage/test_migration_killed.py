"""kill -9 in the middle of every migration: the schema before it or the one after, and all data."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from equipment import migrating
from mufakat.storage import migrate, store

from .golden import build

pytestmark = pytest.mark.anyio
GOLDEN = Path(build.__file__).parent
STATEMENTS = {"new": 88, "0001": 75, "0002": 33, "0003": 23}
"""About so many a migration from there on runs; what is beyond them kills nothing."""


def schema(path: Path) -> str | None:
    """Which schema a file has; None for none."""
    with closing(sqlite3.connect(path)) as raw:
        if not raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
            return None
        found = raw.execute("SELECT version_num FROM alembic_version").fetchone()
        return found[0] if found else None


def run(folder: Path, begin: str, kills: int) -> dict[int, bool]:
    """Migrate copies of one database, each killed elsewhere; answers which of them were."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    if begin != "new":
        shutil.copy(GOLDEN / f"{begin}.db", folder / migrating.START)
    most = STATEMENTS[begin]
    points = range(most) if kills >= most else random.Random(seed).sample(range(most), kills)
    done = subprocess.run(
        [sys.executable, migrating.__file__, str(folder), *map(str, points)],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = (line.split() for line in done.stdout.splitlines())
    return {int(number): word == "1" for number, word in lines}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("begin", STATEMENTS)
async def test_q3_a_killed_migration_leaves_the_old_schema_or_the_new_one(
    tmp_path: Path, begin: str, kills: int
) -> None:
    found = run(tmp_path, begin, kills)
    assert any(found.values())
    for number in found:
        path = tmp_path / str(number) / "mufakat.db"
        before = None if begin == "new" else begin
        assert not path.exists() or schema(path) in {before, migrate.newest()}
        opened = await store.open_store(path, reserve_bytes=0)
        assert not (await opened.check(deep=True)).problems
        if begin != "new":
            assert await opened.read(build.contents) == build.expected(begin)
        await opened.close()
        assert schema(path) == migrate.newest()
