"""Git, asked without ever letting the repository's own configuration run anything."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from mufakat.retrieval import program

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
"""Bytes of output that are read; git is ended where it has more to say."""
SECONDS = 60.0
MOST_FILTERS = 100
_PIECE = 65_536
_WORDS_BYTES = 4_096
_EMPTY, _FALSE = "MUFAKAT_EMPTY", "MUFAKAT_FALSE"


class GitFailed(Exception):
    """Git could not answer; its own words follow."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The few variables git needs, and the switches that keep it quiet and local."""
    kept = {name: environ[name] for name in KEPT if name in environ}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # `protocol.ext.allow` of a repository would beat the setting; nothing beats the variable.
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C.UTF-8",
        _EMPTY: "",
        _FALSE: "false",
    }


async def ask(
    folder: Path,
    *words: str,
    environ: Mapping[str, str] = os.environ,
    seconds: float = SECONDS,
    most: int = LONGEST,
) -> str:
    """Run one git command in `folder` and answer its output; raises GitFailed.

    Of an output longer than `most` bytes the beginning is the answer, and the rest is not waited
    for.
    """
    try:
        process = await program.started(
            "git", *SAFE, *words,
            cwd=folder,
            env=environment(environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
    except FileNotFoundError as problem:
        raise GitFailed("git is not installed") from problem
    assert process.stderr is not None
    said = asyncio.create_task(_beginning(process.stderr))
    try:
        async with asyncio.timeout(seconds):
            out = await _output(process, most)
            if len(out) <= most and await process.wait():
                raise GitFailed(
                    (await said).decode("utf-8", "replace").strip()[:200] or "git failed"
                )
        return bytes(out[:most]).decode("utf-8", "replace")
    except TimeoutError as problem:
        raise GitFailed(f"git took longer than {seconds:g} seconds") from problem
    finally:
        # Also after its own end: what it started may hold its output.
        await program.end(process)
        said.cancel()


async def _output(process: asyncio.subprocess.Process, most: int) -> bytearray:
    """All of the output, or the first that is more than `most`."""
    assert process.stdout is not None
    out = bytearray()
    while len(out) <= most and (piece := await process.stdout.read(_PIECE)):
        out += piece
    return out


async def _beginning(stream: asyncio.StreamReader) -> bytes:
    """The first words of a stream; the rest is thrown away, so that nobody waits to be heard."""
    kept = b""
    while piece := await stream.read(_PIECE):
        kept = (kept + piece)[:_WORDS_BYTES]
    return kept


async def without_filters(folder: Path, *, seconds: float = SECONDS) -> tuple[str, ...]:
    """Words before a command that switch off the programs which a configuration runs on contents.

    A command that compares files of the working folder would start them; raises GitFailed.
    """
    listed = await ask(folder, "config", "--list", "--name-only", "-z", seconds=seconds)
    names = {
        name.removeprefix("filter.").rpartition(".")[0]
        for name in listed.split("\0")
        if name.startswith("filter.")
    }
    if len(names) > MOST_FILTERS or len(listed.encode()) >= LONGEST:
        raise GitFailed(f"its configuration has more than {MOST_FILTERS} filters")
    # Unlike `-c`, this takes a name with an equals sign for what it is.
    return tuple(
        f"--config-env=filter.{name}.{key}={value}"
        for name in sorted(names)
        for key, value in (
            ("clean", _EMPTY), ("smudge", _EMPTY), ("process", _EMPTY), ("required", _FALSE)
        )
    )  # fmt: skip
