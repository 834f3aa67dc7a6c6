"""The server's own files in a home: its two tokens, and who serves it. Owner only."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from mufakat import __version__
from mufakat.core.base import InvalidInput
from mufakat.sdk import home as homes


def token(home: Path) -> str:
    """The operator's token, made at the first start; whatever its mode was, it is 0600 now."""
    return _kept(home, homes.TOKEN)


def join_token(home: Path) -> str:
    """The token that lets agents join and their hooks report, kept like the operator's."""
    return _kept(home, homes.JOIN_TOKEN)


def _kept(home: Path, name: str) -> str:
    path = homes.private_folder(home) / name
    with suppress(FileExistsError):
        _create(path, secrets.token_urlsafe(32))
    path.chmod(0o600)
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if len(text) < 32 or not all("!" <= char <= "~" for char in text):
        raise InvalidInput(
            f"{path} does not hold a token.", fix="Delete the file; the server makes a new one."
        )
    return text


def record(home: Path, url: str) -> Path:
    """Say in the home who serves it and where."""
    path = home / homes.SERVER
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    about = {"pid": os.getpid(), "url": url, "started": now, "version": __version__}
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.unlink(missing_ok=True)
    _create(part, json.dumps(about) + "\n")
    part.replace(path)
    return path


def forget(home: Path) -> None:
    """Remove our record; a later server's stays."""
    path = home / homes.SERVER
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads(path.read_text(encoding="utf-8"))["pid"] == os.getpid():
            path.unlink()


def _create(path: Path, text: str) -> None:
    # Complete or not there: a reader must never see half a token.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, text.encode())
        os.fsync(handle)
        os.link(part, path)
    finally:
        os.close(handle)
        part.unlink()
