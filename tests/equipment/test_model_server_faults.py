"""The model server alone: every way in which its model fails."""

from __future__ import annotations

import http.client
import json
import socket
import time
import urllib.error

import pytest

from equipment.model_server import server
from equipment.vendor_requests import PROTOCOLS, SHELLS, ask, events, request

CALL = {"name": "$shell", "args": {"command": "ls"}}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_http_error_with_retry_after(protocol: str, stream: bool) -> None:
    turn = {"status": 429, "retry_after": 3, "message": "slow down"}
    with server.ModelServer({"turns": [turn]}) as model:
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(model, protocol, stream=stream)
        with caught.value as error:
            assert error.code == 429
            assert error.headers["retry-after"] == "3"
            assert "slow down" in error.read().decode()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_empty_answer_is_correct_but_says_nothing(protocol: str) -> None:
    turn = {"text": "Hello", "tools": [CALL], "fault": "empty"}
    with server.ModelServer({"default": turn}) as model:
        for stream in (False, True):
            raw = ask(model, protocol, stream=stream)
            assert "Hello" not in raw
            assert SHELLS[protocol] not in raw


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_malformed_stream_begins_well(protocol: str) -> None:
    with server.ModelServer({"default": {"text": "Hello", "fault": "malformed"}}) as model:
        raw = ask(model, protocol, stream=True)
    with pytest.raises(json.JSONDecodeError):
        events(raw)
    assert json.loads(raw.split("data: ")[1].split("\n")[0])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_truncated_answer_ends_too_early(protocol: str, stream: bool) -> None:
    with server.ModelServer({"default": {"text": "Hello", "fault": "truncate"}}) as model:
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(model, protocol, stream=stream)
        assert caught.value.partial


def test_reset_comes_before_any_byte() -> None:
    broken = (ConnectionResetError, http.client.RemoteDisconnected)
    with server.ModelServer({"default": {"fault": "reset"}}) as model, pytest.raises(broken):
        ask(model, "chat")


@pytest.mark.parametrize("fault", ["hang", "hang_mid"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_hanging_answer_ends_after_its_seconds(fault: str, stream: bool) -> None:
    turn = {"text": "Hello", "fault": fault, "seconds": 0.2}
    with server.ModelServer({"default": turn}) as model:
        began = time.monotonic()
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(model, "anthropic", stream=stream)
        assert time.monotonic() - began >= 0.2


def test_a_hanging_answer_does_not_hold_up_the_closing() -> None:
    with server.ModelServer({"default": {"fault": "hang", "seconds": 60}}) as model:
        client = socket.create_connection(("127.0.0.1", model.port))
        path, body = request("chat", "hi", stream=False)
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n"
        client.sendall(head.encode() + data)
        model.wait_for(1, 10.0)
        began = time.monotonic()
    client.close()
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_error_event_inside_a_stream(protocol: str) -> None:
    turn = {"text": "Hello", "sse_error": {"type": "overloaded_error"}}
    with server.ModelServer({"default": turn}) as model:
        last = events(ask(model, protocol, stream=True))[-1]
        assert last["error"]["type"] == "overloaded_error"
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(model, protocol)
        caught.value.close()
