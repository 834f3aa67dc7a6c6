"""From SQLite to PostgreSQL and back: every row of every table, and a history of its own."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Table

from equipment import command
from equipment.postgres import Cluster
from mufakat import app as application
from mufakat.core.base import Event
from mufakat.settings import Settings, load
from mufakat.storage import archive, store, tables, transfer
from storage.golden import build

from .conftest import OpenHome

pytestmark = pytest.mark.anyio
ALPHABET = "aZ09 é😀\n\t\u2028'\"\\%\U0010ffff"


def settings(home: Path, url: str = "") -> Settings:
    home.mkdir(exist_ok=True)
    (home / "settings.toml").write_text(f'store = "{url}"\n')
    return load(home)


def contents(path: Path) -> dict[str, archive.Content]:
    """What an archive says of each table but the head row, which goes on."""
    return {one.name: one for one in transfer.verify(path).tables if one.name != "head"}


async def there_and_back(start: Settings, url: str, folder: Path) -> None:
    """The check itself: three archives of one store, moved twice, say the same."""
    files = [folder / f"{n}.gz" for n in range(3)]
    rows = await application.export(start, files[0])
    assert await application.import_archive(settings(folder / "team", url), files[0]) == rows
    assert await application.export(settings(folder / "team", url), files[1]) == rows
    assert await application.import_archive(settings(folder / "back"), files[1]) == rows
    assert await application.export(settings(folder / "back"), files[2]) == rows
    assert contents(files[0]) == contents(files[1]) == contents(files[2])


async def filled(home: Path) -> Settings:
    opened = await store.open_store(home / "mufakat.db", reserve_bytes=0)
    await opened.write(build.fill)
    await opened.close()
    return settings(home)


async def test_nothing_is_lost_between_the_two_databases(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    start = await filled(tmp_path / "start")
    await there_and_back(start, cluster.url(database), tmp_path)
    opened = [await application.open_store(one) for one in (start, settings(tmp_path / "back"))]
    before, after = [await one.read(build.contents) for one in opened]
    assert before == after
    old, new = [dict((await one.check(deep=True)).facts) for one in opened]
    assert (old["generation"], new["generation"]) == ("1", "3")
    assert old["epoch"] != new["epoch"] and old["revision"] == new["revision"]
    head = int(old["revision"])
    assert await opened[1].write(lambda tx: tx.events.record(Event("x", "y"))) == head + 1
    assert not (await opened[1].check(deep=True)).problems
    for one in opened:
        await one.close()


def random_rows(path: Path, dice: random.Random, count: int) -> None:
    """Rows with any values, in every table there is, that refer to each other as they must."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA foreign_keys=ON")
        raw.execute("BEGIN")
        for table in tables.metadata.sorted_tables:
            if table.name != "head":
                for number in range(count):
                    insert(
                        raw,
                        table,
                        {name: value(table, name, number, dice) for name in names_of(table)},
                    )
        raw.execute("UPDATE head SET revision = 77, hwm = 88")
        raw.execute("COMMIT")


def names_of(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def insert(raw: sqlite3.Connection, table: Table, row: dict[str, object]) -> None:
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    raw.execute(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', tuple(row.values()))


def value(table: Table, name: str, number: int, dice: random.Random) -> object:
    column = table.c[name]
    kind = column.type.python_type
    unique = column.primary_key or column.unique or bool(column.foreign_keys) or name == "number"
    if kind is str:
        return f"k{number}" if unique else "".join(dice.choices(ALPHABET, k=dice.randrange(40)))
    if unique:
        return number
    if kind is bytes:
        return dice.randbytes(dice.randrange(40))
    if column.nullable and dice.random() < 0.3:
        return None
    if kind is float:
        return dice.choice([0.0, 1.0, 0.1, -2.5e-300, 1.7e308, dice.random()])
    return dice.choice([0, 1, -1, (1 << 63) - 1, -(1 << 63), dice.randrange(1 << 40)])


async def test_any_row_of_any_table_comes_through(
    cluster: Cluster, database: str, tmp_path: Path
) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    start = settings(tmp_path / "start")
    await (await application.open_store(start)).close()
    random_rows(tmp_path / "start" / "mufakat.db", random.Random(seed), 300)
    await there_and_back(start, cluster.url(database), tmp_path)
    assert {one.rows for one in contents(tmp_path / "2.gz").values()} == {300}


async def test_twin_a_database_that_changes_a_value_is_noticed(
    open_home: OpenHome, tmp_path: Path, sql: object
) -> None:
    """The import compares what the database gives back, before it counts."""
    start = await filled(tmp_path / "start")
    await application.export(start, tmp_path / "0.gz")
    sql.execute(  # type: ignore[attr-defined]
        "CREATE FUNCTION alter_it() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN NEW.title := NEW.title || '!'; RETURN NEW; END $$"
    )
    sql.execute(  # type: ignore[attr-defined]
        "CREATE TRIGGER t BEFORE INSERT ON conversations FOR EACH ROW EXECUTE FUNCTION alter_it()"
    )
    opened = await open_home()
    with pytest.raises(Exception, match="not stored as it was read"):
        await opened.write(transfer.load(tmp_path / "0.gz"))
    assert await opened.read(lambda tx: len(tx.projects.list())) == 0


def test_the_commands_move_a_home(cluster: Cluster, database: str, tmp_path: Path) -> None:
    alone, team = command.fresh(tmp_path / "alone"), command.fresh(tmp_path / "team")
    team.environ["MUFAKAT_STORE"] = cluster.url(database)
    try:
        assert alone.ask("remember the teapot").code == 0
        busy = alone.run("export", str(tmp_path / "a.gz"))
        assert busy.error["code"] == "in_use"
        alone.run("up", "--stop")
        exported = alone.run("export", str(tmp_path / "a.gz"))
        assert exported.json["rows"] > 5, exported.err
        imported = team.run("import", str(tmp_path / "a.gz"))
        assert imported.json["rows"] == exported.json["rows"], imported.err
        assert "teapot" in team.run("conversations").out
        again = team.run("import", str(tmp_path / "a.gz"))
        assert again.error["code"] in ("conflict", "in_use")
    finally:
        alone.kill()
        team.kill()
