"""Skills that nobody should write: left out in time, each with its reason."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mufakat.core.base import NotFound
from mufakat.core.knowledge import skill
from mufakat.retrieval import skills
from mufakat.retrieval.skills import LocalSkills
from retrieval.test_skills import write

pytestmark = pytest.mark.anyio
SECONDS, MARGIN = 2, 3
"""What any of it may cost, and how much slower a machine under load may be."""
HEAD = b"---\nname: odd\ndescription: Odd.\n---\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    write(root, ".claude/skills", "good")
    return root


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SECONDS * MARGIN


async def refused(root: Path, name: str = "odd") -> str:
    """Why a skill is left out; the good one stays."""
    found, skips = await LocalSkills(None).list(root)
    assert [one.name for one in found] == ["good"]
    (why,) = (skip.why for skip in skips if Path(skip.path).name == name)
    with pytest.raises(NotFound, match="cannot be used"):
        await LocalSkills(None).get(root, name)
    return why


@pytest.mark.parametrize("beside", [False, True])
async def test_row_45_a_sparse_file_of_gigabytes_is_not_read(root: Path, beside: bool) -> None:
    folder = write(root, ".claude/skills", "odd")
    with (folder / ("beside.md" if beside else skills.FILE)).open("wb") as sparse:
        sparse.truncate(5 << 30)
    assert (await refused(root)).startswith("larger than 4,096 KiB (5,242,880 KiB)")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (HEAD + b"text \0\1\2", "binary"),
        (HEAD + b"x" * 100_000 + b"\0", "binary"),
        (b"\x7fELF" + bytes(range(256)) * 100, "binary"),
        (b"\xff\xfe" * 1_000, "no front matter"),
        (b"", "no front matter"),
        (HEAD + "\u200b".encode() * 1_000_000, "larger than 256 KiB"),
        (b"---\nname: odd\ndescription: " + "\u200b".encode() * 80_000, "does not end"),
        ("---\nname: o\u200bdd\ndescription: Odd.\n---\n".encode(), "its name"),
    ],
    ids=["zeroes", "late zero", "program", "no text", "empty", "zero-width body", "head", "name"],
)
async def test_what_is_no_skill_says_why(root: Path, content: bytes, why: str) -> None:
    (write(root, ".claude/skills", "odd") / skills.FILE).write_bytes(content)
    assert why in await refused(root)


async def test_row_37_signs_that_nobody_sees_stay_within_the_limits(root: Path) -> None:
    folder = write(root, ".claude/skills", "unseen")
    many = "\u200b\u0301\u202e" * 1_700
    body = "\u200b" * 80_000
    front = f"---\nname: unseen\ndescription: Odd{many}\n---\n{body}\n"
    (folder / skills.FILE).write_text(front)
    found, skips = await LocalSkills(None).list(root)
    assert [one.name for one in found] == ["good", "unseen"]
    assert not skips
    assert len(found[1].description) <= skill.DESCRIPTION_CHARS
    assert len((await LocalSkills(None).get(root, "unseen")).body) == len(body)


async def test_loops_of_links_are_not_followed(root: Path) -> None:
    place = root / ".claude/skills"
    loop = write(root, ".claude/skills", "odd")
    (loop / "again").symlink_to(loop)
    own = write(root, ".claude/skills", "self")
    (own / skills.FILE).unlink()
    (own / skills.FILE).symlink_to(skills.FILE)
    (place / "above").symlink_to(place)
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    (root / ".agents").symlink_to(".agents")
    (root / ".codex").symlink_to(root)
    found, skips = await LocalSkills(None).list(root)
    assert [one.name for one in found] == ["good"]
    whys = {Path(skip.path).name: skip.why for skip in skips}
    assert set(whys) >= {"odd", "self", "above", "a", "b"}
    assert all("link" in whys[name] for name in ("odd", "self", "above", "a", "b"))


@pytest.mark.parametrize("piece", ["good", "\u200b", "\0", "x"])
async def test_row_44_a_name_of_ten_megabytes_is_not_there(root: Path, piece: str) -> None:
    with pytest.raises(NotFound) as problem:
        await LocalSkills(None).get(root, piece * (10 * 1024 * 1024 // len(piece)))
    assert len(str(problem.value)) < 1_000
