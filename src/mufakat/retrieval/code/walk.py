"""Which files of a project there are: in one order, by its ignore rules, with what is left out."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mufakat.ports.knowledge import Skip
from mufakat.retrieval.code import ignore, reading
from mufakat.retrieval.code.ignore import Rules
from mufakat.retrieval.code.reading import Mark

MOST_FILES = 200_000
MOST_SKIPS = 500
"""So many skips are kept with their reason; all are counted."""
SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", ".jj", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".gradle", ".idea", ".next", ".terraform"}
)
"""Never a project's own code, whether its ignore rules say so or not."""
_SECRET = re.compile(
    r"\.env(?!\.(?:example|sample|template)\b)(?:\..*)?|id_(?:rsa|dsa|ecdsa|ed25519)"
    r"|.*\.(?:pem|key|p12|pfx|keystore|jks|kdbx)|\.netrc|\.npmrc|\.pypirc|\.git-credentials",
    re.IGNORECASE,
)
_BINARY_ENDINGS = """
png jpg jpeg gif bmp ico webp avif tif tiff pdf zip gz bz2 xz zst 7z tar jar war class so dylib
dll exe a o obj lib pyc pyo wasm woff woff2 ttf otf eot mp3 mp4 mov avi mkv wav ogg flac webm db
sqlite sqlite3 parquet npy npz onnx pt pth bin dat pack idx iso dmg deb rpm whl psd
"""
_NO_TEXT = frozenset(_BINARY_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that may be read: its path from the root, with `/`, and its mark."""

    path: str
    mark: Mark


class FolderFound(Exception):
    """A folder that was not there at the last walk over the whole root."""


@dataclass(slots=True)
class Walk:
    """One walk over a root; what it tells grows while its files are taken."""

    root: int
    """Descriptor of the root's folder."""
    beyond: frozenset[tuple[int, int]] = frozenset()
    """Device and inode of folders that are never entered: Mufakat's own home."""
    largest: int = reading.LARGEST
    most: int = MOST_FILES
    skips: list[Skip] = field(default_factory=list)
    left_out: int = 0
    entered: set[str] = field(default_factory=set)
    """Paths of the folders that were entered; the root's own is empty."""

    def files(self) -> Iterator[Entry]:
        """Every file, folder by folder, names in order of their code points."""
        folder = os.dup(self.root)
        for number, entry in enumerate(self._below(folder, (), _excluded(self.root))):
            if number >= self.most:
                self._skip(entry.path, f"more than {self.most:,} files")
                return
            yield entry

    def forget(self) -> None:
        """Begin anew, as if nothing had been looked at."""
        self.skips, self.left_out, self.entered = [], 0, set()

    def inside(self, path: str, known: Collection[str]) -> Iterator[Entry]:
        """The files of one folder itself; of the folders in it, those among `known` are left alone.

        Raises FolderFound for another one that a walk would enter, and Refused for a path that is
        no folder any more.
        """
        names = tuple(path.split("/")) if path else ()
        above = _excluded(self.root)
        for depth in range(len(names) + 1):
            with reading.folder_in(self.root, names[:depth]) as folder:
                rules = _rules(folder, ".gitignore", depth)
            above = (*above, rules) if rules else above
        with reading.folder_in(self.root, names) as folder:
            for name in self._listed(folder, names):
                below = (*names, name)
                found = self._look(folder, name, below)
                if found is None:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    if "/".join(below) not in known and not self._closed(below, found, above):
                        raise FolderFound(name)
                elif (entry := self._file(below, found, above)) is not None:
                    yield entry

    def _below(
        self, folder: int, names: tuple[str, ...], above: tuple[Rules, ...]
    ) -> Iterator[Entry]:
        """The files of an open folder, which is closed at the end."""
        self.entered.add("/".join(names))
        try:
            rules = _rules(folder, ".gitignore", len(names))
            above = (*above, rules) if rules else above
            for name in self._listed(folder, names):
                path = (*names, name)
                found = self._look(folder, name, path)
                if found is None:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    yield from self._folder(folder, path, found, above)
                elif (entry := self._file(path, found, above)) is not None:
                    yield entry
        finally:
            os.close(folder)

    def _listed(self, folder: int, names: tuple[str, ...]) -> list[str]:
        try:
            return sorted(os.listdir(folder))
        except OSError:
            self._skip("/".join(names), "not readable")
            return []

    def _look(self, folder: int, name: str, path: Sequence[str]) -> os.stat_result | None:
        if not name.isprintable():
            self._skip("/".join(path), "a name that cannot be shown")
            return None
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            self._skip("/".join(path), "gone")
            return None

    def _folder(
        self,
        folder: int,
        path: tuple[str, ...],
        found: os.stat_result,
        above: tuple[Rules, ...],
    ) -> Iterator[Entry]:
        reason = self._closed(path, found, above)
        if not reason:
            try:
                below = os.open(
                    path[-1],
                    os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                    dir_fd=folder,
                )
            except OSError:
                reason = "not readable"
            else:
                yield from self._below(below, path, above)
        if reason and path[-1] != ".git":
            self._skip("/".join(path) + "/", reason)

    def _closed(
        self, path: tuple[str, ...], found: os.stat_result, above: tuple[Rules, ...]
    ) -> str:
        if path[-1].lower() in SKIPPED_FOLDERS:
            return "not the project's own code"
        if (found.st_dev, found.st_ino) in self.beyond:
            return "Mufakat's own home"
        if len(path) >= reading.DEEPEST:
            return "too deep"
        return "ignored" if ignore.ignored(path, above, folder=True) else ""

    def _file(
        self, path: tuple[str, ...], found: os.stat_result, above: tuple[Rules, ...]
    ) -> Entry | None:
        reason = _unread(path[-1], found, self.largest)
        if not reason and ignore.ignored(path, above, folder=False):
            reason = "ignored"
        if reason:
            self._skip("/".join(path), reason)
            return None
        return Entry("/".join(path), reading.mark(found))

    def _skip(self, path: str, why: str) -> None:
        self.left_out += 1
        if len(self.skips) < MOST_SKIPS:
            # What cannot be shown may be no text at all: a lone surrogate breaks every encoder.
            shown = path.encode("utf-8", "replace").decode("utf-8")
            self.skips.append(Skip(shown, why))


def _unread(name: str, found: os.stat_result, largest: int) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "a link"
    if not stat.S_ISREG(found.st_mode):
        return "no regular file"
    if found.st_size > largest:
        return reading.too_large(found.st_size, largest)
    if _SECRET.fullmatch(name):
        return "may hold secrets"
    return "binary" if name.rpartition(".")[2].lower() in _NO_TEXT else ""


def _rules(folder: int, name: str, depth: int) -> Rules | None:
    try:
        return ignore.parse(reading.read_at(folder, name, largest=ignore.LARGEST).text, depth)
    except reading.Refused:
        return None


def _excluded(root: int) -> tuple[Rules, ...]:
    """The rules that git keeps beside the tree."""
    try:
        with reading.folder_in(root, (".git", "info")) as folder:
            rules = _rules(folder, "exclude", 0)
    except reading.Refused:
        return ()
    return (rules,) if rules else ()


def identity(folder: Path) -> frozenset[tuple[int, int]]:
    """Device and inode of a folder, for `beyond`; empty where there is none."""
    try:
        found = folder.stat()
    except OSError:
        return frozenset()
    return frozenset({(found.st_dev, found.st_ino)})
