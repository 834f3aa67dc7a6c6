"""What there is to know about a project at a glance: git, stack, README, conventions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mufakat.retrieval import git

CONVENTIONS = ("AGENTS.md", "CONTRIBUTING.md")
READMES = ("README.md", "README.rst", "README.txt", "README")
STACK: tuple[tuple[str, str], ...] = (
    ("pyproject.toml", "Python"),
    ("setup.py", "Python"),
    ("requirements.txt", "Python"),
    ("package.json", "JavaScript"),
    ("tsconfig.json", "TypeScript"),
    ("Cargo.toml", "Rust"),
    ("go.mod", "Go"),
    ("pom.xml", "Java"),
    ("build.gradle", "Java"),
    ("build.gradle.kts", "Kotlin"),
    ("Gemfile", "Ruby"),
    ("composer.json", "PHP"),
    ("mix.exs", "Elixir"),
    ("pubspec.yaml", "Dart"),
    ("Package.swift", "Swift"),
    ("CMakeLists.txt", "C/C++"),
    ("Makefile", "make"),
    ("Dockerfile", "Docker"),
    ("compose.yaml", "Docker Compose"),
    ("docker-compose.yml", "Docker Compose"),
)
README_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Files:
    """What the project's folder itself tells."""

    stack: tuple[str, ...]
    conventions: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where git stands; empty outside a repository."""

    branch: str = ""
    head: str = ""


def files(folder: Path) -> Files:
    """Look at the top of the folder; raises OSError where it cannot be read."""
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
    stack = dict.fromkeys(label for name, label in STACK if name in names)
    readme = next((name for name in READMES if name in names), None)
    return Files(
        tuple(stack),
        tuple(name for name in CONVENTIONS if name in names),
        summary(folder / readme) if readme else "",
    )


def summary(readme: Path) -> str:
    """The first paragraph of a README that is prose, on one line."""
    with readme.open("rb") as file:
        head = file.read(README_BYTES).decode("utf-8", "replace")
    paragraphs = (" ".join(part.split()) for part in head.split("\n\n"))
    return next((part for part in paragraphs if _is_prose(part)), "")


def _is_prose(paragraph: str) -> bool:
    lines = paragraph.lstrip("#= ")
    decorated = paragraph.startswith(("#", "=", "!", "[", "<", "|", "```", "- ", "* ", ">"))
    return bool(lines) and not decorated and len(paragraph.split()) >= 4


async def position(folder: Path, *, seconds: float = git.SECONDS) -> Position:
    """Branch and commit, in one call to git.

    Raises git.GitFailed; a folder outside any repository answers an empty position.
    """
    try:
        out = await git.ask(
            folder, "status", "--porcelain=v2", "--branch", "--untracked-files=no",
            "--ignore-submodules=all", "--", ".git", seconds=seconds,
        )  # fmt: skip
    except git.GitFailed as problem:
        if "not a git repository" in str(problem):
            return Position()
        raise
    fields = dict(
        line[2:].split(" ", 1) for line in out.split("\n") if line.startswith("# branch.")
    )
    head, branch = fields.get("branch.oid", ""), fields.get("branch.head", "")
    return Position("" if branch == "(detached)" else branch, "" if head == "(initial)" else head)


async def is_ancestor(folder: Path, commit: str) -> bool:
    """Whether `commit` is part of the present history."""
    try:
        await git.ask(folder, "merge-base", "--is-ancestor", "--end-of-options", commit, "HEAD")
    except git.GitFailed:
        return False
    return True
