"""Git, asked without ever letting the repository's own configuration run anything."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

SAFE = (
    "-c", "core.fsmonitor=false",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.untrackedCache=false",
    "-c", "diff.external=",
    "-c", "core.pager=cat",
    "-c", "protocol.allow=never",
    "-c", "submodule.recurse=false",
    "--no-pager",
    "--no-optional-locks",
)  # fmt: skip
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
LONGEST = 4 * 1024 * 1024
"""Bytes of output that are read; more is cut."""


class GitFailed(Exception):
    """Git could not answer; its own words follow."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The few variables git needs, and the switches that keep it quiet and local."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C.UTF-8",
    }


async def ask(folder: Path, *words: str, environ: Mapping[str, str] = os.environ) -> str:
    """Run one git command in `folder` and answer its output; raises GitFailed."""
    try:
        process = await asyncio.create_subprocess_exec(
            "git", *SAFE, *words,
            cwd=folder,
            env=environment(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
    except FileNotFoundError as problem:
        raise GitFailed("git is not installed") from problem
    try:
        out, err = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise GitFailed(err.decode("utf-8", "replace").strip()[:200] or "git failed")
    return out[:LONGEST].decode("utf-8", "replace")
