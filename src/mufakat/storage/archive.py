"""The archive that moves a store to another database: gzip, one JSON line a row, digests ahead."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

from mufakat.core import base
from mufakat.storage import files

FORMAT = "mufakat-archive"
VERSION = 1
HEADER_BYTES = 1 << 20
LINE_BYTES = 64 << 20
"""A row is not longer; texts are much shorter than that."""
FREE_BYTES = 64 << 20
RATIO = 200
"""Beyond FREE_BYTES, what is unpacked may not be more than so many times what was read."""


@dataclass(frozen=True, slots=True)
class Content:
    """One table: its columns in order, and what its rows must add up to."""

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line."""

    schema: str
    tables: tuple[Content, ...]

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables)


class Tally:
    """Counts the lines of one table and digests them."""

    __slots__ = ("_digest", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()

    def add(self, line: bytes) -> None:
        """Count one line."""
        self.rows += 1
        self._digest.update(line)

    def content(self, name: str, columns: Iterable[str]) -> Content:
        """What was counted, as it stands in a header."""
        return Content(name, tuple(columns), self.rows, self._digest.hexdigest())


def encode(row: Iterable[Any]) -> bytes:
    """One row as its line; raises StoreError for what cannot be moved."""
    try:
        text = json.dumps(list(row), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        line = text.encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise base.StoreError(f"A row cannot be exported: {error}.") from error
    if len(line) > LINE_BYTES:
        raise base.StoreError(f"A row has {len(line):,} bytes, more than an archive takes.")
    return line


def write(target: Path, header: Header, lines: Iterable[bytes]) -> None:
    """Write the new file `target`; it gets its name when it is complete and on disk."""
    if target.exists():
        raise base.Conflict(f"{target} exists already; choose another name for the archive.")
    part = target.with_name(target.name + ".part")
    first = {"format": FORMAT, "version": VERSION, **asdict(header)}
    try:
        files.private_file(part)
        with part.open("wb") as raw:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
                packed.write(json.dumps(first).encode() + b"\n")
                for line in lines:
                    packed.write(line)
            raw.flush()
            os.fsync(raw.fileno())
        verify(part)
        part.rename(target)
        files.sync(target.parent)
    finally:
        part.unlink(missing_ok=True)


def verify(source: Path) -> Header:
    """Read a whole archive and compare it with its header; raises InvalidInput, writes nothing."""
    with opened(source) as archive:
        for _ in archive.rows():
            pass
        return archive.header


class Archive:
    """An open archive: its header first, then its rows, compared with it on the way."""

    def __init__(self, raw: IO[bytes], packed: gzip.GzipFile) -> None:
        self._raw = raw
        self._packed = packed
        self._unpacked = 0
        self.header = _header(self._line(HEADER_BYTES))

    def rows(self) -> Iterator[tuple[Content, list[Any]]]:
        """Every row with its table; raises InvalidInput at the first thing that is wrong."""
        for table in self.header.tables:
            tally = Tally()
            for _ in range(table.rows):
                line = self._line(LINE_BYTES)
                tally.add(line)
                yield table, _row(line, table)
            if tally.content(table.name, table.columns) != table:
                _refuse(f"the rows of {table.name} do not have their checksum")
        if self._packed.read(1):
            _refuse("something follows its last row")

    def _line(self, limit: int) -> bytes:
        line = self._packed.readline(limit + 1)
        if not line.endswith(b"\n"):
            _refuse("a line is too long" if len(line) > limit else "it ends too early")
        self._unpacked += len(line)
        if self._unpacked > max(FREE_BYTES, RATIO * self._raw.tell()):
            _refuse("it unpacks to far more than its size")
        return line


@contextmanager
def opened(source: Path) -> Iterator[Archive]:
    """Open an archive; only a regular file is read, and damage is an InvalidInput."""
    try:
        handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        _refuse(f"it cannot be opened: {error.strerror}")
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        _refuse("it is not a file")
    with os.fdopen(handle, "rb") as raw:
        try:
            with gzip.GzipFile(fileobj=raw, mode="rb") as packed:
                yield Archive(raw, packed)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            _refuse(f"it is not a whole gzip file: {error}")


def _header(line: bytes) -> Header:
    found = _parsed(line)
    try:
        kind, version = found["format"], found["version"]
        if kind != FORMAT or version != VERSION:
            _refuse(f"it is {kind!r} version {version!r}"[:80])
        tables = tuple(_content(one) for one in found["tables"])
        return Header(str(found["schema"]), tables)
    except (KeyError, TypeError, ValueError, AttributeError):
        _refuse("its header is not one of Mufakat's")


def _content(found: dict[str, Any]) -> Content:
    columns = tuple(str(name) for name in found["columns"])
    rows = found["rows"]
    if not isinstance(rows, int) or isinstance(rows, bool) or rows < 0:
        raise ValueError(rows)
    return Content(str(found["name"]), columns, rows, str(found["sha256"]))


def _row(line: bytes, table: Content) -> list[Any]:
    found = _parsed(line)
    if not isinstance(found, list) or len(found) != len(table.columns):
        _refuse(f"a row of {table.name} has not its columns")
    return found


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        _refuse("a line is not JSON")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refuse(why: str) -> NoReturn:
    raise base.InvalidInput(
        f"The archive was not taken, and nothing was written: {why}.",
        fix="use a file that `mufakat export` has written",
    ) from None


def agree(header: Header, *, schema: str, tables: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    """Raise InvalidInput where an archive has not exactly these tables and columns, in order."""
    if header.schema != schema:
        raise base.InvalidInput(
            f"The archive has schema {header.schema[:40]!r}, this Mufakat works with {schema}.",
            fix="export and import with the same version of Mufakat",
        )
    if [(table.name, table.columns) for table in header.tables] != list(tables):
        _refuse("its tables are not Mufakat's")
