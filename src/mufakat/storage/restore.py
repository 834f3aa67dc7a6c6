"""Putting a backup in place: into a new file, checked first, with a history of its own."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import bindparam, delete, update

from mufakat.core import base
from mufakat.core.talk.turn import Status
from mufakat.storage import (
    backup,
    connect,
    errors,
    files,
    generation,
    head_row,
    lock,
    opening,
    tables,
)
from mufakat.storage.clock import SystemReadings
from mufakat.storage.scope import Head

# What was queued when the backup was made may have run since, and an engine's session knows
# more than the restored records do.
_CANCEL_QUEUED = (
    update(tables.turns)
    .where(tables.turns.c.status == Status.QUEUED.value)
    .values(
        status=Status.CANCELLED.value,
        ended=bindparam("now"),
        message="The database was restored from a backup; ask again if it is still wanted.",
    )
)
_FORGET_SESSIONS = delete(tables.sessions)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put in place, and where the database before it now lies."""

    path: Path
    head: Head
    aside: Path | None


def restore(source: Path, target: Path, *, force: bool = False) -> Restored:
    """Put the backup `source` in place of the database `target`.

    No server may have `target` open (InUse). A file with triggers, views or foreign tables is
    refused (InvalidInput), a damaged one too (StoreCorrupt). Cursors of the old history get a
    reset, since generation and epoch are new. Queued turns are cancelled and engines' sessions
    forgotten. The file that was there is kept beside it.
    """
    source, target = source.resolve(), target.resolve()
    if not source.is_file():
        raise base.NotFound(f"There is no backup at {source}.")
    with ExitStack() as undo, errors.translated(), errors.files():
        files.private_folder(target.parent)
        if not force:
            lock.refuse_network(target)
        undo.callback(lock.acquire(target).release)
        part = target.with_name(target.name + ".restoring")
        backup.remove(part)
        undo.callback(backup.remove, part)
        query = opening.readable_by(source)
        opening.inspect(source, query=query)
        backup.copy(source, part, query=query)
        opening.prepare(part, SystemReadings().wall(), keep_old=False)
        head = _begin(part, at_least=_generation_of(target))
        backup.refuse_unsound(part)
        aside = _put_in_place(part, target)
        generation.write(target, generation.mark_of(head))
    return Restored(target, head, aside)


def _begin(part: Path, *, at_least: int) -> Head:
    engine = connect.single(part)
    try:
        with engine.connect() as connection:
            with connection.begin():
                head = head_row.begin_generation(
                    connection, head_row.read(connection), at_least=at_least
                )
                connection.execute(_FORGET_SESSIONS)
                connection.execute(_CANCEL_QUEUED, {"now": head.hwm})
            connect.driver_connection(connection).execute("PRAGMA journal_mode=DELETE").fetchall()
    finally:
        engine.dispose()
    return head


def _generation_of(target: Path) -> int:
    """The highest generation that `target` or its side file ever had; damage counts as none."""
    mark = generation.read(target)
    known = mark.generation if mark else 0
    if target.exists() and target.stat().st_size:
        try:
            with errors.translated():
                engine = connect.single(target, query="mode=ro")
                with closing(engine.connect()) as connection:
                    known = max(known, head_row.read(connection).generation)
                engine.dispose()
        except base.StoreError:
            return known
    return known


def _put_in_place(part: Path, target: Path) -> Path | None:
    aside = None
    if target.exists():
        _empty_log(target)
        aside = _free_name(target)
        aside.hardlink_to(target)
        for end in ("-wal", "-shm"):
            beside = target.with_name(target.name + end)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + end))
    files.sync(part)
    part.replace(target)
    files.sync(target.parent)
    return aside


def _free_name(target: Path) -> Path:
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    names = (f"{target.name}.before-restore-{stamp}{end}" for end in ("", *map(str, range(100))))
    free = (target.with_name(name) for name in names)
    return next(path for path in free if not path.exists())


def _empty_log(target: Path) -> None:
    """Move what is only in the log into the file that is kept, where it is sound enough."""
    try:
        with errors.translated(), closing(connect.open_raw(target, connect.SAFE)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except base.MufakatError:
        return
