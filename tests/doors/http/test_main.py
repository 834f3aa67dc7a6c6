"""The server as a process: its files, its end, and what stands in its way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from doors.http import wire
from mufakat.core.base import InUse, InvalidInput, StoreError
from mufakat.sdk import discovery
from mufakat.server import files, listen, main
from mufakat.server.main import Ready
from mufakat.settings import Settings

PROGRAM = """
import sys
from pathlib import Path
from mufakat.server import main
from mufakat.settings import Settings
main.serve(
    Settings(home=Path(sys.argv[1]), default_engine="scripted"),
    on_ready=lambda ready: print(ready.url, ready.token, flush=True),
)
print("ended", flush=True)
"""


@contextlib.contextmanager
def process(home: Path, umask: int = 0o077) -> Iterator[tuple[subprocess.Popen[str], Ready]]:
    argv = [sys.executable, "-c", PROGRAM, str(home)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, umask=umask) as running:
        assert running.stdout is not None
        try:
            url, token = running.stdout.readline().split()
            yield running, Ready(url, token)
        finally:
            running.kill()


def ask(server: Ready, project: Path, model: str) -> dict[str, Any]:
    with wire.client(server) as http:
        body = {"prompt": "Hello", "project": str(project), "model": model}
        answer = http.post("/api/v1/turns", json=body)
        assert answer.status_code == 202
        return dict(answer.json())


def turn(server: Ready, id: str, wait: int = 0) -> dict[str, Any]:
    with wire.client(server) as http:
        return dict(http.get(f"/api/v1/turns/{id}", params={"wait": wait}).json())


def until_running(server: Ready, id: str) -> None:
    with wire.client(server) as http:
        after = ""
        kinds: list[str] = []
        while "turn.running" not in kinds:
            query = {"subject": id, "after": after, "wait": 10}
            page = http.get("/api/v1/events", params=query).json()
            kinds += [event["kind"] for event in page["events"]]
            after = page["next"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_turns_and_the_process(
    tmp_path: Path, project: Path, number: signal.Signals
) -> None:
    home = tmp_path / "home"
    with process(home) as (running, server):
        record = json.loads((home / "server.json").read_text())
        assert record["pid"] == running.pid
        assert record["url"] == server.url
        found = discovery.find(home)
        assert found is not None
        assert (found.url, found.token) == (server.url, server.token)
        asked = ask(server, project, "slow:60")
        until_running(server, asked["id"])
        heard: list[bytes] = []
        follower = threading.Thread(target=follow, args=(server, asked["id"], heard))
        follower.start()
        time.sleep(0.3)
        running.send_signal(number)
        assert running.wait(15) == 0
        follower.join(10)
        assert running.stdout is not None
        assert running.stdout.read() == "ended\n"
    assert b'"status":"cancelled"' in b"".join(heard)
    assert not (home / "server.json").exists()
    assert discovery.find(home) is None
    with process(home) as (_, server):
        assert turn(server, asked["id"])["status"] == "cancelled"


def follow(server: Ready, id: str, heard: list[bytes]) -> None:
    with (
        wire.client(server) as http,
        http.stream("GET", "/api/v1/events", params={"follow": "1", "subject": id}) as answer,
    ):
        heard.extend(answer.iter_raw())


def test_kill_9_leaves_a_record_that_deceives_nobody(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    with process(home) as (running, server):
        asked = ask(server, project, "slow:60")
        until_running(server, asked["id"])
        running.kill()
        running.wait(15)
    assert (home / "server.json").exists()
    assert discovery.find(home) is None
    with process(home) as (running, server):
        assert turn(server, asked["id"])["status"] == "interrupted"
        assert json.loads((home / "server.json").read_text())["pid"] == running.pid


def test_row_67_private_files_under_umask_000(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    with process(home, umask=0) as (_, server):
        turn(server, ask(server, project, "tool")["id"], wait=20)
        with wire.client(server) as http:
            assert http.post("/api/v1/backup", json={}).status_code == 200
        modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.rglob("*")]}
    assert {path for path, mode in modes.items() if mode & 0o077} == set()


def test_a_token_that_was_readable_is_made_private(tmp_path: Path) -> None:
    text = files.token(tmp_path)
    (tmp_path / "token").chmod(0o644)
    assert files.token(tmp_path) == text
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "short", "x" * 40 + "\nmore", "ü" * 40])
def test_a_broken_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "token").write_text(text)
    with pytest.raises(InvalidInput, match="does not hold a token") as refused:
        files.token(tmp_path)
    assert refused.value.fix


def test_a_taken_port_names_its_holder(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(InUse, match=f"Port {port}") as refused:
            main.serve(settings.model_copy(update={"port": port}))
    assert refused.value.fix
    if Path("/proc/net/tcp").exists():
        assert f"pid {os.getpid()}" in str(refused.value)
    assert not (settings.home / "server.json").exists()


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host", ""])
def test_an_address_of_another_machine(settings: Settings, host: str) -> None:
    if not host:
        pytest.raises(InvalidInput, listen.bind, "999.1.1.1", 0)
        return
    with pytest.raises(InvalidInput, match="not one of this machine"):
        main.serve(settings.model_copy(update={"host": host}))


def test_a_second_server_is_refused_and_told_the_first(server: Ready, settings: Settings) -> None:
    with pytest.raises(InUse) as refused:
        main.serve(settings)
    assert server.url in str(refused.value)
    assert wire.head(server)


def test_in_thread_hands_on_what_fails(settings: Settings) -> None:
    settings.home.mkdir()
    (settings.home / "mufakat.db").write_bytes(b"this is no database" * 1000)
    with pytest.raises(StoreError), main.in_thread(settings):
        raise AssertionError("it must not start")
    assert not (settings.home / "server.json").exists()
    assert threading.active_count() == len(threading.enumerate())


def test_in_thread_ends_with_its_context(settings: Settings, project: Path) -> None:
    with main.in_thread(settings) as server:
        asked = ask(server, project, "slow:60")
        until_running(server, asked["id"])
    with pytest.raises(httpx.ConnectError):
        wire.head(server)
    names = [thread.name for thread in threading.enumerate()]
    assert "mufakat-server" not in names
    with main.in_thread(settings) as server:
        assert turn(server, asked["id"])["status"] == "cancelled"


def test_an_unknown_log_level_is_refused(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="log level"):
        main.serve(settings.model_copy(update={"log_level": "loud"}))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_d14_a_public_address_opens_nothing(settings: Settings, host: str) -> None:
    public = settings.model_copy(update={"host": host, "allowed_hosts": ("box.lan",)})
    try:
        context = main.in_thread(public)
        server = context.__enter__()
    except InvalidInput:
        pytest.skip("no IPv6 here")
    try:
        with httpx.Client(base_url=server.url, verify=False) as http:
            url = "/api/v1/status"
            good = {"authorization": f"Bearer {server.token}"}
            for name in ("evil.example", host if ":" not in host else f"[{host}]", "10.0.0.1"):
                assert http.get(url, headers={**good, "host": name}).status_code == 421
            refused = http.get(url, headers={**good, "origin": "http://evil.example"})
            assert refused.status_code == 403
            assert http.get(url).status_code == 401
            for known in ("box.lan:8080", "localhost"):
                assert http.get(url, headers={**good, "host": known}).status_code == 200
    finally:
        context.__exit__(None, None, None)
