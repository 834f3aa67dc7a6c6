"""The library: facts in time, and a reason for every source that could not be had."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput, NotFound
from mufakat.core.talk.agent import Permission
from mufakat.retrieval import library, project, role_documents
from mufakat.retrieval.library import LocalLibrary

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "demo"
    place.mkdir()
    (place / "README.md").write_text(
        "# Demo\n\n[![badge](x)](y)\n\n> quoted\n\nA small demo about\npelicans.\n\nMore.\n"
    )
    (place / "pyproject.toml").write_text("")
    (place / "package.json").write_text("{}")
    (place / "AGENTS.md").write_text("rules")
    return place


async def test_the_project_at_a_glance(folder: Path, tmp_path: Path) -> None:
    found = await LocalLibrary(tmp_path).gather(folder, seconds=10)
    assert found.unavailable == ()
    assert found.project.name == "demo"
    assert found.project.summary == "A small demo about pelicans."
    assert found.project.stack == ("Python", "JavaScript")
    assert found.project.conventions == ("AGENTS.md",)
    assert found.place.cwd == str(folder)


async def test_a_source_that_is_late_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> project.Position:
        await asyncio.sleep(60)
        raise AssertionError

    monkeypatch.setattr(project, "position", never)
    found = await LocalLibrary(tmp_path).gather(folder, seconds=0.05)
    assert [(gap.source, gap.why) for gap in found.unavailable] == [
        ("git", "timed out after 50 ms")
    ]
    assert found.project.branch == ""
    assert found.project.stack


async def test_a_folder_that_vanished_says_so(tmp_path: Path) -> None:
    found = await LocalLibrary(tmp_path).gather(tmp_path / "gone", seconds=10)
    assert {gap.source for gap in found.unavailable} >= {"files"}


def test_special_files_are_not_read(folder: Path) -> None:
    (folder / "README.md").unlink()
    os.mkfifo(folder / "README.md")
    (folder / "AGENTS.md").unlink()
    (folder / "AGENTS.md").symlink_to("/etc/hostname")
    found = project.files(folder)
    assert found.summary == ""
    assert found.conventions == ()


def test_the_built_in_roles_and_what_they_may(tmp_path: Path) -> None:
    roles = {role.name: role for role in role_documents.roles(tmp_path)}
    assert {name: role.permission for name, role in roles.items()} == {
        "general": Permission.READ,
        "architect": Permission.READ,
        "reviewer": Permission.READ,
        "tester": Permission.RUN,
        "developer": Permission.DEVELOP,
        "debugger": Permission.DEVELOP,
    }
    assert all(role.description and role.text for role in roles.values())


def test_the_users_own_role_comes_first(tmp_path: Path) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "reviewer.md").write_text(
        "---\ndescription: mine\npermission: run\n---\nLook twice.\n"
    )
    (tmp_path / "roles" / "poet.md").write_text("Write verse.")
    roles = {role.name: role for role in role_documents.roles(tmp_path)}
    assert roles["reviewer"].text == "Look twice."
    assert roles["reviewer"].permission is Permission.RUN
    assert roles["poet"].permission is Permission.READ


@pytest.mark.parametrize(
    ("name", "text"), [("Bad Name.md", "x"), ("big.md", "x" * 70_000),
                       ("odd.md", "---\npermission: everything\n---\nx")],
)  # fmt: skip
def test_a_role_file_that_cannot_be_used_names_the_fix(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / name).write_text(text)
    with pytest.raises(InvalidInput) as caught:
        role_documents.roles(tmp_path)
    assert caught.value.fix


def test_personas(tmp_path: Path) -> None:
    assert role_documents.persona(tmp_path, "concise")
    with pytest.raises(NotFound) as caught:
        role_documents.persona(tmp_path, "pirate")
    assert "concise" in caught.value.fix


def test_the_platform_rules_name_the_fence() -> None:
    assert "{fence}" in library.LocalLibrary(Path("/nonexistent")).platform()
