"""Whatever a project or a query holds: bounded time, a clear answer, nothing outside is read."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from equipment.code_index import SESSION, fresh, paths
from mufakat.core.base import InvalidInput, NotFound
from mufakat.retrieval.code import index as indexes
from mufakat.retrieval.code.index import LocalCodeIndex

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("path", ["../home/x", "/etc/passwd", "none.py", "a\0", "link.py", ""])
async def test_row_41_a_slice_of_the_outside_is_not_found(
    index: LocalCodeIndex, root: Path, path: str
) -> None:
    (root / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(NotFound):
        await index.slice(root, path)


async def test_a_slice_is_the_lines_asked_for(index: LocalCodeIndex, root: Path) -> None:
    assert await index.slice(root, "store.py", start=4, end=5) == "\n".join(
        SESSION.split("\n")[3:5]
    )
    assert await index.slice(root, "store.py") == SESSION
    assert await index.slice(root, "store.py", start=99) == ""


async def test_a_root_that_is_no_folder(index: LocalCodeIndex, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        await index.search(tmp_path / "none", "x")


@pytest.mark.parametrize(
    "query",
    [
        "--pre=/tmp/x", "-f/etc/passwd", "-O cmd", "--output=f", "(a+)+$", "AND OR NOT NEAR(",
        '"', "*", "[", "\\", "%' OR 1=1 --", "a" * 5_000, "\u200b" * 1_000, "@#$%", " ", "",
        "parse_cookie\0x", "x " * 10_000,
    ],
)  # fmt: skip
async def test_row_43_a_query_is_words_whatever_it_holds(
    index: LocalCodeIndex, root: Path, query: str
) -> None:
    found = await index.search(root, query)
    assert found.hits or found.why


async def test_row_44_a_hostile_pattern_and_ten_megabytes_are_cheap(
    index: LocalCodeIndex, root: Path
) -> None:
    (root / "a.txt").write_text("a" * 30 + "!\n")
    await index.refresh(root)
    for query in ("(a+)+$", "word " * 2_000_000):
        began = time.monotonic()
        found = await index.search(root, query)
        assert time.monotonic() - began < 6
    assert found.why == "only the first 4,000 characters of the query were looked at"


HOSTILE_LINES = [
    "\u200b" * 1_000_000,
    "int " * 200_000 + "(",
    "a*" * 250_000 + "(",
    "a.b:" * 200_000,
    "public " * 100_000 + "class",
    "class" + " " * 500_000,
    "#" + " " * 500_000,
    "@a " * 200_000,
    "A" * 900_000,
    ("x" * 300 + "\n") * 3_000,
    ("static const " * 150 + "\n") * 500,
    ("a<b,c>* & " * 190 + "\n") * 500,
]


@pytest.mark.parametrize("number", range(len(HOSTILE_LINES)))
@pytest.mark.parametrize("ending", ["c", "py", "hs", "sh", "md"])
async def test_a_hostile_file_is_cheap(
    index: LocalCodeIndex, root: Path, number: int, ending: str
) -> None:
    (root / f"hostile.{ending}").write_text(HOSTILE_LINES[number])
    began = time.monotonic()
    await index.refresh(root)
    assert time.monotonic() - began < 15
    assert await fresh(index, root, "parse_cookie") == ["cookie.py"]


async def test_row_46_nothing_of_a_hostile_repository_is_run(
    index: LocalCodeIndex, root: Path, tmp_path: Path
) -> None:
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "filter.evil.clean",
                 "alias.status", "diff.evil.textconv"):  # fmt: skip
        subprocess.run(["git", "config", name, str(trap)], cwd=root, check=True)
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (root / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch {sprung}"\n'
    )
    await index.refresh(root)
    assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]
    assert not sprung.exists()


async def test_a_file_that_goes_between_search_and_reading_is_left_out(
    index: LocalCodeIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.refresh(root)
    monkeypatch.setattr(indexes, "FRESH_SECONDS", 1e9)
    (root / "cookie.py").unlink()
    assert paths(await index.search(root, "parse_cookie")) == []
    (root / "cookie.py").symlink_to("/etc/passwd")
    assert paths(await index.search(root, "parse_cookie")) == []
