"""Knowledge outside the store: code, its graph, skills, documents and native sessions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Skip:
    """A file or folder that was left out, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an index holds after it was brought up to date."""

    files: int
    changed: int
    """Read anew this time."""
    seconds: float
    skipped: tuple[Skip, ...] = ()
    commit: str = ""
    complete: bool = True
    """False where a deadline ended it before all was read; it goes on from there."""


Progress = Callable[[int, int], None]
"""Is told how many files are done, of how many."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A piece of code that answers a query."""

    path: str
    """Relative to the project's folder, with `/`."""
    start: int
    """First line, from 1."""
    end: int
    symbol: str
    """Scope that it lies in, `Class.method`; empty at the top of a file."""
    score: float
    why: str
    text: str
    size: int
    """Characters of `text`."""


@dataclass(frozen=True, slots=True)
class Hits:
    """An answer of the code search; `why` says why there are none, or not all."""

    hits: tuple[Hit, ...]
    why: str = ""
    listing: str = ""
    """For files: a tree of the names of many more than there are hits, best folders first."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the index of a folder is."""

    files: int
    """Known to it."""
    running: bool
    """Whether it is being brought up to date."""
    done: int = 0
    """Files read of those that this refresh has to read."""
    of: int = 0
    last: Indexed | None = None
    """What the last finished refresh found; none since the server started."""
    error: str = ""
    """Why the last refresh failed."""
    complete: bool = False
    """Whether all files were read once: until then a search knows a part of them."""


class Way(StrEnum):
    """By what a search finds."""

    WORDS = "words"
    """Words and names, best places first."""
    EXACT = "exact"
    """The text as it is written, place by place."""
    RAWQ = "rawq"
    """The program rawq, where it is installed."""
    FILES = "files"
    """Files that a described change touches: many, told by a listing of their names."""


class CodeIndex(Protocol):
    """Full text over the code of projects; derived, kept fresh, never needed to be kept."""

    async def refresh(self, root: Path, progress: Progress | None = None) -> Indexed:
        """Bring the index of a folder up to date; raises InvalidInput for what is no folder."""
        ...

    async def begin(self, root: Path, *, anew: bool = False) -> Standing:
        """Begin to bring the index up to date, do not wait; InvalidInput for what is no folder.

        `anew` throws away what there is and reads every file.
        """
        ...

    async def cancel(self, root: Path) -> Standing:
        """Stop the refresh that is under way; what it has read is kept."""
        ...

    async def standing(self, root: Path) -> Standing:
        """How far it is."""
        ...

    async def search(
        self,
        root: Path,
        query: str,
        *,
        limit: int = 10,
        chars: int | None = None,
        way: Way = Way.WORDS,
    ) -> Hits:
        """The best pieces, best first, together at most `chars` characters.

        Raises Unavailable for a way whose program is not there or fails.
        """
        ...

    async def slice(self, root: Path, path: str, *, start: int = 1, end: int = 0) -> str:
        """Lines of one file inside the root; raises NotFound for everything else."""
        ...


class Relation(StrEnum):
    """What one may ask of the graph about a symbol."""

    CALLERS = "callers"
    CALLEES = "callees"
    IMPORTERS = "importers"
    TESTS = "tests"
    DEFINITION = "definition"


@dataclass(frozen=True, slots=True)
class Node:
    """A symbol or file that the graph answers."""

    path: str
    line: int
    symbol: str
    text: str
    """Its line."""


@dataclass(frozen=True, slots=True)
class Reach:
    """A file that a change of others may touch."""

    path: str
    score: float
    why: str
    """`co-changed 12 times`, `refers to 3 symbols`, `same name`, `same folder`."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a program that reviews changes says of them."""

    summary: str
    risk: float
    """0 to 1."""
    changed: tuple[Node, ...] = ()
    gaps: tuple[Node, ...] = ()
    """Changed, and without a test."""
    priorities: tuple[Node, ...] = ()
    """What to look at first."""


