"""Where a project stands after a turn: asked in time, and never at the cost of the answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mufakat.core.talk.session import Place
from mufakat.retrieval import library, project

pytestmark = pytest.mark.anyio


async def test_a_git_that_hangs_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs(folder: Path) -> project.Position:
        await asyncio.sleep(3_600)
        return project.Position()

    monkeypatch.setattr(project, "position", hangs)
    monkeypatch.setattr(library, "PLACE_SECONDS", 0.05, raising=False)
    found = await asyncio.wait_for(library.LocalLibrary(tmp_path).place(tmp_path), 10)
    assert found == Place(str(tmp_path))


async def test_a_folder_that_became_a_file_has_no_place_in_git(tmp_path: Path) -> None:
    path = tmp_path / "was-a-folder"
    path.write_text("")
    assert await library.LocalLibrary(tmp_path).place(path) == Place(str(path))
