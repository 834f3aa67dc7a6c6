"""Lending the user's Gemini login to a private home, without breaking or forking it.

The credential files are links. A CLI that writes through them changes the user's own files, as
the user's own `gemini` would; one that renames a new file over a link leaves a private copy,
which is moved to the user's place afterwards unless the user's file has changed meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

LENT = (
    "oauth_creds.json",
    "google_accounts.json",
    "installation_id",
    "gemini-credentials.json",
    ".env",
)
RECORD = "lent.json"


def lend(user: Path, private: Path) -> None:
    """Link the user's credential files into `private`, after settling what a crash left there."""
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    settle(user, private)
    record: dict[str, str] = {}
    for name in LENT:
        theirs, ours = user / name, private / name
        if not theirs.is_file():
            continue
        with suppress(FileNotFoundError):
            ours.unlink()
        ours.symlink_to(theirs)
        record[name] = _stamp(theirs)
    path = private / RECORD
    path.touch(mode=0o600)
    path.write_text(json.dumps(record), encoding="utf-8")


def settle(user: Path, private: Path) -> tuple[str, ...]:
    """Give files back that the CLI has put in the place of their links; names those given."""
    given: list[str] = []
    for name, stamp in _record(private).items():
        theirs, ours = user / name, private / name
        if not _is_own_file(ours):
            continue
        if _stamp(theirs) == stamp:
            _replace(ours, theirs)
            given.append(name)
        ours.unlink(missing_ok=True)
        if theirs.is_file():
            ours.symlink_to(theirs)
    return tuple(given)


def kind(user: Path, env: Mapping[str, str]) -> str:
    """The way to log in: as the user's settings say, else as keys and files suggest."""
    try:
        settings = json.loads((user / "settings.json").read_text(encoding="utf-8"))
        chosen = settings["security"]["auth"]["selectedType"]
    except (OSError, ValueError, KeyError, TypeError):
        chosen = ""
    if isinstance(chosen, str) and chosen:
        return chosen
    if env.get("GEMINI_API_KEY"):
        return "gemini-api-key"
    if env.get("GOOGLE_GENAI_USE_VERTEXAI"):
        return "vertex-ai"
    return "oauth-personal" if (user / "oauth_creds.json").exists() else "gemini-api-key"


def _record(private: Path) -> dict[str, str]:
    try:
        data = json.loads((private / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: str(data[name]) for name in LENT if isinstance(data, dict) and name in data}


def _is_own_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _stamp(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{state.st_ino}:{state.st_size}:{state.st_mtime_ns}"


def _replace(source: Path, target: Path) -> None:
    """Put a copy of `source` in the place of `target`, whole or not at all; links are followed."""
    target = target.resolve()
    beside = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with source.open("rb") as old, os.fdopen(_create(beside), "wb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
