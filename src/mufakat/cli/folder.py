"""The project of a folder, as commands about knowledge name it."""

from __future__ import annotations

from pathlib import Path

from mufakat.sdk import errors
from mufakat.sdk.client import Client


def project(client: Client, path: str) -> str:
    """The id of the folder's project; empty for an agent, which may read its own alone."""
    try:
        return str(client.post("/projects", {"path": str(Path(path).absolute())})["id"])
    except errors.ServerError as problem:
        if problem.code == "not_allowed":
            return ""
        raise
