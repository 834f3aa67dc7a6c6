"""The library: gathers what a pack needs from outside the store, in parallel, in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

from mufakat.core.pack.facts import ProjectFacts, Unavailable
from mufakat.core.talk.agent import Role
from mufakat.core.talk.session import Place
from mufakat.ports.library import Gathered
from mufakat.retrieval import git, project, role_documents

T = TypeVar("T")
PLACE_SECONDS = 5.0


class LocalLibrary:
    """Reads projects on this machine, and the role documents of one home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    async def gather(self, path: Path, *, since_head: str = "", seconds: float = 0.4) -> Gathered:
        """Read the project within a deadline; a source that fails leaves a reason instead."""
        gaps: list[Unavailable] = []
        files, position, ancestor = await asyncio.gather(
            _source(
                "files", asyncio.to_thread(project.files, path), project.Files((), (), ""),
                seconds=seconds, gaps=gaps,
            ),
            _source(
                "git", project.position(path), project.Position(), seconds=seconds, gaps=gaps
            ),
            _source(
                "git history", _ancestor(path, since_head), False, seconds=seconds, gaps=gaps
            ),
        )  # fmt: skip
        facts = ProjectFacts(
            name=path.name,
            path=str(path),
            summary=files.summary,
            stack=files.stack,
            branch=position.branch,
            conventions=files.conventions,
        )
        place = Place(str(path), position.branch, position.head)
        return Gathered(facts, place, ancestor, tuple(sorted(gaps, key=lambda gap: gap.source)))

    async def place(self, path: Path) -> Place:
        """Where the project stands now."""
        # A turn waits for this with its answer in hand: no trouble with git may cost or hold it.
        position = await _source(
            "git", project.position(path), project.Position(), seconds=PLACE_SECONDS, gaps=[]
        )
        return Place(str(path), position.branch, position.head)

    def platform(self) -> str:
        """The rules of the room, as prose."""
        return _platform()

    def prompt(self, name: str) -> str:
        """A prompt of the product's own, as prose."""
        return _prompt(name)

    def roles(self) -> Sequence[Role]:
        """Every role, the user's own before the built-in of the same name."""
        return role_documents.roles(self._home)

    def persona(self, name: str) -> str:
        """The text of a persona."""
        return role_documents.persona(self._home, name)


@cache
def _platform() -> str:
    return _prompt("platform")


def _prompt(name: str) -> str:
    file = resources.files("mufakat.retrieval") / "prompts" / f"{name}.md"
    return file.read_text("utf-8")


async def _ancestor(path: Path, commit: str) -> bool:
    return not commit or await project.is_ancestor(path, commit)


async def _source(
    name: str, work: Awaitable[T], default: T, *, seconds: float, gaps: list[Unavailable]
) -> T:
    """Wait for one source; what goes wrong with it is a gap, never the end of the request."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError:
        gaps.append(Unavailable(name, f"timed out after {round(seconds * 1000)} ms"))
    except (OSError, git.GitFailed) as problem:
        gaps.append(Unavailable(name, str(problem)[:200] or type(problem).__name__))
    return default
