"""Hostile and damaged archives are refused whole: nothing is written, and little is read."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from equipment import store_records as make
from equipment.store_records import talk_of
from mufakat import app as application
from mufakat.core import base
from mufakat.core.base import Event
from mufakat.settings import load
from mufakat.storage import archive, store, transfer

pytestmark = pytest.mark.anyio
Lines = list[bytes]
Change = Callable[[Lines], Lines]


@pytest.fixture
async def good(tmp_path: Path) -> Path:
    """An archive with some records."""
    opened = await store.open_store(tmp_path / "from" / "mufakat.db", reserve_bytes=0)
    await opened.write(talk_of(5))
    await opened.write(lambda tx: tx.events.record(Event("x", "y", {"n": 1})))
    target = tmp_path / "good.jsonl.gz"
    await opened.export(target)
    await opened.close()
    return target


def lines_of(path: Path) -> Lines:
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


def header(lines: Lines, change: Callable[[dict], object]) -> Lines:
    found = json.loads(lines[0])
    change(found)
    return [json.dumps(found).encode() + b"\n", *lines[1:]]


def row_of(lines: Lines, table: str) -> int:
    """Where the first row of a table stands."""
    at = 1
    for one in json.loads(lines[0])["tables"]:
        if one["name"] == table:
            return at
        at += one["rows"]
    raise AssertionError(table)


def resealed(lines: Lines, table: str, change: Callable[[dict], object]) -> Lines:
    """Change a row and make the checksums right again: a forger knows how."""
    at = row_of(lines, table)
    found = json.loads(lines[0])
    content = next(one for one in found["tables"] if one["name"] == table)
    row = dict(zip(content["columns"], json.loads(lines[at]), strict=True))
    change(row)
    new = json.dumps(list(row.values())).encode() + b"\n"
    changed = [*lines[:at], new, *lines[at + 1 :]]
    tally = archive.Tally()
    for line in changed[at : at + content["rows"]]:
        tally.add(line)
    content["sha256"] = tally.content("", ()).sha256
    return [json.dumps(found).encode() + b"\n", *changed[1:]]


def bump(found: dict) -> None:
    found["tables"][-1]["rows"] += 1


HOSTILE: dict[str, Change] = {
    "another format": lambda ls: header(ls, lambda h: h.update(format="tar")),
    "a later version": lambda ls: header(ls, lambda h: h.update(version=2)),
    "another schema": lambda ls: header(ls, lambda h: h.update(schema="9999")),
    "no tables": lambda ls: header(ls, lambda h: h.update(tables=[])),
    "tables of no kind": lambda ls: header(ls, lambda h: h.update(tables="x")),
    "a foreign table": lambda ls: header(ls, lambda h: h["tables"][0].update(name="sqlite_schema")),
    "a path as table": lambda ls: header(ls, lambda h: h["tables"][0].update(name="../../x")),
    "a foreign column": lambda ls: header(ls, lambda h: h["tables"][0]["columns"].append("x")),
    "tables in another order": lambda ls: header(ls, lambda h: h["tables"].reverse()),
    "fewer rows than said": lambda ls: header(ls, bump),
    "a negative count": lambda ls: header(ls, lambda h: h["tables"][0].update(rows=-1)),
    "a count that is none": lambda ls: header(ls, lambda h: h["tables"][0].update(rows=True)),
    "a million entries": lambda ls: header(
        ls, lambda h: h.update(tables=[{**h["tables"][0], "name": str(n)} for n in range(5000)])
    ),
    "more than the header says": lambda ls: [*ls, b"[1]\n"],
    "a changed row": lambda ls: [ls[0], ls[1].replace(b'"', b'"x', 1), *ls[2:]],
    "rows swapped": lambda ls: [ls[0], *reversed(ls[1:])],
    "cut off": lambda ls: ls[:-1],
    "no line end": lambda ls: [*ls[:-1], ls[-1][:-1]],
    "no header": lambda ls: ls[1:],
    "nothing": lambda ls: [],
    "not JSON": lambda ls: [b"hello\n", *ls[1:]],
    "deep JSON": lambda ls: [b"[" * 200_000 + b"\n", *ls[1:]],
    "an endless header": lambda ls: [b'{"x": "' + b"y" * (2 << 20) + b'"}\n'],
    "a type that does not fit": lambda ls: resealed(ls, "messages", lambda r: r.update(number="1")),
    "a number that is too large": lambda ls: resealed(
        ls, "messages", lambda r: r.update(number=1 << 63)
    ),
    "a truth for a number": lambda ls: resealed(ls, "messages", lambda r: r.update(number=True)),
    "a NUL": lambda ls: resealed(ls, "messages", lambda r: r.update(text="a\0b")),
    "a lone surrogate": lambda ls: resealed(ls, "messages", lambda r: r.update(text="\ud800")),
    "nothing where there must be something": lambda ls: resealed(
        ls, "messages", lambda r: r.update(text=None)
    ),
    "a list as value": lambda ls: resealed(ls, "messages", lambda r: r.update(text=["x"])),
}


async def refused(source: Path, home: Path) -> None:
    """The check itself: an import raises, and the home stays as it was."""
    before = sorted(home.rglob("*"))
    with pytest.raises(base.InvalidInput) as caught:
        await application.import_archive(load(home), source)
    assert caught.value.fix
    assert sorted(home.rglob("*")) == before


@pytest.mark.parametrize("name", HOSTILE)
async def test_row_58_a_hostile_archive_is_refused_whole(
    name: str, good: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.gz"
    bad.write_bytes(gzip.compress(b"".join(HOSTILE[name](lines_of(good)))))
    home = tmp_path / "to"
    home.mkdir()
    await refused(bad, home)


async def test_row_58_twin_without_checksums_a_changed_row_is_taken(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive.Content, "__eq__", lambda self, other: True)
    bad = tmp_path / "bad.gz"
    lines = lines_of(good)
    at = row_of(lines, "projects")
    lines[at] = lines[at].replace(b"demo", b"evil")
    bad.write_bytes(gzip.compress(b"".join(lines)))
    home = tmp_path / "to"
    home.mkdir()
    with pytest.raises(pytest.fail.Exception):
        await refused(bad, home)


def tar_up(path: Path) -> None:
    with tarfile.open(path, "w:gz") as made:
        info = tarfile.TarInfo("../../etc/passwd")
        made.addfile(info, io.BytesIO(b""))


def zip_up(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("/absolute", "x")


def device(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


@pytest.mark.parametrize("make_it", [tar_up, zip_up, device, link, Path.mkdir])
async def test_row_58_other_things_are_not_archives(
    make_it: Callable[[Path], object], tmp_path: Path
) -> None:
    make_it(tmp_path / "bad")
    home = tmp_path / "to"
    home.mkdir()
    await refused(tmp_path / "bad", home)
    await refused(tmp_path / "missing", home)


async def test_row_58_a_bomb_is_not_unpacked(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows without end that all look right, in a file of a few kilobytes."""
    monkeypatch.setattr(archive, "FREE_BYTES", 1 << 20)
    lines = header(lines_of(good), lambda h: h["tables"][0].update(rows=1 << 40))
    row = json.dumps([1] * len(json.loads(lines[0])["tables"][0]["columns"])).encode() + b"\n"
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb") as packed:
        packed.write(lines[0])
        for _ in range(100):
            packed.write(row * 10_000)
    with pytest.raises(base.InvalidInput, match="unpacks"):
        archive.verify(bomb)


