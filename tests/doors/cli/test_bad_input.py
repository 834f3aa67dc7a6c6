"""Bad input: an error that names the fix, the right exit code, and nothing lost."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from equipment.command import Mufakat, Outcome


def counts(at: Mufakat) -> tuple[int, int]:
    """Turns and conversations that the home holds."""
    turns = at.client.get("/turns", {"limit": 200})["items"]
    threads = at.client.get("/conversations", {"limit": 200})["items"]
    return len(turns), len(threads)


def refused(found: Outcome, code: int, error: str, *, fix: str) -> None:
    """The whole of a good refusal: exit code, error code, fix, and a clean stdout."""
    assert found.code == code, (found.code, found.err)
    assert found.error["code"] == error
    assert fix in found.error["fix"], found.error
    assert found.error["message"]
    assert found.out == ""
    assert "Traceback" not in found.err


REQUESTS: dict[str, tuple[Sequence[str], int, str, str]] = {
    "empty prompt": (["ask", ""], 2, "invalid_input", "mufakat ask"),
    "blank prompt": (["ask", " \n\t "], 2, "invalid_input", "mufakat ask"),
    "no prompt": (["ask"], 2, "invalid_input", "mufakat ask"),
    "unknown engine": (["ask", "x", "-a", "nobody"], 5, "engine_unknown", "scripted"),
    "unknown mode": (["ask", "x", "--mode", "huge"], 2, "invalid_input", "lite, standard"),
    "budget of 10": (["ask", "x", "--budget", "10"], 2, "invalid_input", "500"),
    "budget of 0": (["ask", "x", "--budget", "0"], 2, "invalid_input", "500"),
    "negative budget": (["ask", "x", "--budget", "-1"], 2, "invalid_input", "500"),
    "word as budget": (["ask", "x", "--budget", "much"], 2, "usage", "--help"),
    "prompt over the budget": (
        ["ask", "x" * 5000, "-a", "scripted", "--budget", "600"],
        2,
        "does_not_fit",
        "budget of at least",
    ),
    "muted prompt": (["ask", "x", "--mute", "prompt"], 2, "invalid_input", "Choose among"),
    "unknown conversation": (["ask", "x", "-a", "scripted", "-c", "c_nope"], 5, "not_found", ""),
    "no such project": (["ask", "x", "--project", "/nowhere/at/all"], 2, "invalid_input", "path"),
    "file as project": (["ask", "x", "--project", "README.md"], 2, "invalid_input", "folder"),
    "unknown pack": (["pack", "show", "k_nope"], 5, "not_found", "pack"),
    "empty pack id": (["pack", "show", " "], 2, "invalid_input", "pack list"),
    "path as pack id": (["pack", "show", "../../x"], 2, "invalid_input", "pack list"),
    "unknown turn": (["turns", "cancel", "t_nope"], 5, "not_found", ""),
    "unknown thread": (["conversations", "show", "c_nope"], 5, "not_found", ""),
    "bad cursor": (["events", "--after", "yesterday"], 2, "bad_cursor", "id"),
    "unknown command": (["dance"], 2, "usage", "mufakat --help"),
    "unknown option": (["ask", "x", "--loud"], 2, "usage", "mufakat ask --help"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_cannot_work(shared: Mufakat, name: str) -> None:
    words, code, error, fix = REQUESTS[name]
    before = counts(shared)
    refused(shared.run(*words), code, error, fix=fix)
    assert counts(shared) == before


def test_a_prompt_of_5_mb_is_refused_before_it_is_sent(own: Mufakat) -> None:
    found = own.run("ask", "-", data=b"word " * 1_048_576)
    refused(found, 2, "too_large", fix="file")
    assert own.pid == 0, "no server was needed to refuse it"


def test_an_unreadable_project(own: Mufakat) -> None:
    locked = own.project / "locked"
    locked.mkdir(mode=0o000)
    if os.access(locked, os.R_OK):  # the superuser may read everything
        locked.rmdir()
        locked.symlink_to(locked)
    found = own.run("ask", "x", "--project", str(locked))
    refused(found, 2, "invalid_input", fix="permissions")


def test_a_missing_program(own: Mufakat) -> None:
    own.home.mkdir(mode=0o700)
    (own.home / "settings.toml").write_text('[engines.claude]\ncommand = "/nowhere/claude"\n')
    found = own.run("ask", "x", "-a", "claude")
    assert found.code == 1, found.err
    assert "claude" in found.error["message"]
    assert found.error["fix"]
    doctor = own.run("doctor")
    assert doctor.code == 1
    assert [row["what"] for row in doctor.json["broken"]] == ["engine claude"]
    assert doctor.json["broken"][0]["fix"]


def damage(path: Path) -> None:
    """Overwrite pages in the middle of a database."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 8192))


