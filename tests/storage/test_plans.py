"""Hot statements are served by indexes: no scan of a large table, no sorting."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, Delete, Select, Update, create_engine, event

from mufakat.storage import events, instances, store

from .statements import MODULES

PARTS = {"_SELECT", "_WHOLE_ROWS", "_CLIPPED_ROWS", "_TOPIC", "_LINE"}
"""What statements are made from; never run as they are."""
STATEMENTS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, Select | Update | Delete) and name not in PARTS
}
STATEMENTS |= {f"events._AFTER{how}": statement for how, statement in events._AFTER.items()}
STATEMENTS |= {f"instances._LIST{how}": statement for how, statement in instances._LIST.items()}
GIVEN = {
    "of_kinds": ["a kind"],
    "of_resources": ["a key"],
    "about": "an id",
    "all_entries": b"",
}
MAY_SCAN = {"projects._LIST", "events._HEAD", "events._REVISION", "events._EPOCH"}
"""Short by nature: all projects, and the one head row."""
MAY_SORT = {"agents._LIST", "messages._LAST_BY_SPEAKER", "envelopes._AWAITED", "notices._LIVE"}
"""Short by nature: one row an agent of one conversation, what somebody waits for, live notices."""
HOT = {
    "inbox._PAGE_OPEN": "ix_deliveries_open",
    "inbox._HELD": "ix_deliveries_held",
    "inbox._OFFER_ENDS": "ix_deliveries_offered",
    "envelopes._AWAITED": "ix_deliveries_awaited",
    "envelopes._DUE": "ix_envelopes_due",
    "envelopes._EARLIEST": "ix_envelopes_due",
    "leases._OPEN": "ix_leases_open",
    "leases._LOCKED": "ix_leases_locked",
    "leases._RESTED": "ix_leases_locked",
    "leases._OF_HOLDER": "ix_leases_holder",
    "leases._EARLIEST": "ix_leases_due",
    "leases._OF_KEYS": "ix_lease_resources_live",
    "leases._IN_FORCE": "ix_lease_resources_live",
    "leases._PATTERNS": "ix_lease_resources_pattern",
    "leases._HELD": "ix_leases_holder",
    "leases._PAST_HALF": "ix_leases_holder",
    "instances._IN_ROLE_PROJECT": "ix_instances_project_online",
    "instances._LIST(False, True)": "ix_instances_online",
    "credentials._END": "ix_credentials_live",
    "reactions._ACTIVE": "ix_reactions_active",
}
"""Asked all the time, and served by an index that holds only what is not over yet."""


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
async def test_what_is_over_costs_the_hot_statements_nothing(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        for name, index in HOT.items():
            plan = plan_of(connection, STATEMENTS[name])
            assert any(f"INDEX {index}" in line for line in plan), (name, plan)
            where = connection.exec_driver_sql(
                "SELECT sql FROM sqlite_schema WHERE name = ?", (index,)
            )
            assert " WHERE " in where.scalar_one()
    engine.dispose()


@pytest.mark.anyio
async def test_twin_without_its_index_a_statement_is_noticed(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP INDEX ix_messages_conversation_kind_number")
        plan = plan_of(connection, STATEMENTS["messages._LAST_OF_KIND"])
        assert not any("kind=?" in line for line in plan), plan
    engine.dispose()


@pytest.mark.anyio
async def test_twin_without_the_index_of_open_mail_all_of_it_is_read(path: Path) -> None:
    await (await store.open_store(path)).close()
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        connection.exec_driver_sql("DROP INDEX ix_deliveries_open")
        plan = plan_of(connection, STATEMENTS["inbox._PAGE_OPEN"])
        assert not any("ix_deliveries_open" in line for line in plan), plan
    engine.dispose()
