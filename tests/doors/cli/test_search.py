"""`mufakat search`: the first search indexes, every line names a place and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equipment import command


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "store.py").write_text("class SessionStore:\n    def open(self):\n        pass\n")
    return folder


def test_it_names_place_symbol_score_and_reason(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "SessionStore", "--path", str(code), "--json")
    assert found.code == 0, found.err
    hit = json.loads(found.out)["items"][0]
    assert (hit["path"], hit["start"], hit["end"], hit["symbol"]) == (
        "store.py", 1, 3, "SessionStore",
    )  # fmt: skip
    assert hit["why"].startswith("defines it")
    (code / "new.py").write_text("def something_new():\n    pass\n")


def test_nothing_found_says_why(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "zanzibar", "--path", str(code), "--json")
    assert found.code == 0
    assert json.loads(found.out) == {
        "items": [],
        "next": None,
        "why": "no file has any of these words",
    }


def test_a_folder_that_is_not_there(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "x", "--path", str(code / "none"))
    assert found.code != 0
    assert "Traceback" not in found.err
