"""The client: retries only what may be retried, under one key, and reads every refusal."""

from __future__ import annotations

import json
import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipment import faulty_server as faults
from mufakat.sdk import backoff, errors
from mufakat.sdk.client import Client, Endpoint

OK = faults.answer(200, {"ok": True})


class Pauses(list[float]):
    """Stands in for sleeping: time passes by itself, and is noted."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def client_of(url: str, pauses: Pauses | None = None, token: str = "secret") -> Client:
    return Client(Endpoint(url, token), sleep=Pauses() if pauses is None else pauses)


def test_get_and_post() -> None:
    with faults.serving(OK) as server:
        client = client_of(server.url)
        assert client.get("/turns", {"limit": 5, "before": "", "q": "a b&c"}) == {"ok": True}
        assert client.post("/turns", {"prompt": "hällo \ud800"}) == {"ok": True}
    get, post = server.asked
    assert (get.method, get.target) == ("GET", "/api/v1/turns?limit=5&q=a+b%26c")
    assert get.headers["authorization"] == "Bearer secret"
    assert post.headers["content-type"] == "application/json"
    assert "hällo".encode() in post.body and rb"\ud800" in post.body
    assert json.loads(post.body)["prompt"] == "hällo \ud800"
    assert len(post.headers["idempotency-key"]) == 32


@pytest.mark.parametrize(
    "fault",
    [
        faults.close,
        faults.cut(b'{"o'),
        faults.raw(b"garbage\r\n\r\n"),
        faults.answer(200, b"not json"),
        faults.answer(502, b"<html>"),
        faults.problem(503, "unavailable", retryable=True),
        faults.problem(507, "storage_full", retryable=True),
    ],
)
def test_a_lost_answer_is_asked_for_again_with_the_same_key(fault: faults.Step) -> None:
    with faults.serving(fault, fault, OK) as server:
        assert client_of(server.url).post("/turns", {"prompt": "x"}) == {"ok": True}
    assert len(server.asked) == 3
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1
    assert len({asked.body for asked in server.asked}) == 1


def test_it_gives_up_after_five_tries() -> None:
    pauses = Pauses()
    with faults.serving(faults.close) as server, pytest.raises(errors.Unreachable) as raised:
        client_of(server.url, pauses).get("/turns")
    assert len(server.asked) == 5
    assert len(pauses) == 4
    assert raised.value.code == "unavailable"
    assert raised.value.fix


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 415, 421, 422, 431])
def test_a_refusal_is_not_repeated(status: int) -> None:
    with faults.serving(faults.answer(status, {})) as server, pytest.raises(errors.ServerError):
        client_of(server.url).get("/turns")
    assert len(server.asked) == 1


def test_a_command_with_a_second_effect_is_sent_once() -> None:
    with faults.serving(faults.close, OK) as server, pytest.raises(errors.Unreachable):
        client_of(server.url).post("/turns/t/retry", again=False)
    assert len(server.asked) == 1


def test_a_fault_that_does_not_pass_is_not_repeated() -> None:
    with (
        faults.serving(faults.problem(503, "store_corrupt", retryable=False)) as server,
        pytest.raises(errors.ServerError, match="why"),
    ):
        client_of(server.url).get("/turns")
    assert len(server.asked) == 1


def test_retry_after_is_kept_up_to_the_cap() -> None:
    pauses = Pauses()
    slow = faults.answer(429, {"code": "too_many_streams"}, Retry_After="2")
    with faults.serving(slow, faults.answer(408, b"", Retry_After="999"), OK) as server:
        client_of(server.url, pauses).get("/turns")
    assert pauses == [2.0, 5.0]


def test_a_problem_document_is_read_whole() -> None:
    document = {"holder": "x", "retryable": False, "type": "urn:x", "title": "T"}
    with (
        faults.serving(faults.problem(409, "conflict", **document)) as server,
        pytest.raises(errors.ServerError) as raised,
    ):
        client_of(server.url).get("/turns")
    problem = raised.value
    assert (str(problem), problem.code, problem.fix) == ("why", "conflict", "how")
    assert (problem.status, problem.retryable) == (409, False)
    assert problem.extra == {"holder": "x"}


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'{"code": 5}', b"\xff", b"[" * 100_000])
def test_any_error_answer_is_understood(body: bytes) -> None:
    problem = errors.from_answer(404, body)
    assert (problem.code, problem.retryable, problem.fix) == ("not_found", False, "")
    assert str(problem)


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(errors.Unreachable, match="No answer from"):
        client_of(url).get("/turns")


def test_a_server_that_says_nothing_is_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        client = client_of(f"http://127.0.0.1:{mute.getsockname()[1]}")
        started = time.monotonic()
        with pytest.raises(errors.Unreachable):
            client.get("/turns", seconds=0.1)
        assert time.monotonic() - started < 3 * 5 * 0.4


def test_it_follows_a_server_that_was_started_anew() -> None:
    with faults.serving(faults.close) as old, faults.serving(OK) as new:
        client = client_of(old.url)
        client.find = lambda: Endpoint(new.url, "newer")
        assert client.get("/turns") == {"ok": True}
    assert new.asked[0].headers["authorization"] == "Bearer newer"


def test_a_token_is_not_shown() -> None:
    assert "secret" not in repr(Endpoint("http://x", "secret"))
    assert "secret" not in repr(client_of("http://x"))


@given(st.integers(1, 50), st.floats(0, 1))
def test_pauses_have_full_jitter_between_50_ms_and_5_s(failures: int, drawn: float) -> None:
    pause = backoff.pause(failures, lambda: drawn)
    assert 0 <= pause <= backoff.CAP
    assert pause == pytest.approx(drawn * min(5.0, 0.05 * 2 ** (failures - 1)))
