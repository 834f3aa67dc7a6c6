"""Two hundred that follow the event log: how soon each of them sees what one agent says."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack

from bench.rooms.ours import API, Mufakat
from bench.rooms.room import CLIENTS
from bench.rooms.wire import CHUNK, Line, request

LISTENERS = 200
SAID = 30
BETWEEN = 0.1
"""Seconds between two events."""
LATEST = 60.0


def measure(room: Mufakat, *, listeners: int = LISTENERS, said: int = SAID) -> list[float]:
    """Milliseconds from the request that makes an event until each listener has it."""
    took: list[float] = []
    with ExitStack() as ends:
        waiting = selectors.DefaultSelector()
        ends.callback(waiting.close)
        # From the oldest event on each would first be sent the whole log.
        head = room.ask("GET", f"{API}/snapshot", token=room.agents["s0"]["token"])["head"]
        for number in range(listeners):
            one = _listener(room, f"s{number % CLIENTS}", head)
            ends.callback(one.close)
            waiting.register(one, selectors.EVENT_READ)
        line = Line(room.port)
        ends.callback(line.close)
        _arrive(waiting, b"", time.perf_counter(), expected=0, seconds=1.0)
        for number in range(said):
            mark = f"word-{number}-of-the-bench"
            body = {"text": mark, "ttl": 60}
            token = room.agents["s0"]["token"]
            asked = request("PUT", f"{API}/notices/{mark}", body, token=token)
            began = time.perf_counter()
            line.send(asked)
            took += _arrive(waiting, mark.encode(), began, expected=listeners, seconds=LATEST)
            answer = None
            while answer is None:
                answer = line.take()
            assert answer.status == 200, answer
            time.sleep(BETWEEN)
    return took


def _listener(room: Mufakat, name: str, head: str) -> socket.socket:
    """A connection that follows from `head` on, once the server has begun to answer."""
    one = socket.create_connection(("127.0.0.1", room.port), LATEST)
    more = {"Accept": "text/event-stream"}
    token = room.agents[name]["token"]
    one.sendall(request("GET", f"{API}/events?follow=1&after={head}", token=token, more=more))
    answer = one.recv(CHUNK)
    assert b" 200 " in answer.partition(b"\r\n")[0], answer
    return one


def _arrive(
    waiting: selectors.BaseSelector, mark: bytes, began: float, *, expected: int, seconds: float
) -> Sequence[float]:
    """When the mark came to each, in milliseconds; without one only what is left is read."""
    seen: dict[int, float] = {}
    until = time.perf_counter() + seconds
    while time.perf_counter() < until and not (mark and len(seen) >= expected):
        for key, _ in waiting.select(0.2):
            assert isinstance(key.fileobj, socket.socket)
            if mark in key.fileobj.recv(CHUNK) and mark:
                seen.setdefault(key.fd, 1000 * (time.perf_counter() - began))
    assert len(seen) >= expected, f"only {len(seen)} of {expected} saw {mark!r}"
    return list(seen.values())
