"""`mufakat search`: the first search indexes, every line names a place and why."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import pytest

from equipment import command
from mufakat.sdk import discovery
from mufakat.sdk.client import Client


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


def test_the_files_that_a_change_touches(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "Open the store", "--files", "--path", str(code), "--no-json")
    assert found.code == 0, found.err
    assert found.out.split() == ["store.py"]
    both = shared.run("search", "x", "--files", "--exact", "--path", str(code))
    assert both.code == 2


def test_nothing_found_says_why(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "zanzibar", "--path", str(code), "--json")
    assert found.code == 0
    assert found.json["items"] == []
    assert found.json["why"] == "no file has any of these words"


def test_a_folder_that_is_not_there(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "x", "--path", str(code / "none"))
    assert found.code != 0
    assert "Traceback" not in found.err


def test_an_exact_text(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "--exact", "def open(", "--path", str(code), "--json")
    assert [(hit["path"], hit["start"]) for hit in found.json["items"]] == [("store.py", 2)]


def test_two_ways_at_once_are_refused(shared: command.Mufakat, code: Path) -> None:
    found = shared.run("search", "x", "--exact", "--rawq", "--path", str(code))
    assert found.code == 2
    assert "Give one of" in found.err


def test_the_index_is_brought_up_to_date_and_made_anew(shared: command.Mufakat, code: Path) -> None:
    (code / "link.py").symlink_to("/etc/passwd")
    found = shared.run("index", "--path", str(code), "--json").json
    assert (found["files"], found["changed"], found["complete"]) == (1, 1, True)
    assert found["skipped"] == [{"path": "link.py", "why": "a link"}]
    assert shared.run("index", "--path", str(code), "--json").json["changed"] == 0
    again = shared.run("index", "--rebuild", "--path", str(code), "--no-json")
    assert again.code == 0
    assert "1 in" in again.out
    assert "link.py: a link" in again.out


def large(code: Path) -> None:
    for folder in range(40):
        (code / f"d{folder}").mkdir()
        for number in range(100):
            body = f"def function_{folder}_{number}(a, b):\n    return a + b\n" * 30
            (code / f"d{folder}" / f"f{number}.py").write_text(body)


def test_on_a_terminal_it_shows_how_far_it_is_and_ctrl_c_stops_it(
    shared: command.Mufakat, code: Path
) -> None:
    large(code)
    child, terminal = os.forkpty()
    if child == 0:
        words = shared.argv("search", "function_39_99", "--path", str(code))
        os.execve(sys.executable, words, shared.environment())
    seen = b""
    ends = time.monotonic() + 60
    while b" of 4,001 files" not in seen:
        assert time.monotonic() < ends, seen
        seen += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 4096):
            seen += piece
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) in {130, -2}, seen
    endpoint = discovery.find(shared.home)
    assert endpoint is not None
    client = Client(endpoint)
    id = client.post("/projects", {"path": str(code)})["id"]
    state = client.get(f"/projects/{id}/index")
    assert (state["running"], state["complete"]) == (False, False)
    found = shared.run("search", "function_39_99", "--path", str(code), "--json").json
    assert found["items"][0]["path"] == "d39/f99.py"
