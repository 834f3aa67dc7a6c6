"""Reads files inside a root and nothing else, whatever the tree does in the meantime."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import InvalidInput

LARGEST = 1024 * 1024
"""Bytes of a file that is read; a larger one is refused."""
LONGEST_PATH = 4096
DEEPEST = 64
_SNIFFED = 8192
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a FIFO that is put in the file's place would hold the reader for ever.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Refused(Exception):
    """A file that is not read; the words are the reason."""


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a file is known to be unchanged."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Content:
    """A file's text and its mark at the moment it was read."""

    text: str
    mark: Mark


@contextmanager
def opened(root: Path) -> Iterator[int]:
    """A descriptor of the root; raises InvalidInput for what is no folder."""
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError) as problem:
        raise InvalidInput(
            f"{root} is not a folder that can be read.", fix="Name an existing folder."
        ) from problem
    try:
        yield folder
    finally:
        os.close(folder)


def parts(path: str) -> tuple[str, ...]:
    """The names along a relative path; raises Refused for a path that could lead out."""
    if len(path) > LONGEST_PATH or "\0" in path:
        raise Refused("not a path")
    names = tuple(path.split("/"))
    if path[:1] == "/" or len(names) > DEEPEST:
        raise Refused("not a path inside the project")
    if any(name in {"", ".", ".."} or name.lower() == ".git" for name in names):
        raise Refused("not a path inside the project")
    return names


@contextmanager
def folder_in(root: int, names: tuple[str, ...]) -> Iterator[int]:
    """A descriptor of a folder below `root`, reached without following a single link."""
    here = os.dup(root)
    try:
        for name in names:
            below = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here
    except (OSError, ValueError) as problem:
        raise Refused(_reason(problem)) from problem
    finally:
        os.close(here)


def read(root: int, path: str, *, largest: int = LARGEST) -> Content:
    """The text of one file below the descriptor `root`; raises Refused with the reason."""
    *folders, name = parts(path)
    with folder_in(root, tuple(folders)) as folder:
        return read_at(folder, name, largest=largest)


def read_at(folder: int, name: str, *, largest: int = LARGEST) -> Content:
    """The text of a file in an open folder; raises Refused with the reason."""
    raw, found = _bytes(folder, name, largest)
    if b"\0" in raw[:_SNIFFED]:
        raise Refused("binary")
    return Content(raw.decode("utf-8", "replace"), found)


def bytes_at(folder: int, name: str, *, largest: int = LARGEST) -> bytes:
    """The bytes of a file in an open folder, text or not; raises Refused with the reason."""
    return _bytes(folder, name, largest)[0]


def mark(found: os.stat_result) -> Mark:
    """The mark of what `stat` found."""
    return Mark(found.st_size, found.st_mtime_ns, found.st_ino)


def _bytes(folder: int, name: str, largest: int) -> tuple[bytes, Mark]:
    try:
        # A device may act on being opened, so it is looked at first; the descriptor decides.
        _regular(os.stat(name, dir_fd=folder, follow_symlinks=False), largest)
        file = os.open(name, _FILE, dir_fd=folder)
    except (OSError, ValueError) as problem:
        raise Refused(_reason(problem)) from problem
    try:
        found = os.fstat(file)
        _regular(found, largest)
        return _whole(file, largest), mark(found)
    except OSError as problem:
        raise Refused(_reason(problem)) from problem
    finally:
        os.close(file)


def _regular(found: os.stat_result, largest: int) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise Refused("a link")
    if not stat.S_ISREG(found.st_mode):
        raise Refused("no regular file")
    if found.st_size > largest:
        raise Refused(too_large(found.st_size, largest))


def too_large(size: int, largest: int = LARGEST) -> str:
    """Why a file of that size is left out."""
    return f"larger than {largest // 1024:,} KiB ({size // 1024:,} KiB)"


def _whole(file: int, largest: int) -> bytes:
    """All bytes; a file that grows while it is read, or tells a wrong size, ends at the limit."""
    got = bytearray()
    while piece := os.read(file, largest + 1 - len(got)):
        got += piece
        if len(got) > largest:
            raise Refused(too_large(len(got), largest))
    return bytes(got)


def _reason(problem: OSError | ValueError) -> str:
    match problem:
        case FileNotFoundError():
            return "gone"
        case PermissionError():
            return "not readable"
        case NotADirectoryError():
            return "gone, or behind a link"
        case OSError(errno=errno.ELOOP):
            return "a link"
        case _:
            return "cannot be opened"
