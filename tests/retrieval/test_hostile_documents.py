"""Documents and questions that nobody should write: answered in time, with a reason."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mufakat.core.base import NotFound
from mufakat.core.knowledge import document
from mufakat.retrieval.documents.chub import Chub
from mufakat.retrieval.documents.local import LocalDocuments
from mufakat.services.knowledge.documents import QUERY_CHARS, Documents
from mufakat.services.knowledge.gathering import Subject

pytestmark = pytest.mark.anyio
SECONDS, MARGIN = 2, 3
"""What any of it may cost, and how much slower a machine under load may be."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "README.md").write_text("# Shop\n\nA shop for oolong tea.\n")
    return root


@pytest.fixture
def documents(tmp_path: Path) -> LocalDocuments:
    return LocalDocuments(tmp_path / "own", Chub({"PATH": ""}), seconds=60)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SECONDS * MARGIN


async def found(documents: LocalDocuments, root: Path, query: str) -> list[str]:
    return [one.document for one in (await documents.search(root, query)).passages]


@pytest.mark.parametrize(
    "content",
    [
        b"# Title\n\noolong \0\1\2 binary",
        b"\x7fELF" + bytes(range(256)) * 1_000 + b" oolong",
        b"# oolong\n\n" + b"x" * 600_000,
        b"",
    ],
    ids=["zeroes", "program", "large", "empty"],
)
async def test_what_is_no_text_is_not_found_and_says_so(
    root: Path, documents: LocalDocuments, content: bytes
) -> None:
    (root / "docs/odd.md").write_bytes(content)
    assert await found(documents, root, "oolong binary") == ["README.md"]
    with pytest.raises(NotFound, match="no text that can be read"):
        await documents.get(root, "docs/odd.md")


async def test_a_sparse_file_of_gigabytes_is_not_read(
    root: Path, documents: LocalDocuments
) -> None:
    with (root / "docs/sparse.md").open("wb") as sparse:
        sparse.truncate(5 << 30)
    assert await found(documents, root, "oolong") == ["README.md"]
    with pytest.raises(NotFound, match="too large|no text"):
        await documents.get(root, "docs/sparse.md")


async def test_loops_of_links_are_left_where_they_are(
    root: Path, documents: LocalDocuments
) -> None:
    (root / "docs/a.md").symlink_to("b.md")
    (root / "docs/b.md").symlink_to("a.md")
    (root / "docs/self.md").symlink_to("self.md")
    (root / "docs/up").symlink_to(root)
    (root / "doc").symlink_to("docs")
    (root / "documentation").symlink_to("documentation")
    (root / "docs/oolong.md").write_text("# Oolong\n\nIs a tea.\n")
    assert sorted(await found(documents, root, "oolong")) == ["README.md", "docs/oolong.md"]
    with pytest.raises(NotFound, match="no document"):
        await documents.get(root, "docs/a.md")


INVISIBLE = {"zero-width": "\u200b", "joiner": "\u200d", "combining": "\u0301", "bidi": "\u202e"}


@pytest.mark.parametrize("sign", INVISIBLE.values(), ids=INVISIBLE)
async def test_row_37_a_document_of_signs_that_nobody_sees(
    root: Path, documents: LocalDocuments, sign: str
) -> None:
    (root / "docs/huge.md").write_text(f"# Tea\n\noolong{sign * 1_000_000}\n")
    (root / "docs/many.md").write_text(f"# Tea{sign * 1_000}\n\noolong {sign * 150_000}\n")
    assert sorted(await found(documents, root, "oolong")) == ["README.md", "docs/many.md"]
    passage = await documents.get(root, "docs/many.md")
    assert len(passage.text) < 10_000


@pytest.mark.parametrize("sign", INVISIBLE.values(), ids=INVISIBLE)
async def test_row_37_a_question_of_signs_that_nobody_sees(
    root: Path, documents: LocalDocuments, sign: str
) -> None:
    answer = await documents.search(root, sign * 1_000_000)
    assert (answer.passages, answer.why) == ((), "no document has these words")
    assert await found(documents, root, f"oolong {sign * 1_000_000}") == ["README.md"]


async def test_row_44_a_question_of_ten_megabytes_is_cut(
    root: Path, documents: LocalDocuments
) -> None:
    query = "oolong " * (10 * 1024 * 1024 // 7)
    assert await found(documents, root, query) == ["README.md"]
    service = Documents(None, documents, None)  # type: ignore[arg-type] - a question needs neither
    service._clean = lambda one: one  # type: ignore[method-assign]  # noqa: SLF001
    answer = await service._search(root, query, limit=5)  # noqa: SLF001
    assert answer.why == f"the question was cut at {QUERY_CHARS:,} characters"
    assert [one.id for one in await service.source(Subject(root, query))] == ["doc:README.md#Shop"]


@pytest.mark.parametrize("piece", ["x", "README ", "\u200b", "\0"])
async def test_row_44_a_name_of_ten_megabytes_is_not_there(
    root: Path, documents: LocalDocuments, piece: str
) -> None:
    name = piece * (10 * 1024 * 1024 // len(piece))
    await documents.search(root, "oolong")
    with pytest.raises(NotFound) as problem:
        await documents.get(root, name)
    assert len(str(problem.value)) < 1_000
    with pytest.raises(NotFound) as problem:
        await documents.get(root, "README.md", section=name)
    assert len(str(problem.value)) < 1_000


@pytest.mark.parametrize("line", ["# " + "#" * 400_000 + "x", "# a" + " #" * 200_000 + "x"])
async def test_a_heading_of_nothing_but_signs_takes_no_time(
    root: Path, documents: LocalDocuments, line: str
) -> None:
    (root / "docs/signs.md").write_text(f"{line}\n\noolong\n")
    assert sorted(await found(documents, root, "oolong")) == ["README.md", "docs/signs.md"]


def test_twin_a_pattern_that_leaves_closing_signs_out_takes_quadratic_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cost(count: int) -> float:
        before = time.process_time()
        document.sections("# " + "#" * count + "x")
        return time.process_time() - before

    assert cost(8_000) < 0.05
    naive = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*\Z")
    monkeypatch.setattr(document, "_HEADING", naive)
    assert cost(8_000) > 8 * cost(2_000)


@pytest.mark.parametrize(
    ("line", "heading"),
    [("# a ##", "a"), ("## a # b #  ", "a # b"), ("# #", "#"), ("# a#", "a"), ("### a\t#\t", "a")],
)
def test_closing_signs_are_no_part_of_a_heading(line: str, heading: str) -> None:
    assert [one.heading for one in document.sections(f"{line}\n\ntext")] == [heading]
