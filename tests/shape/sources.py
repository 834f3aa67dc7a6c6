"""The source files of the package and of the tests, read once for every shape test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "src" / "mufakat"


@dataclass(frozen=True)
class Source:
    """One Python file; `name` is relative to the package or the repository, with slashes."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def room(self) -> str:
        """The first folder, or the module itself at the top."""
        return self.name.split("/")[0].removesuffix(".py")


def package() -> list[Source]:
    """Every module of the package."""
    return list(_read(PACKAGE, PACKAGE))


def everything() -> list[Source]:
    """Every Python file of the repository that is ours."""
    folders = (REPOSITORY / name for name in ("src", "tests", "bench"))
    return [source for folder in folders for source in _read(folder, REPOSITORY)]


def _read(folder: Path, root: Path) -> Iterator[Source]:
    for file in sorted(folder.rglob("*.py")):
        if "__pycache__" not in file.parts and "node_modules" not in file.parts:
            yield Source(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
