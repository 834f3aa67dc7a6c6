"""A side file that remembers which PostgreSQL this home has used, and how far it had come."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from mufakat.core import base
from mufakat.storage import files
from mufakat.storage.scope import Head

FILE = "postgres.gen"


@dataclass(frozen=True, slots=True)
class Mark:
    """The newest state of one database that this home has seen."""

    address: str
    """Without secrets."""
    system: str
    timeline: str
    generation: int
    epoch: str
    revision: int


def mark_of(address: str, system: str, timeline: str, *, head: Head) -> Mark:
    """The mark that a head row leaves."""
    return Mark(address, system, timeline, head.generation, head.epoch, head.revision)


def read(home: Path) -> tuple[Mark, ...]:
    """Every database's mark; none where there is no file or it cannot be read."""
    try:
        found = json.loads((home / FILE).read_text("utf-8"))
        return tuple(Mark(**{**one, "revision": int(one["revision"])}) for one in found)
    except (OSError, ValueError, KeyError, TypeError):
        return ()


def write(home: Path, mark: Mark) -> None:
    """Replace what is known of this database durably."""
    others = [one for one in read(home) if not _same(one, mark)]
    data = json.dumps([asdict(one) for one in (*others, mark)], indent=1)
    files.replace(home / FILE, data.encode())


def refuse_rollback(marks: Iterable[Mark], found: Mark) -> None:
    """Raise StoreRolledBack where the database is older than known, or not the known one."""
    for known in marks:
        if not _same(known, found) or found.generation > known.generation:
            continue
        behind = found.generation < known.generation or found.revision < known.revision
        if behind or found.epoch != known.epoch:
            raise _refused(found, known, "an old or foreign copy is in its place")
        if _moved(known.system, found.system) or _moved(known.timeline, found.timeline):
            raise _refused(found, known, "a failover may have lost the newest writes")


def _same(one: Mark, other: Mark) -> bool:
    """Whether both tell of one database: by its address, or by the history that it holds."""
    return one.address == other.address or one.epoch == other.epoch


def _moved(was: str, now: str) -> bool:
    return bool(was and now) and was != now


def _refused(found: Mark, known: Mark, why: str) -> base.StoreRolledBack:
    return base.StoreRolledBack(
        f"The database at {found.address} stands at generation {found.generation}, revision "
        f"{found.revision}; this home has seen generation {known.generation}, revision "
        f"{known.revision} of it on another server or in a newer state: {why}.",
        fix="bring the newer database back, or start with --accept-rollback",
        generation=found.generation,
        revision=found.revision,
    )
