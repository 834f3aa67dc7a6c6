"""The command `chub` of Context Hub, asked where it is on PATH: with a time limit, untracked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

from mufakat.ports.knowledge import Passage
from mufakat.retrieval import program

SECONDS = 6.0
SOURCE = "hub"
BELOW = 0.5
"""Its hits know names and descriptions alone, so they stand behind what was found in a text."""
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
QUIET = {"CHUB_TELEMETRY": "0", "CHUB_FEEDBACK": "0", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
_QUERY_CHARS = 400


class ChubFailed(Exception):
    """chub could not answer; the words say why."""


class Chub:
    """One installed chub, or none."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = {name: environ[name] for name in KEPT if name in environ} | QUIET
        self._program = shutil.which("chub", path=environ.get("PATH", ""))
        self._seconds = seconds

    @property
    def present(self) -> bool:
        """Whether it is there to be asked."""
        return self._program is not None

    async def search(self, query: str, *, limit: int) -> list[Passage]:
        """Documents whose name or description fit; raises ChubFailed."""
        words = " ".join(query.replace("\0", " ").split())[:_QUERY_CHARS]
        found = await self._ask("search", "--limit", str(limit), "--", words)
        results = found.get("results", [found] if "id" in found else [])
        rows = [one for one in results if isinstance(one, dict) and isinstance(one.get("id"), str)]
        return [
            Passage(
                document=row["id"][:200],
                section="",
                text=str(row.get("description") or "")[:2_000],
                score=BELOW / (1 + at),
                source=SOURCE,
            )
            for at, row in enumerate(rows[:limit])
        ]

    async def get(self, name: str) -> str | None:
        """A document's text, None where chub has none of that name; raises ChubFailed."""
        if "\0" in name:
            return None
        found = await self._ask("get", "--", name)
        content = found.get("content")
        return content if isinstance(content, str) else None

    async def _ask(self, *words: str) -> dict[str, Any]:
        assert self._program is not None
        try:
            return await program.ask(
                (self._program, "--json", *words), environ=self._environ, seconds=self._seconds
            )
        except program.ProgramFailed as problem:
            raise ChubFailed(str(problem)) from problem
