"""What a database file may consist of: our tables and indexes, nothing that acts by itself."""

from __future__ import annotations

import sqlite3

from mufakat.core import base
from mufakat.storage import connect, coordination_tables

VERSION_TABLE = "alembic_version"
STATISTICS = ("sqlite_stat1", "sqlite_stat4")
"""Left by ANALYZE, which a person may have run with another tool."""


def refuse_foreign(connection: sqlite3.Connection) -> None:
    """Raise InvalidInput for a file with triggers, views or anything that is not ours.

    Only the schema is read; nothing in the file has run by then.
    """
    known = {*coordination_tables.metadata.tables, VERSION_TABLE, *STATISTICS}
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    if rows and connection.execute("PRAGMA application_id").fetchone()[0] != connect.APPLICATION_ID:
        raise _refused("it is not a database of Mufakat's")
    for kind, name, table, sql in rows:
        if kind not in ("table", "index") or table not in known:
            raise _refused(f"it has a {kind} named {str(name)[:80]!r}")
        if kind == "table" and (name != table or "virtual" in str(sql).split("(")[0].lower()):
            raise _refused(f"its table {str(name)[:80]!r} is not an ordinary one")
    for table in {row[2] for row in rows}:
        _refuse_expressions(connection, table)


def _refuse_expressions(connection: sqlite3.Connection, table: str) -> None:
    columns = connection.execute("SELECT hidden FROM pragma_table_xinfo(?)", (table,)).fetchall()
    if any(hidden for (hidden,) in columns):
        raise _refused(f"its table {table} has computed columns")
    indexes = connection.execute("SELECT name FROM pragma_index_list(?)", (table,)).fetchall()
    for (name,) in indexes:
        keys = connection.execute("SELECT cid FROM pragma_index_info(?)", (name,)).fetchall()
        if any(place == -2 for (place,) in keys):
            raise _refused(f"its index {name} computes")


def _refused(why: str) -> base.InvalidInput:
    return base.InvalidInput(
        f"The file was not opened: {why}.", fix="choose a backup that Mufakat has written"
    )
