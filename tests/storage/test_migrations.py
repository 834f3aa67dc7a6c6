"""Schema changes: complete or not at all, from every released schema, also from a wheel."""

from __future__ import annotations

# ruff: noqa: ASYNC221, ASYNC240 - a test may block its own loop
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Delete, Insert, Select, Update, create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from equipment import store_records as make
from equipment.store_records import TALK
from mufakat.core import base
from mufakat.storage import coordination_tables as tables
from mufakat.storage import head_row, migrate, reset, store

from .golden import build
from .statements import MODULES

pytestmark = pytest.mark.anyio
GOLDEN = sorted(Path(build.__file__).parent.glob("*.db"))
NEXT = '''
"""A change of a later version, made for a test."""

import os

import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{before}"


def upgrade() -> None:
    op.add_column("projects", sa.Column("colour", sa.Text(), nullable=True))
    op.execute("UPDATE projects SET name = name || ' (new)'")
    {then}
'''


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda path: path.stem)
async def test_q14_every_released_schema_comes_to_the_newest(golden: Path, path: Path) -> None:
    path.parent.mkdir()
    shutil.copy(golden, path)
    opened = await store.open_store(path)
    facts = dict((await opened.check(deep=True)).facts)
    assert facts["schema"] == migrate.newest()
    assert not (await opened.check(deep=True)).problems
    assert await opened.read(build.contents) == build.expected(golden.stem)
    assert await opened.write(lambda tx: tx.events.record(base.Event("x", "y")))
    await opened.close()


def test_there_is_a_golden_database_of_the_newest_schema() -> None:
    assert migrate.newest() in {path.stem for path in GOLDEN}


async def test_the_migrations_make_what_the_tables_say(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, tables.metadata) == []
    engine.dispose()


def scripts_with(tmp_path: Path, then: str) -> Path:
    """The real migrations and one more, which ends as `then` says."""
    scripts = tmp_path / "scripts"
    shutil.copytree(migrate.SCRIPTS, scripts)
    text = NEXT.format(before=migrate.newest(), then=then)
    (scripts / "versions" / "9001_next.py").write_text(text)
    return scripts


async def filled(path: Path) -> None:
    opened = await store.open_store(path)
    await opened.write(make.setup)
    await opened.close()


def schema_and_name(path: Path) -> tuple[str, str]:
    with closing(sqlite3.connect(path)) as raw:
        version = raw.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        return version, raw.execute("SELECT name FROM projects").fetchone()[0]


async def test_b6_a_migration_backs_up_first(path: Path, tmp_path: Path) -> None:
    await filled(path)
    opened = await store.open_store(path, scripts=scripts_with(tmp_path, "pass"))
    assert await opened.read(lambda tx: tx.conversations.get(TALK)) == make.conversation()
    await opened.close()
    assert schema_and_name(path) == ("9001", "demo (new)")
    (saved,) = (path.parent / "backups").iterdir()
    assert schema_and_name(saved) == (migrate.newest(), "demo")
    with pytest.raises(base.StoreNewer):
        await store.open_store(path)


async def test_b6_a_new_database_is_not_backed_up(path: Path) -> None:
    await filled(path)
    assert not (path.parent / "backups").exists()


async def all_or_nothing(path: Path, scripts: Path) -> None:
    """The check itself: a migration that fails leaves the database as it was."""
    with pytest.raises(Exception):  # noqa: B017, PT011
        await store.open_store(path, scripts=scripts)
    assert schema_and_name(path) == (migrate.newest(), "demo")
    opened = await store.open_store(path)
    assert not (await opened.check(deep=True)).problems
    await opened.close()


async def test_b6_a_migration_that_fails_changes_nothing(path: Path, tmp_path: Path) -> None:
    await filled(path)
    await all_or_nothing(path, scripts_with(tmp_path, 'raise ValueError("no")'))


async def test_b6_a_migration_that_breaks_references_changes_nothing(
    path: Path, tmp_path: Path
) -> None:
    await filled(path)
    await all_or_nothing(path, scripts_with(tmp_path, 'op.execute("DELETE FROM projects")'))


async def test_b6_twin_a_migration_that_commits_in_between_is_caught(
    path: Path, tmp_path: Path
) -> None:
    await filled(path)
    early = 'op.execute("COMMIT"); raise ValueError("no")'
    with pytest.raises(AssertionError):
        await all_or_nothing(path, scripts_with(tmp_path, early))


async def test_q3_a_migration_killed_in_the_middle_changes_nothing(
    path: Path, tmp_path: Path
) -> None:
    await filled(path)
    scripts = scripts_with(tmp_path, f"os.kill(os.getpid(), {int(signal.SIGKILL)})")
    program = (
        "import asyncio, sys; from pathlib import Path; from mufakat.storage import store\n"
        "asyncio.run(store.open_store(Path(sys.argv[1]), scripts=Path(sys.argv[2])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(scripts)], check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL
    opened = await store.open_store(path)
    assert not (await opened.check(deep=True)).problems
    await opened.close()
    assert schema_and_name(path) == (migrate.newest(), "demo")


def test_the_migrations_are_in_the_wheel(tmp_path: Path) -> None:
    root = Path(migrate.__file__).parents[3]
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=root,
        check=True,
        capture_output=True,
        timeout=100,
    )
    (wheel,) = tmp_path.glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "site", "zip")
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from mufakat.storage import store, migrate\n"
        "assert str(migrate.SCRIPTS).startswith(sys.argv[2]), migrate.SCRIPTS\n"
        "async def main():\n"
        "    opened = await store.open_store(Path(sys.argv[1]))\n"
        "    print((await opened.check()).problems)\n"
        "    await opened.close()\n"
        "asyncio.run(main())\n"
    )
    site = str(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "x.db"), site],
        env={**os.environ, "PYTHONPATH": site},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout.strip(), done.returncode) == ("()", 0), done.stderr


def test_postgresql_understands_the_same_tables_and_statements() -> None:
    dialect = postgresql.dialect()
    for table in tables.metadata.sorted_tables:
        made = str(CreateTable(table).compile(dialect=dialect))
        assert "STRICT" not in made
        for index in table.indexes:
            CreateIndex(index).compile(dialect=dialect)
    statements = [
        value
        for module in (*MODULES, head_row, reset)
        for value in vars(module).values()
        if isinstance(value, Select | Insert | Update | Delete)
    ]
    assert len(statements) > 30
    for statement in statements:
        assert str(statement.compile(dialect=dialect))