def from_the_future(path: Path) -> None:
    """Let a database look as if a newer Mufakat had written it."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()


@pytest.mark.parametrize(
    ("harm", "code", "error", "fix"),
    [(damage, 1, "store_corrupt", "restore"), (from_the_future, 6, "store_newer", "")],
)
def test_a_database_that_cannot_be_used(
    own: Mufakat, harm: Callable[[Path], None], code: int, error: str, fix: str
) -> None:
    asked = own.ask("keep this")
    backup = own.run("backup").json["path"]
    own.kill()
    database = own.home / "mufakat.db"
    harm(database)
    before = database.read_bytes()
    for words in (["ask", "x", "-a", "scripted"], ["up"], ["check"]):
        refused(own.run(*words), code, error, fix=fix)
    assert database.read_bytes() == before, "a refused database is left as it is"
    doctor = own.run("doctor")
    assert (doctor.code, doctor.json["server"]["code"]) == (1, error)
    restored = own.run("restore", backup)
    assert restored.code == 0, restored.err
    assert Path(restored.json["kept"]).exists()
    turns = own.run("turns").json["items"]
    assert [row["id"] for row in turns] == [asked.json["turn"]]


def test_a_port_in_use(own: Mufakat) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused(own.run("up", "--port", port), 3, "in_use", fix="port")
        refused(own.run("up", "--detach", "--port", port), 3, "in_use", fix="port")
        found = own.run("ask", "x", "-a", "scripted", MUFAKAT_PORT=port)
        refused(found, 3, "in_use", fix="port")
    assert own.ask("x").code == 0


def test_wrong_settings(own: Mufakat) -> None:
    own.home.mkdir(mode=0o700)
    (own.home / "settings.toml").write_text("budget = 10\n")
    refused(own.run("turns"), 2, "invalid_input", fix="settings.toml")


def test_restore_while_a_server_runs_names_its_process(own: Mufakat) -> None:
    own.run("up", "--detach")
    backup = own.run("backup").json["path"]
    found = own.run("restore", backup)
    refused(found, 3, "in_use", fix="up --stop")
    assert str(own.pid) in found.error["message"]
    refused(own.run("restore", backup + "x"), 3, "in_use", fix="up --stop")
    own.kill()
    refused(own.run("restore", backup + "x"), 5, "not_found", fix="")


def test_a_home_that_cannot_be_made(own: Mufakat) -> None:
    (own.home.parent / "file").write_text("")
    own.home = own.home.parent / "file" / "home"
    found = own.run("turns")
    assert found.code == 2, found.err
    assert found.error["fix"]


def test_errors_for_people(shared: Mufakat) -> None:
    found = shared.run("ask", "", "--no-json")
    assert found.err == 'error: The prompt is empty.\nfix: Say what you want: mufakat ask "…"\n'
    assert found.out == ""


def test_a_fault_of_our_own_is_one_line_and_a_log(own: Mufakat) -> None:
    # A package that cannot be imported stands for a fault that nobody thought of.
    broken = own.home.parent / "broken"
    shutil.copytree(Path(__file__).parent / "broken_package", broken)
    found = own.run("ask", "x", "--local", PYTHONPATH=str(broken))
    assert found.code == 1, found.err
    assert found.error["code"] == "internal"
    assert "Traceback" not in found.err
    log = own.home / "logs" / "cli.log"
    assert str(log) in found.error["fix"]
    assert "RuntimeError: a fault" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0