class Reviewer(Protocol):
    """Such a program, where there is one."""

    async def review(self, root: Path, *, base: str = "HEAD") -> Review | None:
        """What it says of the changes since a commit; None where it is not there."""
        ...


@dataclass(frozen=True, slots=True)
class Changed:
    """What a project's folder holds that the branch which its work starts from does not."""

    branch: str
    """That is checked out; empty where none is."""
    base: str
    """What the changes are counted from, for people: `origin/main@1a2b3c4`."""
    paths: tuple[str, ...]
    """Relative to the project's folder; also what is not committed, or not yet known to git."""
    size: int = 0
    """Characters that a diff of all of it would have, about."""
    complete: bool = True
    """False where there are more files than are told."""


class Changes(Protocol):
    """What is being worked on in a project; both raise Unavailable with the reason."""

    async def branch(self, root: Path) -> str:
        """The branch that is checked out, empty where there is none."""
        ...

    async def look(self, root: Path) -> Changed | None:
        """The changes of the branch; None where the project has no history."""
        ...


class Graph(Protocol):
    """Who refers to whom, who changes with whom."""

    async def ask(
        self, root: Path, relation: Relation, symbol: str, *, limit: int = 50
    ) -> Sequence[Node]: ...
    async def blast(self, root: Path, paths: Sequence[str], *, limit: int = 10) -> Sequence[Reach]:
        """Files that changes of `paths` may touch, most likely first."""
        ...


@dataclass(frozen=True, slots=True)
class Skill:
    """A SKILL.md: its front matter, its body, and where it was found."""

    name: str
    description: str
    path: str
    digest: str
    """SHA-256 of the whole folder's text, hex: consent is given to this."""
    body: str = ""
    files: tuple[str, ...] = ()
    """Beside SKILL.md, relative to its folder."""
    origin: str = "project"
    """`project` or `user`."""


class Skills(Protocol):
    """SKILL.md files of a project and of the user."""

    async def list(self, root: Path) -> tuple[Sequence[Skill], Sequence[Skip]]:
        """All, without bodies; broken ones with the reason."""
        ...

    async def get(self, root: Path, name: str) -> Skill:
        """One with its body; raises NotFound with the nearest names."""
        ...


@dataclass(frozen=True, slots=True)
class Passage:
    """A section of a document."""

    document: str
    """Name: `fastapi`, `docs/http.md`."""
    section: str
    """Heading path."""
    text: str
    score: float
    source: str
    """`hub`, `project` or `package`."""


@dataclass(frozen=True, slots=True)
class Passages:
    """An answer of the document search; `why` says why there is nothing, or not all."""

    passages: tuple[Passage, ...]
    why: str = ""


class Documents(Protocol):
    """Documents of libraries and of the project, over their sections."""

    async def search(self, root: Path, query: str, *, limit: int = 5) -> Passages:
        """The best section of each of the best documents, best first."""
        ...

    async def get(self, root: Path, name: str, *, section: str = "") -> Passage:
        """A section, or without one the beginning and all headings; raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class NativeTurn:
    """One thing said in a session file of a CLI."""

    speaker: str
    """`person`, or the engine's name."""
    text: str
    at: int
    """Milliseconds since 1970; 0 where the file does not say."""


@dataclass(frozen=True, slots=True)
class NativeSession:
    """A session as the CLI itself keeps it on disk."""

    engine: str
    id: str
    folder: str
    """Project that it ran in."""
    path: str
    at: int
    turns: tuple[NativeTurn, ...] = ()
    summary: str = ""


class NativeSessions(Protocol):
    """Session files of Claude Code, Codex, Gemini CLI and OpenCode."""

    async def list(self, root: Path) -> tuple[Sequence[NativeSession], Sequence[Skip]]:
        """Those of a project, newest first, without their turns."""
        ...

    async def read(self, root: Path, id: str, *, engine: str = "") -> NativeSession:
        """One with its turns; raises NotFound, also for one of another folder."""
        ...
