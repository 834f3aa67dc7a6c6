"""The command `code-review-graph`, asked where it is on PATH and has read the project before."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mufakat.core.base import Unavailable
from mufakat.ports.knowledge import Node, Review
from mufakat.retrieval import program

NAME = "code-review-graph"
KEPT_GRAPH = ".code-review-graph"
"""Folder in which it keeps its graph; it is never made by us."""
SECONDS = 10.0
MOST = 50
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
QUIET = {"DO_NOT_TRACK": "1", "NO_COLOR": "1"}
_CHARS = 2_000


class CodeReviewGraph:
    """One installed program, or none."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = {name: environ[name] for name in KEPT if name in environ} | QUIET
        self._program = shutil.which(NAME, path=environ.get("PATH", ""))
        self._seconds = seconds

    async def review(self, root: Path, *, base: str = "HEAD") -> Review | None:
        """What it says of the changes since `base`; None where it is not there.

        Raises Unavailable where it fails or takes too long.
        """
        if self._program is None or not (root / KEPT_GRAPH).is_dir():
            return None
        words = (self._program, "detect-changes", f"--base={base}", "--repo", str(root))
        try:
            found = await program.ask(
                words, folder=root, environ=self._environ, seconds=self._seconds
            )
        except program.ProgramFailed as problem:
            raise Unavailable(f"{problem}.", fix=f"Leave {NAME} out of PATH.") from problem
        return Review(
            summary=str(found.get("summary", ""))[:_CHARS],
            risk=_number(found.get("risk_score")),
            changed=_nodes(root, found.get("changed_functions"), "file_path"),
            gaps=_nodes(root, found.get("test_gaps"), "file"),
            priorities=_nodes(root, found.get("review_priorities"), "file_path"),
        )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _nodes(root: Path, rows: Any, file: str) -> tuple[Node, ...]:
    """Rows as nodes; what is no row, or lies outside of the project, is left out."""
    found = []
    for row in (rows if isinstance(rows, list) else [])[:MOST]:
        if not isinstance(row, dict):
            continue
        try:
            path = Path(str(row.get(file, ""))).relative_to(root)
        except ValueError:
            continue
        found.append(
            Node(path.as_posix(), int(_number(row.get("line_start"))), str(row.get("name", "")), "")
        )
    return tuple(found)
