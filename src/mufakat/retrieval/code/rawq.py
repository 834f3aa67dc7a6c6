"""rawq where it is on PATH and somebody asks for it: its places, read here; never needed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mufakat.core.base import Unavailable
from mufakat.retrieval import program
from mufakat.retrieval.code.finding import Place

NAME = "rawq"
SCHEMA = 1
SECONDS = 20.0
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME")
# It may neither load a model from elsewhere nor leave a program behind.
QUIET = {
    "RAWQ_OFFLINE": "1",
    "RAWQ_NO_DAEMON": "1",
    "RAWQ_NO_BAT": "1",
    "RAWQ_NO_PAGER": "1",
    "NO_COLOR": "1",
}


class Rawq:
    """One installed rawq, or none."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = {name: environ[name] for name in KEPT if name in environ} | QUIET
        self._program = shutil.which(NAME, path=environ.get("PATH", ""))
        self._seconds = seconds

    async def places(self, root: Path, query: str, *, limit: int) -> list[Place]:
        """What it finds, best first; raises Unavailable where it is not there or fails."""
        if self._program is None:
            raise Unavailable(f"{NAME} is not on PATH.", fix="Install it, or search without it.")
        asked = " ".join(query.replace("\0", " ").split())
        words = (self._program, "search", "--json", "--top", str(limit), "--", asked, ".")
        try:
            found = await program.ask(
                words, folder=root, environ=self._environ, seconds=self._seconds
            )
        except program.ProgramFailed as problem:
            raise Unavailable(f"{problem}.", fix=f"Search without {NAME}.") from problem
        if found.get("schema_version") != SCHEMA:
            raise Unavailable(
                f"{NAME} answers in a form that is not known here.", fix=f"Search without {NAME}."
            )
        rows = found.get("results")
        return [
            place
            for row in (rows if isinstance(rows, list) else [])[:limit]
            if (place := _place(root, row)) is not None
        ]


def _inside(root: Path, file: str) -> str:
    """The path as the index has it; one that leads out of the project is none of the index's."""
    whole = root / file
    return str(whole.relative_to(root)) if whole.is_relative_to(root) else file


def _place(root: Path, row: Any) -> Place | None:
    """A row as a place; None for what is no row, or names no lines inside of the project."""
    if not isinstance(row, dict) or not isinstance(file := row.get("file"), str):
        return None
    match row.get("lines"):
        case [int(start), int(end)] if 1 <= start <= end:
            path = _inside(root, file)
            scope, sure = row.get("scope"), row.get("confidence")
            return Place(
                path,
                start,
                end,
                symbol=scope[:200] if isinstance(scope, str) else "",
                score=float(sure) if isinstance(sure, int | float) else 0.0,
                why=f"{NAME} is {sure:.0%} sure" if isinstance(sure, float) else f"named by {NAME}",
            )
        case _:
            return None
