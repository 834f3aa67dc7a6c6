"""Starting, stopping and caring for the store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

from equipment.command import Mufakat


def test_up_starts_attaches_and_stops(own: Mufakat) -> None:
    first = own.run("up", "--detach")
    assert first.code == 0, first.err
    assert first.json["pid"] == own.pid
    assert first.json["attached"] is False
    again = own.run("up")
    assert again.json == first.json | {"attached": True}
    plain = own.run("up", "--no-json")
    assert plain.out == f"{first.json['url']}\n"
    assert str(own.pid) in plain.err
    stopped = own.run("up", "--stop")
    assert stopped.json == {"stopped": first.json["pid"]}
    assert own.pid == 0
    assert own.run("up", "--stop").json == {"stopped": None}


def test_a_server_that_hangs_does_not_pass_for_none(own: Mufakat) -> None:
    pid = own.run("up", "--detach").json["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        stopped = own.run("up", "--stop")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert (stopped.code, stopped.error["code"]) == (3, "unavailable")
    assert str(pid) in stopped.error["message"] and str(pid) in stopped.error["fix"]


def test_up_in_the_foreground_runs_until_it_is_told_to_end(own: Mufakat) -> None:
    up = own.spawn("up", "--port", "0")
    assert up.stdout is not None
    told = json.loads(up.stdout.readline())
    assert own.client.get("/health")["pid"] == told["pid"] == up.pid
    up.send_signal(signal.SIGINT)
    up.communicate(timeout=30)
    assert up.returncode == 0
    assert not (own.home / "server.json").exists()


def test_commands_that_start_together_share_one_server(own: Mufakat) -> None:
    words = ("ask", "hello", "-a", "scripted")
    asking = [own.spawn(*words) for _ in range(3)]
    ended = [(process.communicate(timeout=80), process.returncode) for process in asking]
    assert [code for _, code in ended] == [0, 0, 0], ended
    assert len(own.client.get("/turns")["items"]) == 3


def test_what_it_makes_is_private(own: Mufakat) -> None:
    ended = subprocess.run(
        ["sh", "-c", 'umask 000; exec "$@"', "sh", *own.argv("ask", "x", "-a", "scripted")],
        cwd=own.project,
        env=own.environment(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert own.home.stat().st_mode & 0o777 == 0o700
    for path in own.home.rglob("*"):
        if path.is_file():
            assert path.stat().st_mode & 0o077 == 0, path


def test_backup_and_check_with_and_without_a_server(own: Mufakat) -> None:
    for words in (("backup",), ("check",)):
        found = own.run(*words)
        assert (found.code, found.error["code"]) == (5, "not_found")
    assert not (own.home / "mufakat.db").exists(), "a look makes nothing"
    own.ask("hello")
    online = Path(own.run("backup").json["path"])
    assert own.run("check", "--deep").json["problems"] == []
    own.kill()
    offline = Path(own.run("backup").json["path"])
    assert own.pid == 0
    assert own.run("check", "--deep").json["problems"] == []
    assert "sound" in own.run("check", "--no-json").out
    assert online.is_file() and offline.is_file()
    assert {online.parent, offline.parent} == {own.home / "backups"}


def test_restore_brings_the_old_state_back_and_keeps_the_new_one(own: Mufakat) -> None:
    own.ask("one")
    backup = own.run("backup").json["path"]
    own.ask("two")
    cursor = own.client.get("/events", {"limit": 1})["head"]
    assert own.run("up", "--stop").code == 0
    restored = own.run("restore", backup)
    assert restored.code == 0, restored.err
    assert Path(restored.json["kept"]).is_file()
    assert len(own.run("turns").json["items"]) == 1
    stale = own.run("events", "--after", cursor)
    assert (stale.code, stale.error["code"]) == (4, "unknown_epoch")
    own.kill()
    plain = own.run("restore", restored.json["kept"], "--no-json")
    assert plain.code == 0
    assert len(own.run("turns").json["items"]) == 2


def test_a_killed_server_is_replaced(own: Mufakat) -> None:
    first = own.ask("one").json
    own.kill(signal.SIGKILL)
    assert (own.home / "server.json").exists(), "it had no time to tidy up"
    second = own.ask("two", "-c", first["conversation"])
    assert second.code == 0, second.err
    assert second.json["conversation"] == first["conversation"]


def test_events_are_followed_over_a_crash_of_the_server(own: Mufakat) -> None:
    own.run("up", "--detach")
    kinds = ("--kinds", "turn.ended")
    following = own.spawn("events", "-f", *kinds, "--after", own.client.get("/events")["head"])
    try:
        assert following.stdout is not None
        first = own.ask("one").json["turn"]
        assert json.loads(following.stdout.readline())["subject"] == first
        own.kill(signal.SIGKILL)
        own.run("up", "--detach")
        second = own.ask("two").json["turn"]
        assert json.loads(following.stdout.readline())["subject"] == second
    finally:
        following.kill()
        following.communicate()


def test_local_refuses_to_work_beside_a_server(own: Mufakat) -> None:
    own.run("up", "--detach")
    found = own.ask("x", "--local")
    assert (found.code, found.error["code"]) == (3, "in_use")
    assert str(own.pid) in found.error["message"]


def test_a_server_of_another_version_is_told_of(own: Mufakat) -> None:
    own.run("up", "--detach")
    record = own.home / "server.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"version": "0.0.1"}))
    assert "the server is version 0.0.1" in own.run("turns", "--no-json").err
    assert own.run("turns").err == "", "programs get clean JSON and nothing else"


def test_files_in_the_home_are_not_taken_for_modules(own: Mufakat) -> None:
    own.home.mkdir(mode=0o700)
    (own.home / "click.py").write_text("raise SystemExit(77)\n")
    assert own.ask("x").code == 0
