"""Where a user's Mufakat lives: one folder, and the names of the files in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

DATABASE = "mufakat.db"
TOKEN = "token"
JOIN_TOKEN = "join-token"
SERVER = "server.json"
SETTINGS = "settings.toml"
BACKUPS = "backups"
SERVER_LOG = "logs/server.log"
START_LOG = "logs/start.log"
CRASH_LOG = "logs/cli.log"


def default_home(environ: Mapping[str, str]) -> Path:
    """`MUFAKAT_HOME`, else `mufakat` in the platform's data folder."""
    if chosen := environ.get("MUFAKAT_HOME", ""):
        return Path(chosen).expanduser().absolute()
    return _data_folder(environ, sys.platform) / "mufakat"


def _data_folder(environ: Mapping[str, str], platform: str) -> Path:
    user = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if platform == "darwin":
        return user / "Library" / "Application Support"
    chosen = environ.get("XDG_DATA_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    return Path(chosen) if os.path.isabs(chosen) else user / ".local" / "share"  # noqa: PTH117


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner may enter, whatever the umask is."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
