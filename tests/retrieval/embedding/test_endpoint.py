"""An OpenAI-compatible endpoint on the wire: what it is asked, and every way in which it fails."""

from __future__ import annotations

import json
import socket
import struct

import pytest

from equipment import faulty_server as faulty
from equipment.faulty_server import Asked
from mufakat.core.base import InvalidInput, MufakatError, Unavailable
from mufakat.retrieval.embedding import endpoint, half, space
from mufakat.retrieval.embedding.endpoint import Endpoint

pytestmark = pytest.mark.anyio
KEY = "sk-embedding-secret"


def vectors(connection: socket.socket, asked: Asked) -> None:
    """Answer in the wrong order, each vector telling the length of its text."""
    rows = [
        {"index": at, "embedding": [float(len(text)), 0.0, 0.0]}
        for at, text in enumerate(json.loads(asked.body)["input"])
    ]
    faulty.answer(200, {"data": rows[::-1], "model": "m"})(connection, asked)


async def test_texts_become_vectors_in_their_order() -> None:
    with faulty.serving(vectors) as server:
        model = Endpoint(f"{server.url}/v1/", "small", key=KEY)
        assert (model.model, model.dims, model.problem) == ("small", 0, "")
        found = await model.embed(["a", "bbb"])
        assert await model.embed([]) == []
    assert [struct.unpack("<3e", one) for one in found] == [(1.0, 0.0, 0.0)] * 2
    assert model.dims == 3
    (asked,) = server.asked
    assert (asked.method, asked.target) == ("POST", "/v1/embeddings")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"model": "small", "input": ["a", "bbb"]}
    assert KEY not in repr(model) + asked.body.decode()


def test_without_numpy_its_vectors_cannot_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "NEEDED", "no_such_package")
    assert Endpoint("http://127.0.0.1:1", "small").problem.endswith("install mufakat[vectors]")


async def test_without_a_key_none_is_sent() -> None:
    with faulty.serving(vectors) as server:
        await Endpoint(server.url, "small").embed(["a"])
    assert "authorization" not in server.asked[0].headers


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_refused_text_is_told_apart(status: int) -> None:
    with (
        faulty.serving(faulty.answer(status, {"error": {"message": KEY}})) as server,
        pytest.raises(InvalidInput, match=f"HTTP {status}") as told,
    ):
        await Endpoint(server.url, "small").embed(["a"])
    assert KEY not in str(told.value)


def row(embedding: object, index: object = 0) -> dict[str, object]:
    return {"data": [{"index": index, "embedding": embedding}]}


@pytest.mark.parametrize(
    "step",
    [
        faulty.answer(401, {}),
        faulty.answer(404, {}),
        faulty.answer(429, {}),
        faulty.answer(500, {}),
        faulty.answer(302, {}, location="http://127.0.0.1:1/"),
        faulty.close,
        faulty.cut(b"{}"),
        faulty.answer(200, b"not json"),
        faulty.answer(200, b"[" * 100_000),
        faulty.answer(200, []),
        faulty.answer(200, {"data": []}),
        faulty.answer(200, {"data": [1]}),
        faulty.answer(200, row([])),
        faulty.answer(200, row("text")),
        faulty.answer(200, row(None)),
        faulty.answer(200, row([None])),
        faulty.answer(200, row([1e999, 1.0])),
        faulty.answer(200, row([1.0] * (half.MOST + 1))),
        faulty.answer(200, row([1.0], index=1)),
        faulty.answer(200, row([1.0], index="x")),
    ],
)
async def test_every_failure_is_a_reason(step: faulty.Step) -> None:
    with faulty.serving(step) as server, pytest.raises(Unavailable, match="endpoint"):
        await Endpoint(server.url, "small").embed(["a"])


async def test_nobody_there_and_no_answer_are_reasons() -> None:
    with pytest.raises(Unavailable, match="ConnectError"):
        await Endpoint("http://127.0.0.1:1/v1", "small").embed(["a"])
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Unavailable, match="Timeout"):
            await Endpoint(address, "small", seconds=0.2).embed(["a"])


async def test_an_endless_answer_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_BYTES", 1_000)
    with (
        faulty.serving(faulty.answer(200, b"x" * 5_000)) as server,
        pytest.raises(Unavailable, match="endless"),
    ):
        await Endpoint(server.url, "small").embed(["a"])


async def test_dimensions_that_change_are_no_vectors_of_this_model() -> None:
    steps = (faulty.answer(200, row([1.0, 2.0])), faulty.answer(200, row([1.0])))
    with faulty.serving(*steps) as server:
        model = Endpoint(server.url, "small")
        await model.embed(["a"])
        with pytest.raises(MufakatError, match="dimensions"):
            await model.embed(["a"])
