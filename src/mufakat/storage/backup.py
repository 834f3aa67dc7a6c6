"""Copies that are known to be good: made by the backup API in one step, then checked."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from itertools import count as count_from
from pathlib import Path

from mufakat.core import base
from mufakat.storage import check, connect, errors, files

KEPT = 7
PATTERN = re.compile(r"mufakat-\d{8}T\d{6}Z-.+\.db")


def folder_of(database: Path) -> Path:
    """Where backups that nobody asked for by hand lie."""
    return database.parent / "backups"


def name(now: base.Millis, note: str) -> str:
    """A file name that sorts by time; `note` tells what the backup is of."""
    moment = datetime.fromtimestamp(now / 1000, UTC)
    return f"mufakat-{moment:%Y%m%dT%H%M%SZ}-{note}.db"


def free(folder: Path, now: base.Millis, *, note: str, suffix: str = ".db") -> str:
    """A name that no file of the folder has: two backups of one second are two files."""
    notes = chain([note], (f"{note}-{count}" for count in count_from(2)))
    names = (Path(name(now, one)).with_suffix(suffix).name for one in notes)
    return next(one for one in names if not (folder / one).exists())


def newest(folder: Path) -> Path | None:
    """The newest backup in a folder."""
    found = _all(folder)
    return found[-1] if found else None


def into(database: Path, target: Path, now: base.Millis, note: str) -> Path:
    """Back up into the new file `target`; a folder gets a file under a free name of ours."""
    if not target.is_dir():
        return take(database, target)
    made = take(database, target / free(target, now, note=note))
    prune(target)
    return made


def take(database: Path, target: Path, *, records: bool = True) -> Path:
    """Copy `database` to the new file `target`, check the copy, and answer its path.

    Writers go on meanwhile. `records` is False for an older schema, whose records only its own
    version could check. Raises Conflict where `target` exists and StoreCorrupt where the
    copy is not sound; no file remains then.
    """
    if target.exists():
        raise base.Conflict(f"{target} exists already; choose another name for the backup.")
    files.private_folder(target.parent)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    try:
        copy(database, part)
        refuse_unsound(part, records=records)
        files.sync(part)
        part.rename(target)
        files.sync(target.parent)
    finally:
        remove(part)
    return target


def copy(database: Path, target: Path, *, query: str = "mode=ro") -> None:
    """Copy one consistent state of `database` into the new file `target`."""
    files.private_file(target)
    with (
        errors.translated(),
        closing(connect.open_raw(database, {"trusted_schema": 0}, query=query)) as source,
        closing(sqlite3.connect(target, isolation_level=None)) as copied,
    ):
        source.backup(copied, pages=-1)
        copied.execute("PRAGMA journal_mode=DELETE").fetchall()


def refuse_unsound(database: Path, *, records: bool = True) -> None:
    """Raise StoreCorrupt with the first problem that a check finds."""
    engine = connect.single(database, query="mode=ro")
    try:
        with errors.translated(), engine.connect() as connection:
            found = check.pages(connection, deep=True) + check.foreign_keys(connection)
            if records and not found:
                found = check.invariants(connection)
    finally:
        engine.dispose()
    if found:
        raise base.StoreCorrupt(
            f"{database.name} is not sound: {found[0]}.", fix="choose an older backup"
        )


def prune(folder: Path, *, keep: int = KEPT) -> None:
    """Remove all but the newest backups that carry our own names."""
    for path in _all(folder)[:-keep]:
        path.unlink(missing_ok=True)


def remove(database: Path) -> None:
    """Remove a database file with everything beside it that SQLite made."""
    for end in ("", "-wal", "-shm", "-journal"):
        database.with_name(database.name + end).unlink(missing_ok=True)


def _all(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    ours = (path for path in folder.iterdir() if PATTERN.fullmatch(path.name))
    return sorted(ours, key=lambda path: path.stem)
