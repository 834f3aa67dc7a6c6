"""A model of the settings, from the file to the answer: found by meaning, or with the reason."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from doors.http.room import Room
from equipment import faulty_server as faulty
from equipment.embedder import DIMS, SmallModel
from equipment.faulty_server import Asked, Faulty
from mufakat import app as application
from mufakat.settings import EmbeddingSettings, Settings

pytest.importorskip("numpy", reason="no numpy")
pytestmark = pytest.mark.anyio
KEY = "embedding-key-0123456789abcdef"
SAID = ("The automobile is parked behind the house.", *(f"Rain and snow {n}." for n in range(30)))


def vectors(connection: socket.socket, asked: Asked) -> None:
    texts = json.loads(asked.body)["input"]
    rows = [
        {"index": at, "embedding": struct.unpack(f"<{DIMS}e", SmallModel().vector(text))}
        for at, text in enumerate(texts)
    ]
    faulty.answer(200, {"data": rows})(connection, asked)


@pytest.fixture
def endpoint() -> Iterator[Faulty]:
    with faulty.serving(vectors) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, endpoint: Faulty, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("EMBEDDING_KEY", KEY)
    chosen = EmbeddingSettings(
        engine="endpoint",
        base_url=f"{endpoint.url}/v1",
        model="small",
        api_key_env="EMBEDDING_KEY",
    )
    return Settings(home=tmp_path / "home", default_engine="scripted", embedding=chosen)


async def said(room: Room) -> str:
    thread = await room.operator.post("/conversations", {"project": room.project, "title": "T"})
    for text in SAID:
        await room.operator.post(f"/conversations/{thread['id']}/messages", {"text": text})
    return str(thread["project"])


async def found(room: Room, project: str) -> dict[str, object]:
    """The answer once every turn has its vector."""
    for _ in range(200):
        answer = await room.operator.get("/recall", q="vehicle", project=project, limit=1)
        if "no vectors yet" not in answer["why"]:
            return dict(answer)
        await asyncio.sleep(0.05)
    raise AssertionError("no vectors came")


async def test_the_server_makes_vectors_and_finds_by_meaning(room: Room, endpoint: Faulty) -> None:
    answer = await found(room, await said(room))
    assert "automobile" in str(answer["items"])
    assert answer["why"] == ""
    assert {one.headers["authorization"] for one in endpoint.asked} == {f"Bearer {KEY}"}
    doctor = await room.operator.get("/doctor")
    assert doctor["embedding"] == {"engine": "endpoint", "model": "small", "problem": ""}
    assert KEY not in json.dumps(doctor)


async def test_an_endpoint_that_fails_is_told_everywhere(room: Room, endpoint: Faulty) -> None:
    endpoint.script[:] = [faulty.answer(503, {"error": KEY})]
    project = await said(room)
    answer = await room.operator.get("/recall", q="snow", project=project)
    assert answer["items"]
    assert answer["why"] == "no vectors: The embedding endpoint answered HTTP 503"
    doctor = await room.operator.get("/doctor")
    assert doctor["embedding"]["problem"] == "The embedding endpoint answered HTTP 503."


async def test_the_key_is_scrubbed_like_every_secret(app: application.App) -> None:
    assert KEY not in app.scrub(f"the key is {KEY}").text
