"""Statements that go past SQLAlchemy to psycopg answer and fail as those that do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    event,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError, OperationalError

from equipment.postgres import Cluster
from mufakat.storage import postgres_address, postgres_prepared, postgres_sessions, prepared
from mufakat.storage.postgres_prepared import PostgresStatements
from mufakat.storage.postgres_sessions import Sessions

THINGS = Table(
    "things",
    MetaData(),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, unique=True),
    Column("size", Integer),
    Column("cost", Float),
)
INSERT = insert(THINGS)
GET = select(THINGS).where(THINGS.c.id == bindparam("key"))
SOME = select(THINGS.c.name).where(THINGS.c.id.in_(bindparam("keys", expanding=True)))
NEXT = (
    update(THINGS)
    .where(THINGS.c.id == bindparam("key"))
    .values(id=THINGS.c.id + 10, name=THINGS.c.name + "%s :x %(y)s")
    .returning(THINGS.c.id, THINGS.c.name)
)
EITHER = (
    select(THINGS.c.id)
    .where(or_(THINGS.c.id == bindparam("key"), THINGS.c.size == bindparam("key")))
    .order_by(THINGS.c.id)
    .limit(bindparam("most"))
)


@pytest.fixture
def connection(cluster: Cluster, database: str) -> Iterator[Connection]:
    sessions = Sessions(postgres_address.parse(cluster.url(database)), "mufakat-test")
    engine = sessions.engine("writer", postgres_sessions.WRITER)
    with engine.connect() as opened, opened.begin():
        THINGS.create(opened)
        yield opened


@pytest.fixture
def ready(connection: Connection) -> PostgresStatements:
    return postgres_prepared.of(connection)


def put(ready: PostgresStatements, **row: Any) -> int:
    changed = ready.change(INSERT, row)
    assert changed is not None
    return changed


def test_rows_are_those_of_sqlalchemy(connection: Connection, ready: PostgresStatements) -> None:
    assert put(ready, id=1, name="one \u00e9\u4e2d", size=None, cost=0.1) == 1
    mine, theirs = ready.rows(GET, {"key": 1}), connection.execute(GET, {"key": 1}).all()
    assert mine == theirs == [(1, "one \u00e9\u4e2d", None, 0.1)]
    assert mine[0]._asdict() == theirs[0]._asdict()
    assert [type(one) for one in mine[0]] == [type(one) for one in theirs[0]]
    total = select(func.sum(THINGS.c.id), func.count(), func.max(THINGS.c.name))
    assert ready.rows(total, {}) == connection.execute(total).all()


def test_the_scope_of_a_transaction_finds_them(
    connection: Connection, ready: PostgresStatements
) -> None:
    assert prepared.of(connection) is ready is postgres_prepared.of(connection)


def test_values_of_the_statement_itself_are_kept(ready: PostgresStatements) -> None:
    put(ready, id=1, name="one")
    assert ready.rows(NEXT, {"key": 1}) == [(11, "one%s :x %(y)s")]


def test_a_value_that_stands_twice_and_names_in_any_order(ready: PostgresStatements) -> None:
    put(ready, id=1, name="one", size=2)
    put(ready, id=2, name="two", size=1)
    for params in ({"key": 1, "most": 9}, {"most": 9, "key": 1}):
        assert ready.rows(EITHER, params) == [(1,), (2,)]
    assert ready.rows(EITHER, {"key": 1, "most": 1}) == [(1,)]


def test_numbers_of_all_sizes_are_one_statement_of_the_server(
    connection: Connection, ready: PostgresStatements
) -> None:
    for number in (1, 40_000, 3_000_000_000, 2**62):
        put(ready, id=number, name=f"{number}", size=7)
        assert len(ready.rows(GET, {"key": number}) or ()) == 1
    kept = connection.exec_driver_sql("SELECT statement FROM pg_prepared_statements").all()
    assert len([one for (one,) in kept if "things" in one]) == 2


def test_a_refusal_is_sqlalchemys_and_shows_no_value(ready: PostgresStatements) -> None:
    put(ready, id=1, name="secret")
    with pytest.raises(IntegrityError) as refused:
        put(ready, id=2, name="secret", size=1_234_567)
    assert "1234567" not in str(refused.value)


@pytest.mark.parametrize(("row", "kind"), [({"id": 2**70}, DataError), ({"name": "\0"}, DataError)])
def test_a_value_that_does_not_fit_is_refused(
    ready: PostgresStatements, row: dict[str, Any], kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        put(ready, **{"id": 1, **row})


@pytest.mark.parametrize(
    ("statement", "params"), [(SOME, {"keys": [1]}), (GET, {})], ids=["a list", "a value missing"]
)
def test_what_it_cannot_do_is_left_to_sqlalchemy(
    ready: PostgresStatements, statement: Any, params: dict[str, Any]
) -> None:
    assert ready.rows(statement, params) is None


def test_a_statement_of_the_other_kind_is_left_to_sqlalchemy(ready: PostgresStatements) -> None:
    assert ready.rows(INSERT, {"id": 1}) is None
    assert ready.change(GET, {"key": 1}) is None


def test_whoever_listens_hears_every_statement(
    connection: Connection, ready: PostgresStatements
) -> None:
    event.listen(connection, "before_cursor_execute", lambda *_: None)
    assert prepared.of(connection) is None


def test_a_savepoint_undoes_its_part_alone(
    connection: Connection, ready: PostgresStatements
) -> None:
    ready.execute("SAVEPOINT step")
    put(ready, id=1, name="one")
    ready.execute("RELEASE SAVEPOINT step; SAVEPOINT step")
    put(ready, id=2, name="two")
    with pytest.raises(IntegrityError):
        put(ready, id=3, name="two")
    ready.execute("ROLLBACK TO SAVEPOINT step")
    assert [row[0] for row in connection.execute(select(THINGS.c.id)).all()] == [1]


def test_a_commit_that_undoes_is_an_error(
    connection: Connection, ready: PostgresStatements
) -> None:
    put(ready, id=1, name="one")
    with pytest.raises(IntegrityError):
        put(ready, id=1, name="two")
    with pytest.raises(OperationalError, match="undone"):
        ready.commit()


def test_a_lost_connection_is_told_as_such(
    connection: Connection, ready: PostgresStatements, sql: psycopg.Connection
) -> None:
    put(ready, id=1, name="one")
    assert not postgres_prepared.lost(connection)
    sql.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = %s",
        ("mufakat-test writer",),
    )
    with pytest.raises(OperationalError):
        ready.rows(GET, {"key": 1})
    assert postgres_prepared.lost(connection)
    with pytest.raises(OperationalError):
        connection.rollback()
