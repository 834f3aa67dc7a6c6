"""Starts a detached server and waits until it answers, or says what kept it from starting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from mufakat.core.base import Unavailable
from mufakat.core.terminal_text import clean
from mufakat.sdk import discovery, home
from mufakat.sdk.client import Endpoint
from mufakat.sdk.errors import ServerError

START_SECONDS = 15.0
LOOK_SECONDS = 0.1
TAIL_LINES = 12


def start(place: Path, *, port: int | None = None, store: str | None = None) -> Endpoint:
    """Start a detached server and wait until it answers; raises what kept it from starting."""
    child = start_detached(place, port=port, store=store)
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        found = discovery.find(place)
        if found is not None:
            return found
        ended = child.poll()
        if ended is not None and not _another_one_starts(place, ended):
            raise _why(place, ended)
        time.sleep(LOOK_SECONDS)
    raise Unavailable(
        f"The server did not answer within {START_SECONDS:.0f} seconds.",
        fix=f"Look into {place / home.SERVER_LOG}.",
    )


def start_detached(
    place: Path, *, port: int | None = None, store: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a server that outlives this command; what it prints goes to its start log."""
    log = place / home.START_LOG
    home.private_folder(place)
    home.private_folder(log.parent)
    # -P: a file in the current folder must not stand in for a module.
    argv = [sys.executable, "-P", "-m", "mufakat", "--home", str(place), "--json", "up"]
    argv += [] if port is None else ["--port", str(port)]
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        return subprocess.Popen(
            argv,
            cwd=place,
            # Arguments are public; an address may hold a password.
            env=None if store is None else {**os.environ, "MUFAKAT_STORE": store},
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)


def _another_one_starts(place: Path, ended: int) -> bool:
    """Whether the start failed only because somebody else's was quicker."""
    if ended == 0:
        return True
    recorded = discovery.read(place)
    return _told(place)[0] == "in_use" and recorded is not None and discovery.alive(recorded.pid)


def _why(place: Path, ended: int) -> ServerError:
    code, message, fix = _told(place)
    if code:
        return ServerError(message, code=code, fix=fix)
    tail = "\n".join(f"  {clean(line)}" for line in _log(place)[-TAIL_LINES:])
    return ServerError(
        f"The server ended at once (exit code {ended}).\n{tail}".rstrip(),
        code="internal",
        fix=f"Look into {place / home.START_LOG}, or run `mufakat up` to see it start.",
    )


def _told(place: Path) -> tuple[str, str, str]:
    """The error that the starting server printed: code, message, fix; empty where none."""
    for line in reversed(_log(place)):
        try:
            error = json.loads(line)["error"]
            return str(error["code"]), str(error["message"]), str(error["fix"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    return "", "", ""


def _log(place: Path) -> list[str]:
    try:
        text = (place / home.START_LOG).read_bytes()[-65_536:].decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in text.split("\n") if line.strip()]
