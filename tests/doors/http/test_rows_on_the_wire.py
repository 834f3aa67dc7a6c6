"""Hostile bytes on a real socket: the exact answer, the connection closed, and no effect."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from doors.http import wire
from mufakat.server.main import Ready

JSON = "Content-Type: application/json"
MIB = 1024 * 1024


@contextlib.contextmanager
def without_effect(server: Ready) -> Iterator[None]:
    before = wire.head(server)
    yield
    assert wire.head(server) == before


def resident() -> int:
    """Bytes of memory that this process, the server in it, holds."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def test_row_05_huge_authorization(server: Ready) -> None:
    data = wire.request(server, "GET /api/v1/status HTTP/1.1", auth=False)[:-2]
    with without_effect(server):
        heard = wire.exchange(server, [data + b"Authorization: Bearer " + b"x" * MIB + b"\r\n\r\n"])
    assert heard.status == 431
    assert heard.closed
    assert b"content-security-policy" in heard.head


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_row_07_300_mb_without_an_end(server: Ready) -> None:
    start = wire.request(
        server, "POST /api/v1/projects HTTP/1.1", JSON, "Transfer-Encoding: chunked"
    )
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    with without_effect(server):
        before = resident()
        heard = wire.exchange(server, itertools.chain([start], itertools.repeat(chunk, 4_800)))
        after = resident()
    assert heard.status == 413
    assert heard.closed
    assert heard.sent < 32 * MIB
    assert after - before < 16 * MIB


def test_row_07_300_mb_announced(server: Ready) -> None:
    start = wire.request(
        server, "POST /api/v1/projects HTTP/1.1", JSON, "Content-Length: 314572800"
    )
    with without_effect(server):
        heard = wire.exchange(server, [start])
    assert (heard.status, heard.closed) == (413, True)


def test_row_07_one_byte_at_a_time(server: Ready) -> None:
    start = wire.request(server, "POST /api/v1/projects HTTP/1.1", JSON, "Content-Length: 1000")
    with without_effect(server):
        drip = itertools.chain([start], itertools.repeat(b" ", 30))
        heard = wire.exchange(server, drip, pause=0.1)
    assert (heard.status, heard.closed) == (408, True)
    assert b"retry-after" in heard.head


def test_row_07_slow_head(server: Ready) -> None:
    data = wire.request(server, "GET /api/v1/status HTTP/1.1")
    with without_effect(server):
        heard = wire.exchange(server, (data[at : at + 1] for at in range(30)), pause=0.1)
    assert (heard.status, heard.closed) == (408, True)


def test_row_07_silent_connection(server: Ready) -> None:
    heard = wire.exchange(server, [])
    assert (heard.status, heard.closed) == (408, True)


def test_row_07_slow_second_head(server: Ready) -> None:
    data = wire.request(server, "GET /api/v1/health HTTP/1.1")
    with wire.connect(server) as link:
        link.sendall(data)
        assert b"200 OK" in wire.one_answer(link)
        link.sendall(data[:20])
        assert b" 408 " in wire.one_answer(link)
        assert link.recv(1) == b""


def test_row_07_a_fast_client_is_not_cut(server: Ready) -> None:
    data = wire.request(server, "GET /api/v1/health HTTP/1.1")
    with wire.connect(server) as link:
        for _ in range(8):
            link.sendall(data)
            assert b"200 OK" in wire.one_answer(link)
            time.sleep(0.2)


