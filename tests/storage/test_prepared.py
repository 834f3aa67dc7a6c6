"""Statements that go past SQLAlchemy's execution answer and fail as those that do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from mufakat.storage import connect, prepared

THINGS = Table(
    "things", MetaData(), Column("id", Integer, primary_key=True), Column("name", Text, unique=True)
)
INSERT = insert(THINGS)
GET = select(THINGS.c.id, THINGS.c.name).where(THINGS.c.id == bindparam("key"))
SOME = select(THINGS.c.name).where(THINGS.c.id.in_(bindparam("keys", expanding=True)))
NEXT = (
    update(THINGS)
    .where(THINGS.c.id == bindparam("key"))
    .values(id=THINGS.c.id + 10)
    .returning(THINGS.c.id)
)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    path = tmp_path / "things.db"
    path.touch()
    with connect.writer(path).connect() as opened, opened.begin():
        THINGS.create(opened)
        yield opened


def ready(connection: Connection) -> prepared.Statements:
    found = prepared.of(connection)
    assert found is not None
    return found


def put(connection: Connection, **row: Any) -> int:
    changed = ready(connection).change(INSERT, row)
    assert changed is not None
    return changed


def test_rows_are_those_of_sqlalchemy(connection: Connection) -> None:
    assert put(connection, id=1, name="one") == 1
    mine = ready(connection).rows(GET, {"key": 1})
    theirs = connection.execute(GET, {"key": 1}).all()
    assert mine is not None and mine == theirs == [(1, "one")]
    assert mine[0]._asdict() == theirs[0]._asdict() == {"id": 1, "name": "one"}
    assert mine[0].name == "one"


def test_values_of_the_statement_itself_are_kept(connection: Connection) -> None:
    put(connection, id=1, name="one")
    assert ready(connection).rows(NEXT, {"key": 1}) == [(11,)]


def test_a_form_is_made_for_each_set_of_names(connection: Connection) -> None:
    put(connection, id=1, name="one")
    put(connection, id=2)
    assert connection.execute(GET, {"key": 2}).all() == [(2, None)]


def test_a_refusal_is_sqlalchemys_and_shows_no_value(connection: Connection) -> None:
    put(connection, id=1, name="secret")
    with pytest.raises(IntegrityError) as refused:
        put(connection, id=2, name="secret")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("statement", "params"), [(SOME, {"keys": [1]}), (GET, {})], ids=["a list", "a value missing"]
)
def test_what_it_cannot_do_is_left_to_sqlalchemy(
    connection: Connection, statement: Any, params: dict[str, Any]
) -> None:
    assert ready(connection).rows(statement, params) is None


def test_whoever_listens_hears_every_statement(connection: Connection) -> None:
    event.listen(connection, "before_cursor_execute", lambda *_: None)
    assert prepared.of(connection) is None


def test_a_statement_of_the_other_kind_is_left_to_sqlalchemy(connection: Connection) -> None:
    assert ready(connection).rows(INSERT, {"id": 1}) is None
    assert ready(connection).change(GET, {"key": 1}) is None
