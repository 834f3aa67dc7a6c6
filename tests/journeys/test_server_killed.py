"""kill -9 of the server in the middle of a turn: nothing runs twice, nothing is left alive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mufakat.engines.cli import one_shot
from mufakat.engines.process import sweep
from mufakat.sdk import discovery
from mufakat.sdk.client import Client

FAKE = """#!{python}
import json, os, subprocess, sys, time
if "-p" not in sys.argv:
    print("9.9.9 (fake)")
    sys.exit(0)
count = {count!r}
with open(count, "a") as file:
    file.write("run\\n")
sys.stdin.read()
say = lambda **event: print(json.dumps(event), flush=True)
session = sys.argv[sys.argv.index("--session-id") + 1] if "--session-id" in sys.argv else ""
say(type="system", subtype="init", session_id=session, model="fake")
if os.path.exists({go!r}):
    say(type="assistant", message={{"content": [{{"type": "text", "text": "done"}}]}})
    say(type="result", subtype="success", is_error=False, result="done", session_id=session,
        usage={{"input_tokens": 1, "output_tokens": 1}})
    sys.exit(0)
subprocess.Popen(["sleep", "300"], start_new_session=True)
open({working!r}, "w").close()
time.sleep(300)
"""


@contextmanager
def server(home: Path) -> Iterator[tuple[Client, int]]:
    """A real server process; ended by its pid."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mufakat", "--home", str(home), "up"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 30
        while (found := discovery.find(home)) is None or found.pid != process.pid:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server did not come up"
            time.sleep(0.05)
        yield Client(found), process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    fake = tmp_path / "fake-claude"
    count, go = str(tmp_path / "count"), str(tmp_path / "go")
    fake.write_text(
        FAKE.format(python=sys.executable, count=count, go=go, working=str(tmp_path / "working"))
    )
    fake.chmod(0o755)
    (folder / "settings.toml").write_text(f"[engines.claude]\ncommand = {json.dumps(str(fake))}\n")
    return folder


def until(condition, seconds: float = 20.0):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return value


def test_a_started_turn_is_interrupted_and_never_run_again_by_itself(
    home: Path, tmp_path: Path
) -> None:
    mark = one_shot.home_mark(home)
    with server(home) as (client, pid):
        turn = client.post(
            "/turns", {"prompt": "Work.", "project": str(tmp_path), "engine": "claude"}
        )
        until(lambda: client.get(f"/turns/{turn['id']}")["status"] == "running")
        until((tmp_path / "working").exists)
        assert len(sweep.find(mark)) >= 2
        os.kill(pid, signal.SIGKILL)
    with server(home) as (client, _):
        until(lambda: not sweep.find(mark), 9)
        after = client.get(f"/turns/{turn['id']}")
        assert after["status"] == "interrupted"
        assert after["fix"]
        said = client.get(f"/conversations/{turn['conversation']}/messages")["items"]
        assert [one["text"] for one in said] == ["Work."]
        assert (tmp_path / "count").read_text() == "run\n"
        (tmp_path / "go").touch()
        again = client.post(f"/turns/{turn['id']}/retry", {})
        ended = client.get(f"/turns/{again['id']}?wait=20")
        assert (ended["status"], ended["text"]) == ("done", "done")
        assert (tmp_path / "count").read_text() == "run\nrun\n"


def test_a_queued_turn_is_started_after_the_crash(home: Path, tmp_path: Path) -> None:
    with server(home) as (client, pid):
        body = {"prompt": "First.", "project": str(tmp_path), "engine": "claude"}
        first = client.post("/turns", body)
        until(lambda: client.get(f"/turns/{first['id']}")["status"] == "running")
        second = client.post(
            "/turns", body | {"prompt": "Second.", "conversation": first["conversation"]}
        )
        assert client.get(f"/turns/{second['id']}")["status"] == "queued"
        os.kill(pid, signal.SIGKILL)
    (tmp_path / "go").touch()
    with server(home) as (client, _):
        ended = client.get(f"/turns/{second['id']}?wait=20")
        assert ended["status"] == "done"
        assert client.get(f"/turns/{first['id']}")["status"] == "interrupted"
