"""Which files each commit changed, from git, with renames followed as far as that is free."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mufakat.retrieval import git

_MARK = "\x01"
LOG = (
    "log", "--no-merges", "--no-renames", "--raw", "--abbrev=16", "-z", "--date-order",
    "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", f"--format={_MARK}%H",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commit:
    """What one commit changed."""

    id: str
    changed: tuple[str, ...]
    """Paths as they are called after it, without those that are gone."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Old and new path."""


async def head(folder: Path) -> str:
    """The commit that is checked out; raises GitFailed where there is none."""
    return (await git.ask(folder, "rev-parse", "--verify", "--end-of-options", "HEAD")).strip()


async def read(folder: Path, since: str, *, most: int) -> list[Commit]:
    """Commits of the present branch behind `since`, oldest first; raises GitFailed."""
    span = f"{since}..HEAD" if since else "HEAD"
    limits = (f"--max-count={most}", "--relative", "--end-of-options", span, "--", ".")
    return [*parse(await git.ask(folder, *LOG, *limits))][::-1]


def parse(text: str) -> Iterator[Commit]:
    """Read what `LOG` prints, in its order; a last commit that was cut short is left out."""
    commits = text.split(_MARK)
    for piece in commits[1:]:
        identity, *fields = piece.split("\0")
        while fields and not fields[-1]:
            fields.pop()
        if len(fields) % 2 == 0:
            yield _commit(identity.strip(), fields)


def _commit(identity: str, fields: list[str]) -> Commit:
    changed, gone, new = [], {}, {}
    for about, path in zip(fields[::2], fields[1::2], strict=True):
        _, _, before, after, how = about.strip().lstrip(":").split(" ")[:5]
        if how == "D":
            gone[path] = before
            continue
        changed.append(path)
        if how == "A":
            new[path] = after
    return Commit(identity, tuple(changed), tuple(_renamed(gone, new)))


def _renamed(gone: dict[str, str], new: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of the same content, else of a file name that left one folder for another."""
    if not gone or not new:
        return
    by_content = {content: path for path, content in sorted(new.items())}
    names: dict[str, list[str]] = {}
    for path in sorted(new):
        names.setdefault(path.rpartition("/")[2], []).append(path)
    taken: set[str] = set()
    for old, content in sorted(gone.items()):
        alike = names.get(old.rpartition("/")[2], [])
        found = by_content.get(content) or (alike[0] if len(alike) == 1 else "")
        if found and found not in taken:
            taken.add(found)
            yield old, found
