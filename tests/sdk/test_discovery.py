"""Finding a server: a record alone is no server, and nobody else gets the token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from equipment import faulty_server as faults
from mufakat.sdk import discovery

HEALTHY = {"name": "mufakat", "version": "1", "pid": os.getpid()}


def record(home: Path, url: str, pid: int = 0, **more: Any) -> None:
    (home / "token").write_text("the-token\n")
    about = {"pid": pid or os.getpid(), "url": url, "started": "now", "version": "1"}
    (home / "server.json").write_text(json.dumps(about | more))


def test_a_running_server_is_found(tmp_path: Path) -> None:
    with faults.serving(faults.answer(200, HEALTHY)) as server:
        url = server.url
        record(tmp_path, url)
        found = discovery.find(tmp_path)
    assert found is not None
    assert (found.url, found.token, found.pid) == (url, "the-token", os.getpid())
    assert server.asked[0].target == "/api/v1/health"
    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize(
    "health",
    [
        {"name": "other", "pid": os.getpid()},
        {"name": "mufakat", "pid": 1},
        {"name": "mufakat"},
        ["mufakat"],
        None,
    ],
)
def test_another_program_on_the_port_is_not_taken_for_ours(tmp_path: Path, health: Any) -> None:
    with faults.serving(faults.answer(200, health)) as server:
        record(tmp_path, server.url)
        assert discovery.find(tmp_path) is None
    assert all("authorization" not in asked.headers for asked in server.asked)


def test_a_dead_process_is_not_even_asked(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with faults.serving(faults.answer(200, HEALTHY)) as server:
        record(tmp_path, server.url, dead.pid)
        assert discovery.find(tmp_path) is None
    assert server.asked == []


def test_a_closed_port_is_no_server(tmp_path: Path) -> None:
    with faults.serving(faults.close) as server:
        url = server.url
    record(tmp_path, url)
    assert discovery.find(tmp_path) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", '{"pid": "x", "url": "http://x"}', '{"pid": 5, "url": null}']
    + ['{"pid": 0, "url": "http://x"}', '{"pid": 5, "url": "file:///etc"}', "[" * 100_000],
)
def test_a_damaged_record_is_no_server(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text("t")
    (tmp_path / "server.json").write_text(text)
    assert discovery.find(tmp_path) is None


def test_no_home_no_server(tmp_path: Path) -> None:
    assert discovery.find(tmp_path / "nowhere") is None
    (tmp_path / "server.json").write_text('{"pid": 5, "url": "http://x"}')
    assert discovery.read(tmp_path) is None, "there is no token"


def test_alive() -> None:
    assert discovery.alive(os.getpid())
    assert discovery.alive(1)
    assert not discovery.alive(2**31 - 1)
    assert not discovery.alive(2**70)


def test_a_process_that_nobody_reaped_is_not_alive() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)
    assert not discovery.alive(child.pid)
    child.wait()
    assert not discovery.alive(child.pid)
    assert discovery.alive(os.getpid())
