"""Opening: one schema whoever comes first, nothing foreign, and time that other servers share."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from equipment.postgres import Cluster
from equipment.store_records import TALK, Readings, number, say, talk_of
from mufakat.core import base
from mufakat.core.base import Event
from mufakat.storage import clock, migrate, postgres, postgres_address, tables

from .conftest import OpenHome

pytestmark = pytest.mark.anyio
HOUR = 3_600_000
NEXT = '''
"""A change of a later version, made for a test."""

import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{before}"


def upgrade() -> None:
    op.add_column("projects", sa.Column("colour", sa.Text(), nullable=True))
    {then}
'''


def scripts_with(tmp_path: Path, then: str) -> Path:
    """The real migrations and one more, which ends as `then` says."""
    scripts = tmp_path / "scripts"
    shutil.copytree(migrate.SCRIPTS, scripts)
    text = NEXT.format(before=migrate.newest(), then=then)
    (scripts / "versions" / "9001_next.py").write_text(text)
    return scripts


async def test_the_migrations_make_what_the_tables_say(cluster: Cluster, database: str) -> None:
    engine = create_engine(cluster.url(database).replace("postgresql", "postgresql+psycopg"))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        assert compare_metadata(context, tables.metadata) == []
    engine.dispose()


async def test_b6_servers_that_come_first_together_make_one_schema(
    cluster: Cluster, tmp_path: Path
) -> None:
    url = cluster.url(cluster.create())
    homes = [tmp_path / str(n) for n in range(4)]
    stores = await asyncio.gather(*(postgres.open_store(url, home=home) for home in homes))
    assert sum(store.opened.alone for store in stores) == 1
    epochs = {await store.read(lambda tx: tx.events.epoch()) for store in stores}
    assert len(epochs) == 1
    for store in stores:
        await store.close()


async def test_b6_a_migration_that_fails_changes_nothing(
    open_home: OpenHome, tmp_path: Path, sql: psycopg.Connection
) -> None:
    with pytest.raises(ValueError, match="no"):
        await open_home(scripts=scripts_with(tmp_path, 'raise ValueError("no")'))
    columns = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'colour'"
    assert sql.execute(columns).fetchone() == (0,)
    store = await open_home()
    assert dict((await store.check()).facts)["schema"] == migrate.newest()


async def test_b6_a_newer_schema_is_refused_and_an_older_waits_for_the_others(
    open_home: OpenHome, tmp_path: Path
) -> None:
    scripts = scripts_with(tmp_path, "pass")
    here = await open_home("one")
    with pytest.raises(base.InUse):
        await open_home("two", scripts=scripts)
    assert await here.write(lambda tx: tx.events.record(Event("x", "y"))) == 1
    await here.close()
    await (await open_home("two", scripts=scripts)).close()
    with pytest.raises(base.StoreNewer):
        await open_home("one")


async def test_a_foreign_database_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    name = cluster.create()
    cluster.execute("CREATE TABLE theirs (id int)", database=name)
    with pytest.raises(base.StoreError, match="not one of Mufakat's"):
        await postgres.open_store(cluster.url(name), home=tmp_path)


async def test_t1_a_second_server_goes_on_from_the_mark(open_home: OpenHome) -> None:
    first = Readings(wall_ms=10 * HOUR)
    one = await open_home("one", readings=first)
    at = await one.write(lambda tx: tx.now())
    two = await open_home("two", readings=Readings(wall_ms=20 * HOUR))
    assert await two.write(lambda tx: tx.now()) == at
    first.elapsed_ms += 5_000
    assert await one.write(lambda tx: tx.now()) == at + 5_000
    assert await two.read(lambda tx: tx.now()) >= at + 5_000
    assert await two.write(lambda tx: tx.now()) >= at + 5_000


async def test_t1_twin_each_with_its_own_wall_clock_jumps(
    open_home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = clock.HighWater.__init__
    monkeypatch.setattr(
        clock.HighWater,
        "__init__",
        lambda self, mark, readings, alone: original(self, mark, readings, alone=True),
    )
    with pytest.raises(AssertionError):
        await test_t1_a_second_server_goes_on_from_the_mark(open_home)


async def test_b7_damage_is_found_and_not_served(
    open_home: OpenHome, sql: psycopg.Connection
) -> None:
    store = await open_home()
    await store.write(talk_of(3))
    assert not (await store.check(deep=True)).problems
    sql.execute("UPDATE messages SET text = 'text 9' WHERE number = 2")
    sql.execute("UPDATE conversations SET talk = 7")
    with pytest.raises(base.StoreCorrupt):
        await store.read(lambda tx: tx.messages.get(number(2)))
    with pytest.raises(base.StoreCorrupt):
        await store.write(lambda tx: tx.events.record(Event("x", "y")))
    problems = (await store.check(deep=True)).problems
    assert any("m_000002" in problem for problem in problems)
    assert any("talk counter" in problem for problem in problems)
    sql.execute("ALTER TABLE speakers DROP CONSTRAINT fk_speakers_conversation")
    sql.execute("UPDATE speakers SET conversation = 'c_none'")
    problems = (await store.check()).problems
    assert any("missing row of conversations" in problem for problem in problems)


async def test_a_step_that_went_on_after_a_refusal_is_undone(open_home: OpenHome) -> None:
    """PostgreSQL ends a transaction at the first refusal; its neighbours must not notice."""
    store = await open_home()
    await store.write(talk_of(1))

    def swallows(tx: object) -> str:
        with pytest.raises(base.Conflict):
            tx.messages.append(TALK, say("again"), id=number(1))
        return "as if nothing had happened"

    def record(tx: object) -> int:
        return tx.events.record(Event("x", "y"))

    answers = await asyncio.gather(
        *(store.write(step) for step in (record, swallows, record)), return_exceptions=True
    )
    assert isinstance(answers[1], base.Conflict)
    assert [answers[0], answers[2]] == [1, 2]
    with pytest.raises(base.Conflict):
        await store.write(swallows)
    assert not (await store.check(deep=True)).problems


@pytest.mark.parametrize(
    ("text", "shown", "password"),
    [
        ("postgresql://me:pw@db.example:6432/team", "postgresql://me@db.example:6432/team", "pw"),
        ("postgres:///team?host=/run/pg&password=pw", "postgresql:///run/pg/team", "pw"),
        ("postgresql://me@/team?sslmode=require", "postgresql://me@localhost/team", ""),
        ("postgresql://me:p%40w@[::1]/x", "postgresql://me@::1/x", "p@w"),
    ],
)
def test_an_address_is_shown_without_its_secrets(text: str, shown: str, password: str) -> None:
    address = postgres_address.parse(text)
    assert (address.shown, address.password) == (shown, password)
    assert "pw" not in repr(address) and "p@w" not in repr(address)


@pytest.mark.parametrize(
    "text", ["mysql://me:hunter2@x/y", "hunter2", "postgresql://me:hunter2@x:port/y", "sqlite://"]
)
def test_what_is_not_an_address_is_not_repeated(text: str) -> None:
    with pytest.raises(base.InvalidInput) as caught:
        postgres_address.parse(text)
    assert "hunter2" not in str(caught.value) + caught.value.fix
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


async def test_a_password_from_the_environment_works_and_a_wrong_one_is_not_shown(
    cluster: Cluster, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = cluster.data / "pg_hba.conf"
    before = rules.read_text()
    cluster.execute("CREATE ROLE locked LOGIN PASSWORD 'right-one' SUPERUSER")
    rules.write_text("host all locked all scram-sha-256\n" + before)
    cluster.execute("SELECT pg_reload_conf()")
    url = cluster.url(database).replace("postgres@", "locked@")
    try:
        for text in (url, url.replace("locked@", "locked:wrong-one@")):
            with pytest.raises(base.Unavailable, match="password") as caught:
                await postgres.open_store(text, home=tmp_path)
            assert "wrong-one" not in str(caught.value)
        monkeypatch.setenv("PGPASSWORD", "right-one")
        store = await postgres.open_store(url, home=tmp_path)
        assert "right-one" not in str(await store.check())
        await store.close()
    finally:
        rules.write_text(before)
        cluster.execute("SELECT pg_reload_conf()")


def test_without_the_driver_the_extra_is_named(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "sys.modules['psycopg'] = None\n"
        "from mufakat.core import base\nfrom mufakat.storage import postgres\n"
        "try:\n"
        "    asyncio.run(postgres.open_store('postgresql://x/y', home=Path(sys.argv[1])))\n"
        "except base.Unavailable as missing:\n"
        "    print(missing.fix)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert "mufakat[postgres]" in done.stdout, done.stderr