def test_row_10_two_lengths(server: Ready) -> None:
    smuggled = b"0\r\n\r\nPOST /api/v1/check HTTP/1.1\r\nHost: localhost\r\n\r\n"
    data = wire.request(
        server,
        "POST /api/v1/projects HTTP/1.1",
        JSON,
        f"Content-Length: {len(smuggled)}",
        "Transfer-Encoding: chunked",
        body=smuggled,
    )
    with without_effect(server):
        heard = wire.exchange(server, [data])
    assert (heard.status, heard.closed) == (400, True)
    assert heard.raw.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "fields",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Content-Length: 1e3",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("X: a\x00b",),
        ("Host: localhost",),
        ("Bad Name: x",),
    ],
)
def test_row_10_ambiguous_head(server: Ready, fields: tuple[str, ...]) -> None:
    data = wire.request(server, "POST /api/v1/projects HTTP/1.1", JSON, *fields, body=b"{}   ")
    with without_effect(server):
        heard = wire.exchange(server, [data])
    assert (heard.status, heard.closed) == (400, True)
    assert heard.json["code"] == "bad_request"
    assert b"nosniff" in heard.head


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "BREW"])
def test_row_10_methods(server: Ready, method: str) -> None:
    with without_effect(server):
        data = wire.request(server, f"{method} /api/v1/projects HTTP/1.1")
        heard = wire.exchange(server, [data])
    assert (heard.status, heard.closed) == (405, True)


def test_row_10_junk(server: Ready) -> None:
    for junk in (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"GET\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n"):
        with without_effect(server):
            heard = wire.exchange(server, [junk])
        assert heard.closed
        assert heard.status in {400, 408}


@pytest.mark.parametrize("length", [9_000, 60_000, MIB])
def test_row_11_long_url(server: Ready, length: int) -> None:
    with without_effect(server):
        data = wire.request(server, f"GET /api/v1/{'a' * length} HTTP/1.1")
        heard = wire.exchange(server, [data])
    assert heard.closed
    assert heard.status == 414 if length > 16_384 else heard.status in {414, 431}


def test_row_11_long_url_of_few_bytes(server: Ready) -> None:
    data = wire.request(server, f"GET /api/v1/{'a' * 8_500} HTTP/1.1")
    assert wire.exchange(server, [data]).status == 414


def test_row_11_dots_and_zero(server: Ready) -> None:
    for path, status in (("/api/v1/%2e%2e/", 404), ("//", 404), ("/%00", 400), ("*", 404)):
        with without_effect(server):
            data = wire.request(server, f"GET {path} HTTP/1.1", "Connection: close")
            assert wire.exchange(server, [data]).status == status


def test_row_12_key_with_a_newline(server: Ready, project: Path) -> None:
    body = json.dumps({"project": str(project)}).encode()
    for key in ("a\n b", "a\r\n b", "a\rb"):
        data = wire.request(
            server,
            "POST /api/v1/conversations HTTP/1.1",
            JSON,
            f"Idempotency-Key: {key}",
            f"Content-Length: {len(body)}",
            "Connection: close",
            body=body,
        )
        with without_effect(server):
            assert wire.exchange(server, [data]).status in {400, 422}


def test_row_65_huge_last_event_id(server: Ready) -> None:
    data = wire.request(
        server, "GET /api/v1/events?follow=1 HTTP/1.1", "Last-Event-ID: " + "9" * MIB
    )
    assert wire.exchange(server, [data]).status == 431


def test_row_66_500_streams(server: Ready) -> None:
    data = wire.request(server, "GET /api/v1/events?follow=1 HTTP/1.1")
    before = resident()
    with contextlib.ExitStack() as stack:
        links = [stack.enter_context(wire.connect(server)) for _ in range(500)]
        for link in links:
            link.sendall(data)
        statuses = [first_line(link) for link in links]
        after = resident()
        assert statuses.count(200) == 32
        assert statuses.count(429) == 468
        assert after - before < 50 * MIB
    end = time.monotonic() + 15
    while first_line_of(server, data) != 200 and time.monotonic() < end:
        time.sleep(0.1)
    assert first_line_of(server, data) == 200


def first_line(link: socket.socket) -> int:
    link.settimeout(20)
    return int(link.recv(65_536).split(b" ", 2)[1])


def first_line_of(server: Ready, data: bytes) -> int:
    with wire.connect(server) as link:
        link.sendall(data)
        return first_line(link)
