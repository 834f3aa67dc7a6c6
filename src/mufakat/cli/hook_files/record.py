"""Remembers in the home what was put into which file, so that it can be taken out exactly."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mufakat.sdk import home as homes

FILE = "hooks/installed.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """What one installation did."""

    pieces: tuple[str, ...]
    created: bool = False
    """The file was not there before."""
    folders: tuple[str, ...] = ()
    """Folders that were not there before, outermost first."""


def read(home: Path, path: Path) -> Entry | None:
    """What was done to a file, if it is known."""
    found = _all(home).get(str(path))
    if not isinstance(found, dict):
        return None
    pieces, folders = found.get("pieces"), found.get("folders")
    if not isinstance(pieces, list) or not isinstance(folders, list):
        return None
    return Entry(tuple(map(str, pieces)), bool(found.get("created")), tuple(map(str, folders)))


def keep(home: Path, path: Path, entry: Entry | None) -> None:
    """Remember an entry, or forget it."""
    entries = _all(home)
    entries.pop(str(path), None)
    if entry is not None:
        entries[str(path)] = asdict(entry)
    homes.private_folder(homes.private_folder(home) / Path(FILE).parent)
    write(home / FILE, json.dumps(entries, indent=2) + "\n", mode=0o600)


def _all(home: Path) -> dict[str, object]:
    try:
        found = json.loads((home / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, text: str, *, mode: int | None = None) -> Sequence[str]:
    """Replace a file as a whole or not at all; links and modes stay. Answers folders it made."""
    target = path.resolve()
    missing = [folder for folder in reversed(target.parents) if not folder.exists()]
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if mode is None:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(handle)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
    return [str(folder) for folder in missing]
