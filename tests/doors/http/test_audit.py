"""The log as evidence over HTTP: the operator's alone, in shapes that hold."""

from __future__ import annotations

import pytest

from doors.http.room import Room, refused
from mufakat.app import App
from mufakat.core.coordination import evidence
from mufakat.server.http.schemas import audit as shapes

pytestmark = pytest.mark.anyio


async def test_verdict_pages_and_picture(room: Room) -> None:
    agent = await room.join()
    await agent.post("/leases", {"resources": ["task:docs"]}, key="a")
    await room.send(room.operator, agent, body="Hello.")
    verdict = await room.operator.post("/audit/verify", {})
    shapes.Verdict.model_validate(verdict)
    assert verdict["problems"] == []
    page = await room.operator.get("/audit/events", limit=3)
    shapes.Ledger.model_validate(page)
    assert [one["revision"] for one in page["items"]] == [1, 2, 3]
    assert page["next"] == 3
    picture = await room.operator.get("/audit/replay")
    shapes.Picture.model_validate(picture)
    (held,) = picture["leases"].values()
    assert (held["holder"], held["resources"]) == (agent.identity, ["task:docs"])
    assert picture["inboxes"][agent.identity]["1"]["status"] == "queued"


async def test_it_is_the_operators(room: Room) -> None:
    agent = await room.join()
    for method, path in (("POST", "/audit/verify"), ("GET", "/audit/events")):
        refused(await agent.ask(method, path, {} if method == "POST" else None), 403, "not_allowed")
    refused(await agent.ask("GET", "/audit/replay"), 403, "not_allowed")


async def test_an_anchor_of_another_log_is_noticed(room: Room) -> None:
    found = await room.operator.post("/audit/verify", {"revision": 1, "chain": "0" * 64})
    assert found["problems"]
    answer = await room.operator.ask("POST", "/audit/verify", {"revision": 1, "chain": "x"})
    refused(answer, 422, "invalid_input")


async def test_a_revision_to_come_is_refused(room: Room, app: App) -> None:
    _, head = await app.feed.head()
    answer = await room.operator.ask("GET", "/audit/replay", at=head + 1000)
    refused(answer, 422, "invalid_input")


def test_nothing_in_an_event_ends_its_cell_of_the_table() -> None:
    event = {
        "revision": 1,
        "at": 2,
        "kind": "x.y",
        "subject": "a|b\n| forged | row |",
        "data": {"text": "<script>`|` [a](http://b)\x1b[31m"},
        "chain": "f" * 64,
    }
    row = evidence.row(event)
    assert row.count("|") == 7
    assert not set("<>`[]\n\x1b") & set(row)
