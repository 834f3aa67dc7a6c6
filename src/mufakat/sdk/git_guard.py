"""Git hook program: refuses a commit or push of what another agent holds.

Run as `python -I -S git_guard.py pre-commit|pre-push` by the hook that `mufakat hooks install git`
writes. The standard library alone; a server that does not answer never stops anybody.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SECONDS = 2.0
REFUSED = 1
MOST = 2_000
"""Paths asked about in one commit."""
HEADS = "refs/heads/"


class Silent(Exception):
    """No server answered; the hook lets everything pass."""


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer the exit code that git obeys."""
    kind = argv[0] if argv else ""
    try:
        door = find(environ)
        problem = stale(door, environ) or (
            held_paths(door, staged()) if kind == "pre-commit" else held_branches(door, pushed())
        )
    except Silent:
        return 0
    if problem:
        sys.stderr.write(f"mufakat: {problem}\n  To go on all the same: --no-verify\n")
    return REFUSED if problem else 0


class Door:
    """The server, and the token that is used."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url.rstrip("/")
        self._token = token

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send one request; raises Silent where no answer of use comes."""
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            f"{self._url}/api/v1{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                return json.loads(answer.read())
        except (OSError, ValueError) as problem:
            raise Silent from problem


def find(environ: Mapping[str, str]) -> Door:
    """The server of the environment, else that of the home; raises Silent."""
    home = _home(environ)
    url, token = environ.get("MUFAKAT_URL", ""), environ.get("MUFAKAT_TOKEN", "")
    try:
        url = url or str(json.loads((home / "server.json").read_text("utf-8"))["url"])
        token = token or (home / "token").read_text("ascii").strip()
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Silent from problem
    if not url.startswith(("http://", "https://")):
        raise Silent
    return Door(url, token)


def _home(environ: Mapping[str, str]) -> Path:
    if environ.get("MUFAKAT_HOME"):
        return Path(environ["MUFAKAT_HOME"]).expanduser()
    user = Path(environ.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return user / "Library" / "Application Support" / "mufakat"
    data = environ.get("XDG_DATA_HOME", "")
    return (Path(data) if data.startswith("/") else user / ".local" / "share") / "mufakat"


def stale(door: Door, environ: Mapping[str, str]) -> str:
    """What is wrong with the fence that a `mufakat guard` handed down."""
    resource, fence = environ.get("MUFAKAT_RESOURCE", ""), environ.get("MUFAKAT_FENCE", "")
    if not resource or not fence:
        return ""
    found = door.ask("POST", "/leases/check", {"resource": resource, "fence": fence})
    return "" if found["valid"] else f"the lease on {_shown(resource)} is lost."


def staged() -> list[str]:
    """Absolute paths of what is to be committed."""
    top = _git("rev-parse", "--show-toplevel").strip()
    names = _git("diff", "--cached", "--name-only", "-z", "--no-renames").split("\0")
    return [f"{top}/{name}" for name in names if name][:MOST]


def held_paths(door: Door, paths: Sequence[str]) -> str:
    """Who holds one of the paths, in a sentence; empty where nobody else does."""
    if not paths:
        return ""
    holder = door.ask("POST", "/leases/guard", {"paths": list(paths)})["holder"]
    if not holder:
        return ""
    reason = f" ({_shown(holder['reason'])})" if holder.get("reason") else ""
    return f"{_shown(holder['resource'])} is held by {_shown(holder['holder'])}{reason}."


def pushed() -> list[str]:
    """Names of the branches that are pushed to, by what git writes to the hook's stdin."""
    rows = [line.split() for line in sys.stdin.read().splitlines()]
    refs = [row[2] for row in rows if len(row) == 4]
    return [ref.removeprefix(HEADS) for ref in refs if ref.startswith(HEADS)]


def held_branches(door: Door, branches: Sequence[str]) -> str:
    """Who holds one of the branches, in a sentence."""
    for branch in branches:
        query = urllib.parse.urlencode({"resource": f"branch:{branch}"})
        for lease in door.ask("GET", f"/leases?{query}")["items"]:
            me = door.ask("GET", "/agents/me")["identity"]
            if lease["holder"] != me:
                return f"the branch {_shown(branch)} is held by {_shown(lease['holder'])}."
    return ""


def _git(*words: str) -> str:
    argv = ["git", "-c", "core.fsmonitor=false", *words]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as problem:
        raise Silent from problem
    return os.fsdecode(done.stdout)


def _shown(text: object) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(text))[:200]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
