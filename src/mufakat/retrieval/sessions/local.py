"""The session files that CLIs keep on this machine, of one project at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mufakat.core.base import NotFound
from mufakat.ports.knowledge import NativeSession, NativeSessions, Skip
from mufakat.retrieval.sessions import found
from mufakat.retrieval.sessions.claude import Claude
from mufakat.retrieval.sessions.codex import Codex
from mufakat.retrieval.sessions.files import Unreadable
from mufakat.retrieval.sessions.found import Head, Reader
from mufakat.retrieval.sessions.gemini import Gemini
from mufakat.retrieval.sessions.opencode import OpenCode

MOST = 500
"""Sessions of a project that are listed."""

Skips = list[Skip]


class LocalSessions(NativeSessions):
    """Sessions of all four CLIs."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = tuple(readers)

    async def list(self, root: Path) -> tuple[Sequence[NativeSession], Sequence[Skip]]:
        """Those of a project, newest first, without their turns."""
        return await asyncio.to_thread(self._list, root)

    async def read(self, root: Path, id: str, *, engine: str = "") -> NativeSession:
        """One with its turns; raises NotFound, also for one of another folder."""
        return await asyncio.to_thread(self._read, root, id, engine)

    def _list(self, root: Path) -> tuple[Sequence[NativeSession], Sequence[Skip]]:
        skips: Skips = []
        known = [
            found.session(reader.engine, head, ()) for reader, head in self._heads(root, skips)
        ]
        return sorted(known, key=lambda one: (-one.at, one.id))[:MOST], skips

    def _read(self, root: Path, id: str, engine: str) -> NativeSession:
        for reader, head in self._heads(root, []):
            if head.id != id or engine not in ("", reader.engine):
                continue
            try:
                return found.session(reader.engine, head, reader.lines(head))
            except Unreadable as problem:
                raise NotFound(f"The session {id[:64]} cannot be read: {problem}.") from problem
        raise NotFound(
            f"There is no session {id[:64]} of this project.",
            fix="List them: mufakat sessions list.",
        )

    def _heads(self, root: Path, skips: Skips) -> Iterator[tuple[Reader, Head]]:
        for reader in self._readers:
            for head in reader.heads(root, skips):
                yield reader, head


def of(home: Path, environ: Mapping[str, str]) -> LocalSessions:
    """The sessions of the person with that home folder, wherever the environment puts them."""

    def place(name: str, otherwise: Path) -> Path:
        given = Path(environ.get(name, ""))
        return given if given.is_absolute() else otherwise

    data = place("XDG_DATA_HOME", home / ".local" / "share")
    return LocalSessions(
        [
            Claude(place("CLAUDE_CONFIG_DIR", home / ".claude")),
            Codex(place("CODEX_HOME", home / ".codex")),
            Gemini(place("GEMINI_CLI_HOME", home) / ".gemini"),
            OpenCode(data / "opencode"),
        ]
    )
