"""What agents are told over HTTP: news, the stop gate, notices, and the state at one revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doors.http.room import Room, refused
from mufakat.app import App
from mufakat.server.http.schemas import answers, mail
from mufakat.server.http.schemas import context as shapes

pytestmark = pytest.mark.anyio

NOTICE = {"text": "Staging is down.", "ttl": 60}


def accepted(told: Any) -> dict[str, Any]:
    """A digest given back, as one says that it was shown."""
    return {name: told[name] for name in ("shown", "begun", "cursors", "revision")}


async def test_news_is_told_until_it_was_shown(room: Room, app: App) -> None:
    agent = await room.join()
    await room.send(room.operator, agent, body="The tests are red.")
    before = await app.feed.head()
    first = await agent.get("/context")
    shapes.Digest.model_validate(first)
    assert "The tests are red." in first["text"]
    assert first["shown"] == [1]
    assert await app.feed.head() == before
    assert await agent.post("/context/shown", accepted(first)) == {"count": 1}
    assert (await agent.get("/inbox", open=0))["items"][0]["status"] == "shown"
    again = await agent.get("/context")
    assert "The tests are red." not in again["text"]


async def test_nothing_new_is_no_text(room: Room) -> None:
    agent = await room.join()
    first = await agent.get("/context")
    await agent.post("/context/shown", accepted(first))
    assert (await agent.get("/context"))["text"] == ""


async def test_a_digest_stays_within_its_budget(room: Room) -> None:
    agent = await room.join()
    for number in range(5):
        await room.send(room.operator, agent, body=f"{number} " + "word " * 500)
    told = await agent.get("/context", budget=1500)
    assert len(told["text"]) <= 1500


@pytest.mark.parametrize("query", [{"budget": -1}, {"budget": "1e9"}, {"thread": "a b"}, {"x": 1}])
async def test_what_is_asked_is_checked(room: Room, query: dict[str, Any]) -> None:
    agent = await room.join()
    refused(await agent.ask("GET", "/context", **query), 422, "invalid_input")


async def test_mail_holds_a_turn_and_its_reason_carries_the_mail(room: Room) -> None:
    agent = await room.join()
    stop = {"session": "s", "turn": "t"}
    free = await agent.post("/gate", stop)
    shapes.Decision.model_validate(free)
    assert free["decision"] == "allow"
    await room.send(room.operator, agent, body="One more thing.")
    held = await agent.post("/gate", stop)
    shapes.Decision.model_validate(held)
    assert held["decision"] == "block"
    assert "One more thing." in held["reason"]
    assert held["shown"] == [1]
    assert (await agent.post("/gate", stop))["decision"] == "allow"


async def test_stops_that_were_not_asked_about_are_counted(room: Room, app: App) -> None:
    agent = await room.join()
    before = (await app.feed.head())[1]
    assert await agent.post("/gate/skipped", {"count": 3}) == {"count": 3}
    assert "gate.skipped" in {event.kind for event in await app.feed.after(before, limit=10)}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"session": ""},
        {"session": 1},
        {"session": "s", "background": "no"},
        {"session": "s", "identity": "x"},
    ],
)
async def test_a_stop_is_checked(room: Room, body: dict[str, Any]) -> None:
    agent = await room.join()
    refused(await agent.ask("POST", "/gate", body), 422, "invalid_input")


async def test_a_notice_is_of_one_project(room: Room, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    agent, foreign = await room.join(), await room.join("claude", project=str(other))
    answer = await agent.ask("PUT", "/notices/staging", NOTICE)
    assert answer.status_code == 200, answer.text
    mail.Notice.model_validate(answer.json())
    newer = await agent.ask("PUT", "/notices/staging", NOTICE | {"text": "Staging is up."})
    page = await agent.get("/notices")
    answers.Listing[mail.Notice].model_validate(page)
    assert page["items"] == [newer.json()]
    assert page["items"][0]["author"] == agent.identity
    assert (await foreign.get("/notices"))["items"] == []
    theirs = foreign.record["project"]
    refused(
        await agent.ask("PUT", "/notices/staging", NOTICE | {"project": theirs}),
        403,
        "not_allowed",
    )
    refused(await foreign.ask("DELETE", "/notices/staging"), 404, "not_found")
    assert (await agent.ask("DELETE", "/notices/staging")).json() == {"dropped": True}
    assert (await agent.get("/notices"))["items"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": "60"},
        {"ttl": 1e12},
        {"author": "x"},
        {"text": "x" * 2001},
    ],
)
async def test_a_notice_is_checked(room: Room, change: dict[str, Any]) -> None:
    agent = await room.join()
    refused(await agent.ask("PUT", "/notices/staging", NOTICE | change), 422, "invalid_input")


async def test_a_snapshot_is_of_one_revision_and_of_what_one_may_see(
    room: Room, app: App, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    agent, foreign = await room.join(), await room.join("claude", project=str(other))
    await agent.post("/leases", {"resources": ["task:a"]})
    await foreign.ask("PUT", "/notices/staging", NOTICE)
    seen = await agent.get("/snapshot")
    shapes.Snapshot.model_validate(seen)
    assert [one["identity"] for one in seen["agents"]] == [agent.identity]
    assert [one["holder"] for one in seen["leases"]] == [agent.identity]
    assert seen["notices"] == []
    epoch, head = await app.feed.head()
    assert seen["head"] == f"{epoch}-{head}"
    await room.join("gemini")
    after = await agent.get("/events", after=seen["head"])
    assert "agent.joined" in [one["kind"] for one in after["events"]]
    everything = await room.operator.get("/snapshot")
    assert foreign.identity in [one["identity"] for one in everything["agents"]]
    assert len(everything["notices"]) == 1
