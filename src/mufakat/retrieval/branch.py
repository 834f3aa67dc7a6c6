"""What a project's folder holds that the branch which its work starts from does not: by git."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import Unavailable
from mufakat.ports.knowledge import Changed
from mufakat.retrieval import git, project

MOST = 200
"""Files that are told."""
BYTES = 256 * 1024
"""Of a list of names; git is ended where it has more of them."""
SECONDS = 10.0
SHORT = 7
LINE_CHARS, FILE_CHARS = 40, 360
"""What a changed line, and a file with its head and the lines around, take in a diff, about."""
BASES = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
"""Where work starts from; the first that there is and that has a commit in common counts."""
DIFF = (
    "diff", "--numstat", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv",
    "--no-color", "--ignore-submodules=all", "-O/dev/null",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Names:
    """Files, the characters that a diff of them would have, and whether that is all."""

    paths: tuple[str, ...]
    size: int
    complete: bool


class LocalChanges:
    """Asks git; what it answers is bounded in time and size."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds

    async def branch(self, root: Path) -> str:
        """The branch that is checked out, empty where there is none."""
        try:
            return (await project.position(root, seconds=self._seconds)).branch
        except (git.GitFailed, OSError) as problem:
            raise Unavailable(f"{problem}.", fix="Look at `git status`.") from problem

    async def look(self, root: Path) -> Changed | None:
        """The changes of the branch and those not committed; None outside of any history."""
        try:
            async with asyncio.timeout(self._seconds):
                return await _look(root)
        except TimeoutError as problem:
            raise Unavailable(f"git took longer than {self._seconds:g} seconds.") from problem
        except (git.GitFailed, OSError) as problem:
            raise Unavailable(f"{problem}.", fix="Look at `git status`.") from problem


async def _look(root: Path) -> Changed | None:
    here = await project.position(root)
    if not here.head:
        return None
    # One after another: of several at once, one that fails would leave the others running.
    name, base = await _base(root, here.head)
    safe = await git.without_filters(root)
    tracked = await git.ask(root, *safe, *DIFF, "--end-of-options", base, "--", ".", most=BYTES)
    new = await git.ask(
        root, "ls-files", "--others", "--exclude-standard", "-z", "--", ".", most=BYTES
    )
    one, other = _changed(tracked), _new(new)
    paths = sorted({*one.paths, *other.paths})
    return Changed(
        branch=here.branch,
        base=f"{name}@{base[:SHORT]}",
        paths=tuple(paths[:MOST]),
        size=one.size + other.size,
        complete=one.complete and other.complete and len(paths) <= MOST,
    )


async def _base(root: Path, head: str) -> tuple[str, str]:
    """Name and commit that the changes are counted from; the present commit where none is known."""
    shape = "--format=%(refname)%00%(objectname)%00%(symref)%00%(symref:short)%00%(refname:short)"
    listed = await git.ask(root, "for-each-ref", shape, *BASES, most=BYTES)
    known = {}
    for line in filter(None, listed.split("\n")):
        ref, commit, target, at, short = line.split("\0")
        known[ref] = (at if target else short, commit)
    for ref in BASES:
        name, commit = known.get(ref, ("", ""))
        if found := await _common(root, head, commit):
            return name, found
    return "HEAD", head


async def _common(root: Path, head: str, commit: str) -> str:
    """The commit where two histories part, empty where they have none in common."""
    if not commit:
        return ""
    try:
        return (await git.ask(root, "merge-base", "--end-of-options", head, commit)).strip()
    except git.GitFailed:
        return ""


def _changed(numstat: str) -> _Names:
    """Read what `DIFF` prints; a last row that was cut short is left out."""
    *rows, rest = numstat.split("\0")
    paths, size = [], 0
    for row in rows:
        added, deleted, path = row.split("\t", 2)
        lines = sum(int(count) for count in (added, deleted) if count.isdigit())
        size += FILE_CHARS + LINE_CHARS * lines
        paths.append(path)
    return _Names(tuple(paths), size, not rest)


def _new(listed: str) -> _Names:
    """Files that git does not know yet; a folder among them is a repository of its own."""
    *names, rest = listed.split("\0")
    paths = tuple(name for name in names if not name.endswith("/"))
    return _Names(paths, len(paths) * FILE_CHARS, not rest)
