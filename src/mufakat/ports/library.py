"""The library port: facts about the project and the room that a pack is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mufakat.core.pack.facts import ProjectFacts, Unavailable
from mufakat.core.talk.agent import Role
from mufakat.core.talk.session import Place


@dataclass(frozen=True, slots=True)
class Gathered:
    """Facts of one request, and what could not be had and why."""

    project: ProjectFacts
    place: Place
    head_is_ancestor: bool
    unavailable: tuple[Unavailable, ...] = ()


class Library(Protocol):
    """Everything that is read from outside the store for a pack."""

    async def gather(self, path: Path, *, since_head: str = "", seconds: float = 0.4) -> Gathered:
        """Read the project within a deadline; a source that fails leaves its default and a reason.

        `since_head` is the commit a stored session stood on, to tell whether it is still there.
        """
        ...

    async def place(self, path: Path) -> Place:
        """Where the project stands now: folder, branch, commit."""
        ...

    def platform(self) -> str:
        """The rules of the room, as prose."""
        ...

    def prompt(self, name: str) -> str:
        """A prompt of the product's own, as prose."""
        ...

    def roles(self) -> Sequence[Role]:
        """Every role, the user's own before the built-in of the same name."""
        ...

    def persona(self, name: str) -> str:
        """The text of a persona; raises NotFound with the names there are."""
        ...
