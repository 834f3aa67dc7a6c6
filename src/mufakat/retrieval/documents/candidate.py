"""A document that may be read: known by its stamp, loaded only where that has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mufakat.core.knowledge.document import Document
from mufakat.retrieval.code import reading
from mufakat.retrieval.code.reading import Mark, Refused

EXTRACTOR = "1"
"""Part of every stamp: raised when documents are cut differently than before."""
LARGEST = 512 * 1024
"""Bytes of one file."""
MOST_FILES = 3_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """What there is, before it is read."""

    name: str
    source: str
    stamp: str
    load: Callable[[], Document]


def stamp(*marks: Mark) -> str:
    """A text that changes when any of the files does."""
    parts = [f"{one.size}.{one.mtime_ns}.{one.inode}" for one in marks]
    return " ".join([EXTRACTOR, *parts])


def files(
    root: int, folder: str, *, endings: tuple[str, ...], depth: int = 8
) -> Iterator[tuple[str, Mark]]:
    """Regular files below a folder of the root, by names; links are left where they are."""
    names = tuple(part for part in folder.split("/") if part)
    try:
        with reading.folder_in(root, names) as here:
            entries = names_in(here)[:MOST_FILES]
            found = [(name, os.stat(name, dir_fd=here, follow_symlinks=False)) for name in entries]
    except (Refused, OSError):
        return
    for name, kind in found:
        path = f"{folder}/{name}" if folder else name
        if stat.S_ISREG(kind.st_mode) and name.lower().endswith(endings):
            yield path, reading.mark(kind)
        elif stat.S_ISDIR(kind.st_mode) and depth > 1 and not name.startswith("."):
            yield from files(root, path, endings=endings, depth=depth - 1)


def folders(root: int, folder: str) -> list[str]:
    """Names of the folders in a folder of the root; none where it cannot be read."""
    names = tuple(part for part in folder.split("/") if part)
    try:
        with reading.folder_in(root, names) as here:
            return [
                name
                for name in names_in(here)[:MOST_FILES]
                if stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
            ]
    except (Refused, OSError):
        return []


def names_in(folder: int) -> list[str]:
    """Names in an open folder, in order."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def mark(root: int, path: str) -> Mark | None:
    """The mark of a file, None where there is none."""
    *names, last = path.split("/")
    try:
        with reading.folder_in(root, tuple(names)) as here:
            return reading.mark(os.stat(last, dir_fd=here, follow_symlinks=False))
    except (Refused, OSError):
        return None


def text(root: int, path: str, *, largest: int = LARGEST) -> str:
    """A file's text, empty where it cannot be read."""
    try:
        return reading.read(root, path, largest=largest).text
    except Refused:
        return ""
