"""Hot statements are served by indexes: no scan of a large table, no sorting."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, Delete, Select, Update, create_engine, event

from mufakat.storage import (
    agents,
    conversations,
    events,
    keys,
    messages,
    packs,
    projects,
    store,
    turns,
)

MODULES = (agents, conversations, events, keys, messages, packs, projects, turns)
PARTS = {"_SELECT", "_WHOLE_ROWS", "_CLIPPED_ROWS"}
"""What statements are made from; never run as they are."""
STATEMENTS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, Select | Update | Delete) and name not in PARTS
} | {f"events._AFTER{how}": statement for how, statement in events._AFTER.items()}
GIVEN = {"of_kinds": ["a kind"], "about": "an id"}
MAY_SCAN = {"projects._LIST", "events._REVISION", "events._EPOCH"}
"""Short by nature: all projects, and the one head row."""
MAY_SORT = {"agents._LIST", "messages._LAST_BY_SPEAKER"}
"""Short by nature: one row an agent of one conversation."""


def plan_of(connection: Connection, statement: Select | Update | Delete) -> list[str]:
    """SQLite's plan for a statement, taken at the moment it is run."""
    plans: list[list[str]] = []

    def explain(_connection, cursor, sql: str, parameters, _context, _many) -> None:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        plans.append([str(row[3]) for row in cursor.fetchall()])

    event.listen(connection, "before_cursor_execute", explain)
    given = {name: GIVEN.get(name, 0) for name in statement.compile().params}
    connection.execute(statement, given)
    event.remove(connection, "before_cursor_execute", explain)
    connection.rollback()
    return plans[0]


@pytest.mark.anyio
async def test_statements_use_indexes(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    slow: dict[str, list[str]] = {}
    with engine.connect() as connection:
        for name, statement in STATEMENTS.items():
            plan = plan_of(connection, statement)
            scans = [line for line in plan if line.startswith("SCAN") and "USING" not in line]
            sorts = [line for line in plan if "TEMP B-TREE" in line]
            if (scans and name not in MAY_SCAN) or (sorts and name not in MAY_SORT):
                slow[name] = plan
    engine.dispose()
    assert not slow
    assert len(STATEMENTS) > 25


@pytest.mark.anyio
async def test_twin_without_its_index_a_statement_is_noticed(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP INDEX ix_messages_conversation_kind_number")
        plan = plan_of(connection, STATEMENTS["messages._LAST_OF_KIND"])
        assert not any("kind=?" in line for line in plan), plan
    engine.dispose()
