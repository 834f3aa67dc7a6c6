"""Finds the server of a home, if one is running."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mufakat.sdk import bearer, errors, home
from mufakat.sdk.client import Client, Endpoint

HEALTH_SECONDS = 2.0
URL, TOKEN = "MUFAKAT_URL", "MUFAKAT_TOKEN"
"""Environment variables that name a server and what opens it."""


def find(place: Path) -> Endpoint | None:
    """The endpoint of the server that runs in the home `place`; None when there is none.

    A record left behind by a killed server is no server: its process must live and answer for
    itself.
    """
    recorded = read(place)
    if recorded is None or not alive(recorded.pid):
        return None
    # Without the token: another program may listen where a killed server did.
    nobody = Endpoint(recorded.url)
    try:
        health = Client(nobody).get("/health", again=False, seconds=HEALTH_SECONDS)
    except errors.ServerError:
        return None
    genuine = isinstance(health, dict) and health.get("name") == "mufakat"
    return recorded if genuine and health.get("pid") == recorded.pid else None


def given(environ: Mapping[str, str], place: Path) -> Endpoint | None:
    """The server and the token of an agent, for whatever runs in its name.

    They stand in the environment; `MUFAKAT_TOKEN` alone goes to the server of the home `place`.
    Else the hooks of the session that started us have kept its bearer.
    """
    token, url = environ.get(TOKEN, ""), environ.get(URL, "")
    if not token:
        token, url = bearer.find(place, os.getppid()), ""
    if not token:
        return None
    if url:
        return Endpoint(url.rstrip("/"), token)
    found = find(place)
    return None if found is None else Endpoint(found.url, token, found.pid, found.version)


def read(place: Path) -> Endpoint | None:
    """What the home's `server.json` and `token` say, unchecked; None when they say nothing."""
    try:
        record: Any = json.loads((place / home.SERVER).read_text(encoding="utf-8"))
        token = (place / home.TOKEN).read_text(encoding="ascii").strip()
        endpoint = Endpoint(
            str(record["url"]).rstrip("/"),
            token,
            int(record["pid"]),
            str(record.get("version", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return endpoint if endpoint.url.startswith("http://") and endpoint.pid > 0 else None


def alive(pid: int) -> bool:
    """Whether a process of that id runs; one that has ended but was not yet reaped does not."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return not _ended(pid)


def _ended(pid: int) -> bool:
    """Whether it waits for its parent: in a container nobody may ever ask for its end."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[:1] in ([b"Z"], [b"X"])
