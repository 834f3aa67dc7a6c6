"""What starting an engine once takes; building it is pure, so that tables can test it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mufakat.core.coordination import hooks as moments
from mufakat.ports.engine import Run

BASE = (
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
)
"""Variables that every engine gets from ours; all others are named by their engine or user."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """One start: the command, its complete environment, and files to write first."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: bytes
    files: Mapping[str, str] = field(default_factory=dict)
    """Path below the run's workspace → text."""
    first_signal: signal.Signals = signal.SIGTERM
    grace: float = 5.0
    """Seconds that the engine gets to end by itself when it is stopped."""


def write(files: Mapping[str, str], workspace: Path) -> None:
    """Write the files for the owner alone, replacing what stands there."""
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "replace"))


def access(run: Run) -> Mapping[str, str]:
    """The variables by which the agent reaches the server, if it may."""
    return run.access.env if run.access else {}


def hooks(run: Run, engine: str) -> dict[str, list[object]]:
    """Our hooks in an engine's words: event → groups; empty for a run without hooks."""
    if not run.access or not run.access.hook:
        return {}
    told = moments.IN_A_RUN
    return moments.settings(engine, run.access.hook, home=run.access.home, moments=told)


def beside(theirs: Mapping[str, object], ours: Mapping[str, list[object]]) -> dict[str, object]:
    """The person's hooks with ours after them."""
    made = dict(theirs)
    for event, groups in ours.items():
        before = made.get(event)
        made[event] = [*(before if isinstance(before, list) else []), *groups]
    return made


def prune(folder: Path, keep: int) -> None:
    """Delete all but the newest `keep` files of a folder that may not be there yet."""
    if not folder.is_dir():
        return
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-keep]:
        path.unlink(missing_ok=True)


def compact(value: object) -> str:
    """JSON for an argument or a variable."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
