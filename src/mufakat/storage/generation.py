"""A side file that remembers how far the database had come, so that an old copy is noticed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from mufakat.core import base
from mufakat.storage import files
from mufakat.storage.scope import Head


@dataclass(frozen=True, slots=True)
class Mark:
    """The newest state of the database that this home has seen."""

    generation: int
    epoch: str
    revision: int


def mark_of(head: Head) -> Mark:
    """The mark that a head row leaves."""
    return Mark(head.generation, head.epoch, head.revision)


def path_of(database: Path) -> Path:
    """Where the side file of a database lies."""
    return database.with_name(database.name + ".gen")


def read(database: Path) -> Mark | None:
    """The mark of a database; None where there is none or it cannot be read."""
    try:
        found = json.loads(path_of(database).read_text())
        return Mark(int(found["generation"]), str(found["epoch"]), int(found["revision"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(database: Path, mark: Mark) -> None:
    """Replace the side file durably."""
    files.replace(path_of(database), json.dumps(asdict(mark)).encode())


def refuse_missing(database: Path) -> None:
    """Raise StoreRolledBack where the database has vanished; an empty one must not replace it."""
    mark = read(database)
    gone = not database.exists() or not database.stat().st_size
    if gone and mark is not None and mark.revision:
        raise base.StoreRolledBack(
            f"The database {database} is gone, but this home has seen revision {mark.revision}.",
            fix="put the file back, use `mufakat restore`, or start anew with --accept-rollback",
        )


def refuse_rollback(mark: Mark | None, head: Head) -> None:
    """Raise StoreRolledBack where the database is older than its side file knows."""
    if mark is None or head.generation > mark.generation:
        return
    older = head.generation < mark.generation
    other = head.epoch != mark.epoch
    if older or other or head.revision < mark.revision:
        raise base.StoreRolledBack(
            f"The database stands at generation {head.generation}, revision {head.revision}, "
            f"but this home has already seen generation {mark.generation}, "
            f"revision {mark.revision}: an old or foreign copy was put in its place.",
            fix="put the newer file back, use `mufakat restore`, or start with --accept-rollback",
            generation=head.generation,
            revision=head.revision,
        )
