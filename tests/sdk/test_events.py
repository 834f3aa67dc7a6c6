"""The event reader: cut as often as one likes, nothing is missed and nothing comes twice."""

from __future__ import annotations

import itertools
import json
import random
import socket
from collections.abc import Iterator

import pytest

from equipment import faulty_server as faults
from mufakat.sdk import errors, events
from mufakat.sdk.client import Client, Endpoint

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def frame(number: int) -> bytes:
    row = {
        "id": f"e-{number}",
        "revision": number,
        "at": "2026-11-30T12:00:00.000Z",
        "kind": "turn.text",
        "subject": "t_1",
        "data": {"text": f"piece {number} \u2028 ü"},
    }
    return f"id: e-{number}\nevent: turn.text\ndata: {json.dumps(row)}\n\n".encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


class Log:
    """A log of `total` events, served behind the cursor, cut at random places."""

    def __init__(self, total: int, seed: int) -> None:
        self.total = total
        self.random = random.Random(seed)
        self.cuts = 0

    def __call__(self, connection: socket.socket, asked: faults.Asked) -> None:
        cursor = asked.headers.get("last-event-id", "e-0")
        seen = int(cursor.rpartition("-")[2])
        last = min(self.total, seen + 30)
        data = b": ping\n\n" + b"".join(frame(n) for n in range(seen + 1, last + 1))
        end = min(len(data), self.random.randrange(len(data) * 2))
        self.cuts += 1
        connection.sendall(HEAD)
        sent = 0
        while sent < end:
            size = min(self.random.randint(1, 700), end - sent)
            connection.sendall(chunk(data[sent : sent + size]))
            sent += size
        if self.random.random() < 0.5:
            connection.sendall(b"0\r\n\r\n")


def client_of(server: faults.Faulty) -> Client:
    return Client(Endpoint(server.url, "t"), sleep=lambda _: None)


def taken(stream: Iterator[events.Event], count: int) -> list[str]:
    return [event.id for event in itertools.islice(stream, count)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_d10_nothing_missed_nothing_twice_over_many_cuts(seed: int) -> None:
    print("seed", seed)
    log = Log(400, seed)
    with faults.serving(log) as server:
        stream = events.follow(client_of(server), subject="t_1", after="e-0")
        try:
            assert taken(stream, 400) == [f"e-{n}" for n in range(1, 401)]
        finally:
            stream.close()
    assert log.cuts > 12
    assert "subject=t_1" in server.asked[-1].target
    assert "follow=1" in server.asked[-1].target


class Forgetful(Log):
    """The fault: the stream begins at its start again, as without Last-Event-ID."""

    def __call__(self, connection: socket.socket, asked: faults.Asked) -> None:
        asked.headers.pop("last-event-id", None)
        super().__call__(connection, asked)


def test_twin_without_a_cursor_events_come_twice() -> None:
    with faults.serving(Forgetful(400, 1)) as server:
        stream = events.follow(client_of(server), after="e-0")
        try:
            assert taken(stream, 400) != [f"e-{n}" for n in range(1, 401)]
        finally:
            stream.close()


def test_an_event_has_all_its_parts() -> None:
    with faults.serving(faults.raw(HEAD + chunk(frame(1)))) as server:
        stream = events.follow(client_of(server))
        event = next(stream)
        stream.close()
    assert event == events.Event(
        "e-1", "turn.text", "t_1", "2026-11-30T12:00:00.000Z", {"text": "piece 1 \u2028 ü"}
    )


def test_frames_that_only_move_the_cursor() -> None:
    data = b'id: e-5\nevent: progress\ndata: {}\n\nid: e-9\nevent: reset\ndata: {"head": "x"}\n\n'
    with faults.serving(faults.raw(HEAD + chunk(data))) as server:
        stream = events.follow(client_of(server))
        event = next(stream)
        stream.close()
    assert (event.id, event.kind, event.data) == ("e-9", "reset", {"head": "x"})


def test_a_refused_cursor_is_not_tried_again() -> None:
    with (
        faults.serving(faults.problem(409, "future_cursor", retryable=False)) as server,
        pytest.raises(errors.ServerError) as raised,
    ):
        next(events.follow(client_of(server), after="e-99"))
    assert raised.value.code == "future_cursor"
    assert len(server.asked) == 1


def test_a_server_that_is_gone_is_given_up() -> None:
    with (
        faults.serving(faults.close) as server,
        pytest.raises(errors.Unreachable, match="event stream is lost"),
    ):
        next(events.follow(client_of(server)))
    assert len(server.asked) == events.TRIES


def test_it_ends_when_its_time_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        client = Client(Endpoint(url), sleep=lambda _: None)
        assert list(events.follow(client, seconds=0.2)) == []


@pytest.mark.parametrize("data", ["[1]", "not json", '"x"', "{}", '{"data": 1}', "[" * 90_000])
def test_any_data_is_taken(data: str) -> None:
    text = f"id: e-1\nevent: odd\ndata: {data}\n\n".encode()
    with faults.serving(faults.raw(HEAD + chunk(text))) as server:
        stream = events.follow(client_of(server))
        event = next(stream)
        stream.close()
    assert (event.id, event.kind) == ("e-1", "odd")


def test_a_stream_that_only_pings_is_kept_for_ever() -> None:
    ping = faults.raw(HEAD + chunk(b": ping\n\n"))
    with faults.serving(*[ping] * 30, faults.raw(HEAD + chunk(frame(1)))) as server:
        stream = events.follow(client_of(server))
        assert next(stream).id == "e-1"
        stream.close()
    assert len(server.asked) == 31
