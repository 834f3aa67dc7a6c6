"""Schema changes: forward only, one transaction each, never over a newer schema."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from mufakat.core import base
from mufakat.storage import check, connect

SCRIPTS = Path(__file__).parent / "migrations"
VERSION_TABLE = "alembic_version"


def current(connection: Connection) -> str | None:
    """The revision of the schema in this database; None for an empty one."""
    names = inspect(connection).get_table_names()
    if VERSION_TABLE not in names:
        if names:
            raise base.StoreError(
                "This is a database, but not one of Mufakat's; choose another one.",
                fix="choose another folder with --home, or an empty database",
            )
        return None
    row = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").first()
    return None if row is None else str(row[0])


def newest(scripts: Path = SCRIPTS) -> str:
    """The revision that this version of Mufakat works with."""
    return str(_directory(scripts).get_current_head())


def refuse_newer(revision: str | None, *, scripts: Path = SCRIPTS) -> None:
    """Raise StoreNewer where the schema is one that this version does not know."""
    known = {script.revision for script in _directory(scripts).walk_revisions()}
    if revision is not None and revision not in known:
        raise base.StoreNewer(
            f"The database has schema {revision}, this Mufakat knows up to {newest(scripts)}; "
            "upgrade Mufakat, or restore a backup made before the upgrade.",
            fix="upgrade Mufakat",
            revision=revision,
        )


def upgrade(connection: Connection, *, scripts: Path = SCRIPTS) -> None:
    """Bring the schema to the newest revision inside the connection's open transaction.

    On SQLite, foreign keys must be off on this connection; they are checked before the caller
    commits.
    """
    config = _config(scripts)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"PRAGMA application_id={connect.APPLICATION_ID}")
    problems = check.foreign_keys(connection)
    if problems:
        raise base.StoreCorrupt(f"After the migration: {problems[0]}; nothing was changed.")


def _config(scripts: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _directory(scripts: Path) -> ScriptDirectory:
    return ScriptDirectory.from_config(_config(scripts))