def unpacked(path: Path) -> bytes | None:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error):
        return None


async def test_any_damaged_byte_is_noticed(good: Path, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    data = good.read_bytes()
    bad = tmp_path / "bad.gz"
    # The gzip header's flags and time are not content.
    for _ in range(60):
        at = dice.randrange(10, len(data))
        bad.write_bytes(data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :])
        if unpacked(bad) == gzip.decompress(data):
            # The compressed form has bits that mean nothing.
            continue
        with pytest.raises(base.InvalidInput):
            transfer.verify(bad)
    for _ in range(20):
        bad.write_bytes(data[: dice.randrange(len(data))])
        with pytest.raises(base.InvalidInput):
            transfer.verify(bad)


async def test_an_archive_goes_only_into_an_empty_store(good: Path, tmp_path: Path) -> None:
    opened = await store.open_store(tmp_path / "to" / "mufakat.db", reserve_bytes=0)
    await opened.write(make.setup)
    with pytest.raises(base.Conflict, match="empty"):
        await opened.write(transfer.load(good))
    assert not (await opened.check(deep=True)).problems
    assert await opened.read(lambda tx: len(tx.projects.list())) == 1
    await opened.close()


async def test_rows_that_contradict_each_other_leave_nothing(good: Path, tmp_path: Path) -> None:
    """Every row is well formed, but one belongs to a conversation that is not there."""
    bad = tmp_path / "bad.gz"
    lines = resealed(lines_of(good), "messages", lambda r: r.update(conversation="c_none"))
    bad.write_bytes(gzip.compress(b"".join(lines)))
    transfer.verify(bad)
    opened = await store.open_store(tmp_path / "to" / "mufakat.db", reserve_bytes=0)
    with pytest.raises(base.MufakatError):
        await opened.write(transfer.load(bad))
    assert await opened.read(lambda tx: len(tx.projects.list())) == 0
    assert not (await opened.check(deep=True)).problems
    await opened.close()


async def test_an_archive_is_private_and_never_overwritten(good: Path, tmp_path: Path) -> None:
    assert good.stat().st_mode & 0o777 == 0o600
    opened = await store.open_store(tmp_path / "from" / "mufakat.db", reserve_bytes=0)
    with pytest.raises(base.Conflict):
        await opened.export(good)
    twice = [tmp_path / "1.gz", tmp_path / "2.gz"]
    for target in twice:
        await opened.export(target)
    assert twice[0].read_bytes() == twice[1].read_bytes()
    await opened.close()
