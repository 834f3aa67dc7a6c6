"""The compressed memory over HTTP: who sees it, who takes entries back, what is refused."""

from __future__ import annotations

import pytest

from doors.http.room import Room, refused

pytestmark = pytest.mark.anyio


async def filled(room: Room, folder: str = "") -> str:
    """A conversation of thirty messages, condensed."""
    body = {"project": folder or room.project, "title": "Memory"}
    id: str = (await room.operator.post("/conversations", body))["id"]
    texts = ["The staging port is 8123.", *(f"File m_{n}.py holds {n} tests." for n in range(16))]
    texts += [
        "The staging port is 9000 now.",
        *(f"File n_{n}.py holds {n} tests." for n in range(12)),
    ]
    for text in texts:
        await room.operator.post(f"/conversations/{id}/messages", {"text": text})
    await room.operator.post(f"/conversations/{id}/memory", {})
    return id


async def test_topics_are_read_searched_and_taken_back(room: Room) -> None:
    id = await filled(room)
    found = await room.operator.get(f"/conversations/{id}/memory")
    lines = [line for topic in found["items"] for line in topic["lines"]]
    old, new = [line for line in lines if "staging" in line["text"]]
    assert (old["numbers"], new["supersedes"]) == ([1], old["id"])
    assert found["items"][0]["first"] == 1
    hits = await room.operator.get(f"/conversations/{id}/memory/lines", query="staging port")
    assert {one["id"] for one in hits["items"]} == {old["id"], new["id"]}
    gone = await room.operator.ask("DELETE", f"/conversations/{id}/memory/entries/{new['id']}")
    assert gone.json() == {"entries": [new["id"]], "restored": [old["id"]]}
    hits = await room.operator.get(f"/conversations/{id}/memory/lines", query="staging port")
    assert [one["id"] for one in hits["items"]] == [old["id"]]
    again = await room.operator.post(f"/conversations/{id}/memory", {})
    assert (again["messages"], again["waits_for"] > 0) == (0, True)


async def test_pages_of_topics(room: Room) -> None:
    id = await filled(room)
    page = await room.operator.get(f"/conversations/{id}/memory", limit=1)
    assert [one["number"] for one in page["items"]] == [1] and page["next"] == "1"
    rest = await room.operator.get(f"/conversations/{id}/memory", after=1)
    assert all(one["number"] > 1 for one in rest["items"])


async def test_row_34_an_agent_reads_its_own_projects_memory_and_changes_none(
    room: Room, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own, other = await filled(room), await filled(room, str(tmp_path_factory.mktemp("other")))
    agent = await room.join()
    assert (await agent.get(f"/conversations/{own}/memory"))["items"]
    assert (await agent.get(f"/conversations/{own}/memory/lines", query="port"))["items"]
    for path in (f"/conversations/{other}/memory", f"/conversations/{other}/memory/lines?query=a"):
        refused(await agent.ask("GET", path), 404, "not_found")
    refused(await agent.ask("POST", f"/conversations/{own}/memory", {}), 403, "not_allowed")
    refused(await agent.ask("DELETE", f"/conversations/{own}/memory/entries/1"), 403, "not_allowed")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/conversations/c_none/memory", 404),
        ("GET", "/conversations/{id}/memory?limit=0", 422),
        ("GET", "/conversations/{id}/memory/lines", 422),
        ("GET", "/conversations/{id}/memory/lines?query=" + "x" * 2_001, 422),
        ("DELETE", "/conversations/{id}/memory/entries/999", 404),
        ("DELETE", "/conversations/{id}/memory/entries/1.999", 404),
        ("DELETE", "/conversations/{id}/memory/entries/x", 422),
        ("DELETE", "/conversations/{id}/memory/entries/1.2.3", 422),
    ],
)
async def test_what_cannot_be_had_is_named(room: Room, method: str, path: str, status: int) -> None:
    body = {"project": room.project, "title": "Memory"}
    id = (await room.operator.post("/conversations", body))["id"]
    answer = await room.operator.ask(method, path.replace("{id}", id))
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    "query", ["%", "_", "' OR 1=1 --", "AND OR NOT", "-/@#", "端口", "\u200b" * 50]
)
async def test_any_query_has_an_answer(room: Room, query: str) -> None:
    id = await filled(room)
    found = await room.operator.get(f"/conversations/{id}/memory/lines", query=query)
    assert isinstance(found["items"], list)
