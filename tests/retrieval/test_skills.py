"""Skills are read from project and home; nothing outside of their folders is ever read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mufakat.core.base import NotFound
from mufakat.retrieval import skills
from mufakat.retrieval.skills import LocalSkills

pytestmark = pytest.mark.anyio


def write(root: Path, place: str, name: str, *, body: str = "Do it.", head: str = "") -> Path:
    folder = root / place / name
    folder.mkdir(parents=True)
    front = head or f"name: {name}\ndescription: About {name}."
    (folder / "SKILL.md").write_text(f"---\n{front}\n---\n{body}\n")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


async def test_project_and_person_are_read_and_the_project_comes_first(
    root: Path, home: Path
) -> None:
    write(root, ".claude/skills", "release")
    write(root, ".agents/skills", "review")
    write(home, ".claude/skills", "release", body="Mine.")
    own = write(home, ".agents/skills", "notes")
    (own / "more").mkdir()
    (own / "more" / "data.bin").write_bytes(b"\0\xff")
    found, skips = await LocalSkills(home).list(root)
    assert [(one.name, one.origin) for one in found] == [
        ("notes", "user"),
        ("release", "project"),
        ("review", "project"),
    ]
    assert all(not one.body for one in found)
    assert found[0].files == ("more/data.bin",)
    assert [skip.why.endswith("has the same name") for skip in skips] == [True]
    assert (await LocalSkills(home).get(root, "review")).body == "Do it."


async def test_any_change_in_the_folder_is_another_digest(root: Path) -> None:
    folder = write(root, ".claude/skills", "release")
    (folder / "run.sh").write_bytes(b"true\xff")

    async def digest() -> str:
        return (await LocalSkills(None).get(root, "release")).digest

    before = await digest()
    assert await digest() == before
    (folder / "run.sh").write_bytes(b"true\xfe")
    assert await digest() != before
    (folder / "run.sh").write_bytes(b"true\xff")
    assert await digest() == before
    (folder / "new.md").touch()
    assert await digest() != before


async def test_broken_skills_are_named_with_the_reason(root: Path) -> None:
    write(root, ".claude/skills", "bomb", head="name: &a [*a]\ndescription: x")
    write(root, ".claude/skills", "code", head="name: !!python/name:os.system\ndescription: x")
    write(root, ".claude/skills", "nameless", head="description: x")
    large = write(root, ".claude/skills", "large")
    (large / "SKILL.md").write_text("x" * (skills.LARGEST_FILE + 1))
    many = write(root, ".claude/skills", "many")
    for n in range(skills.MOST_FILES + 1):
        (many / f"{n}.md").touch()
    (root / ".claude/skills/empty").mkdir()
    (root / ".claude/skills/README.md").write_text("no skill")
    found, skips = await LocalSkills(None).list(root)
    assert not found
    names = {Path(skip.path).name: skip.why for skip in skips}
    assert set(names) >= {"bomb", "code", "nameless", "large", "many"}
    assert all(names.values())
    with pytest.raises(NotFound, match="cannot be used"):
        await LocalSkills(None).get(root, "bomb")


async def test_links_devices_and_pipes_are_not_followed(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    write(tmp_path, "secret", "outside", body="SECRET")
    (root / ".claude/skills").mkdir(parents=True)
    (root / ".claude/skills/outside").symlink_to(secret / "outside")
    inner = write(root, ".claude/skills", "inner")
    (inner / "beside").symlink_to(secret)
    pipe = write(root, ".claude/skills", "pipe")
    os.mkfifo(pipe / "fifo")
    swapped = write(root, ".claude/skills", "swapped")
    (swapped / "SKILL.md").unlink()
    (swapped / "SKILL.md").symlink_to(secret / "outside/SKILL.md")
    (root / ".agents").symlink_to(secret)
    found, skips = await LocalSkills(None).list(root)
    assert not found
    assert {Path(skip.path).name for skip in skips} >= {"outside", "inner", "pipe", "swapped"}


async def test_an_unknown_name_is_answered_with_the_nearest(root: Path) -> None:
    write(root, ".claude/skills", "release")
    with pytest.raises(NotFound) as problem:
        await LocalSkills(None).get(root, "releases")
    assert "release" in problem.value.fix
    with pytest.raises(NotFound):
        await LocalSkills(None).get(root, "../../etc")
