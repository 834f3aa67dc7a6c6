"""Resources as a person types them: paths count from the current folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from mufakat.sdk import errors
from mufakat.sdk.client import Client

PATHS = ("file:", "repo:")


def absolute(names: Iterable[str]) -> list[str]:
    """The same resources with paths from the root on; a plain name of a repository stays."""
    return [_absolute(name) for name in names]


def register(client: Client) -> str:
    """Make the current folder a project; answers its id, empty for an agent, which has its own."""
    try:
        return str(client.post("/projects", {"path": str(Path.cwd())})["id"])
    except errors.ServerError as problem:
        if problem.code == "not_allowed":
            return ""
        raise


def _absolute(name: str) -> str:
    kind = next((kind for kind in PATHS if name.startswith(kind)), "")
    rest = name.removeprefix(kind)
    if not kind or rest[:1] == "/" or (kind == "repo:" and rest[:1] != "."):
        return name
    # Not resolved further: the rest may be a pattern, and the server follows the links.
    return kind + os.path.normpath(Path.cwd() / rest)
