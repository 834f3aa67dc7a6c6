"""Leases over HTTP: granted, held, renewed, lost, waited for, taken, and looked at."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from doors.http.patient import Patient
from doors.http.room import Caller, Room, refused
from mufakat.server.http import api
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import leases as shapes

pytestmark = pytest.mark.anyio

TASK = "task:report"


async def take(by: Caller, *resources: str, **more: Any) -> Any:
    return await by.post("/leases", {"resources": list(resources or (TASK,)), **more})


def fence(lease: Any) -> str:
    return str(next(iter(lease["fences"].values())))


async def test_a_lease_is_granted_with_fences_as_texts(room: Room) -> None:
    agent = await room.join()
    answer = await agent.ask(
        "POST", "/leases", {"resources": ["task:b", "task:a"], "ttl": 60, "reason": "Report."}
    )
    assert answer.status_code == 201
    shapes.Granted.model_validate_json(answer.content)
    lease = answer.json()
    assert (lease["holder"], lease["state"]) == (agent.identity, "live")
    assert lease["resources"] == ["task:a", "task:b"] == sorted(lease["fences"])
    assert all(int(one) > 2**40 for one in lease["fences"].values())
    assert 50 < lease["expires_in"] <= 60


async def test_what_is_held_is_never_granted(room: Room) -> None:
    holder, other = await room.join(), await room.join("claude")
    lease = await take(holder, reason="Mine.")
    answer = await other.ask("POST", "/leases", {"resources": [TASK]})
    problem = refused(answer, 409, "held")
    assert problem["position"] == 1
    found = shapes.Holder.model_validate(problem["holders"][0])
    assert (found.holder, found.resource, found.reason) == (holder.identity, TASK, "Mine.")
    assert found.lease == lease["id"]


async def test_the_same_request_again_is_the_same_lease(room: Room) -> None:
    agent = await room.join()
    body = {"resources": [TASK], "ttl": 60}
    first = await agent.post("/leases", body, key="one")
    assert (await agent.post("/leases", body, key="one"))["id"] == first["id"]
    assert (await agent.post("/leases", body, key="two"))["fences"] == first["fences"]
    other = await agent.ask("POST", "/leases", body | {"ttl": 61}, key="one")
    refused(other, 409, "idempotency_conflict")


async def test_it_is_renewed_released_and_gone(room: Room) -> None:
    agent = await room.join()
    lease = await take(agent, ttl=10)
    renewed = await agent.post(f"/leases/{lease['id']}/renew", {"fence": fence(lease), "ttl": 100})
    assert renewed["expires_in"] > 90
    shapes.Lease.model_validate(renewed)
    number = int(fence(lease))
    released = await agent.post(f"/leases/{lease['id']}/release", {"fence": number})
    assert released == {"answer": "ok"}
    again = await agent.post(f"/leases/{lease['id']}/release", {"fence": number})
    assert again == {"answer": "gone"}
    late = await agent.ask("POST", f"/leases/{lease['id']}/renew", {"fence": number})
    assert refused(late, 409, "lease_lost")["reason"] == "released"
    shown = await agent.get(f"/leases/{lease['id']}")
    assert (shown["state"], shown["cause"], shown["expires_in"]) == ("ended", "released", 0)


async def test_it_is_handed_to_another_agent(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    body = {"fence": fence(lease), "to": other.identity}
    moved = await agent.post(f"/leases/{lease['id']}/transfer", body)
    assert moved["holder"] == other.identity
    assert int(fence(moved)) > int(fence(lease))
    late = await agent.ask("POST", f"/leases/{lease['id']}/transfer", body)
    refused(late, 409, "lease_lost")


async def test_a_holder_puts_off_once_that_it_is_taken(room: Room, door: api.Server) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    path, body = f"/leases/{lease['id']}/defer", {"fence": fence(lease)}
    early = refused(await agent.ask("POST", path, body), 409, "conflict")
    assert (early["rule"], early["retryable"]) == ("not_asked", False)
    wish = {"resources": [TASK], "wait": 600}
    patient = Patient(door, "/leases", wish, token=room.operator.token).start()
    await patient.waiting()
    asked = (await agent.get(f"/leases/{lease['id']}"))["preempt_at"]
    refused(await other.ask("POST", path, body), 403, "not_allowed")
    deferred = await agent.post(path, body, key="one")
    shapes.Lease.model_validate(deferred)
    assert deferred["preempt_at"] > asked
    assert (await agent.post(path, body, key="one"))["preempt_at"] == deferred["preempt_at"]
    again = refused(await agent.ask("POST", path, body, key="two"), 409, "conflict")
    assert again["rule"] == "deferred" and "release or transfer" in again["fix"]
    dead = {"fence": str(int(fence(lease)) - 1)}
    refused(await agent.ask("POST", path, dead), 409, "lease_lost")
    refused(await agent.ask("POST", path, {}), 422, "invalid_input")
    await patient.leave()


async def test_the_operator_takes_it_with_a_reason(room: Room) -> None:
    agent = await room.join()
    lease = await take(agent)
    refused(
        await room.operator.ask("POST", "/leases/steal", {"resources": [TASK]}),
        422,
        "invalid_input",
    )
    stolen = await room.operator.post("/leases/steal", {"resources": [TASK], "reason": "Release."})
    assert int(fence(stolen)) > int(fence(lease))
    late = await agent.ask("POST", f"/leases/{lease['id']}/renew", {"fence": fence(lease)})
    problem = refused(late, 409, "lease_lost")
    assert (problem["reason"], problem["holder"]) == ("stolen", stolen["holder"])


async def test_anybody_checks_a_fence(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    body = {"resource": TASK, "fence": fence(lease)}
    checked = await other.post("/leases/check", body)
    assert checked == {"valid": True, "holder": agent.identity}
    assert (await other.post("/leases/check", body | {"fence": int(fence(lease)) - 1}))[
        "valid"
    ] is False
    await agent.post(f"/leases/{lease['id']}/release", {"fence": fence(lease)})
    assert (await other.post("/leases/check", body))["valid"] is False


async def test_a_guard_says_who_is_in_the_way(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    path = f"{room.project}/README.md"
    await take(agent, f"file:{path}")
    found = await other.post("/leases/guard", {"paths": [path]})
    assert shapes.Guarded.model_validate(found).holder is not None
    assert found["holder"]["holder"] == agent.identity
    assert (await agent.post("/leases/guard", {"paths": [path]}))["holder"] is None


async def test_lists(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    await take(other, "task:b")
    page = await other.get("/leases")
    answers.Listing[shapes.Lease].model_validate(page)
    assert len(page["items"]) == 2
    assert [one["id"] for one in (await other.get("/leases", holder=agent.identity))["items"]] == [
        lease["id"]
    ]
    assert [one["id"] for one in (await other.get("/leases", resource=TASK))["items"]] == [
        lease["id"]
    ]
    assert (await other.get(f"/leases/{lease['id'][:20]}"))["id"] == lease["id"]
    refused(await other.ask("GET", "/leases/none"), 404, "not_found")


async def test_who_waits_gets_it_when_it_is_free(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    waiting = asyncio.create_task(take(other, wait=30, reason="Next."))
    await asyncio.sleep(0.05)
    queue = await agent.get("/leases/queue")
    answers.Listing[shapes.Waiter].model_validate(queue)
    assert [one["holder"] for one in queue["items"]] == [other.identity]
    await agent.post(f"/leases/{lease['id']}/release", {"fence": fence(lease)})
    async with asyncio.timeout(20):
        granted = await waiting
    assert granted["holder"] == other.identity
    assert int(fence(granted)) > int(fence(lease))


async def test_who_waits_in_vain_is_refused(room: Room) -> None:
    agent, other = await room.join(), await room.join("claude")
    await take(agent)
    late = await other.ask("POST", "/leases", {"resources": [TASK], "wait": 0.1})
    refused(late, 409, "held")
    assert (await agent.get("/leases/queue"))["items"] == []


async def test_who_leaves_leaves_the_queue(room: Room, door: api.Server) -> None:
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    body = {"resources": [TASK], "wait": 600}
    patient = Patient(door, "/leases", body, token=other.token).start()
    await patient.waiting()
    assert len((await agent.get("/leases/queue"))["items"]) == 1
    await patient.leave()
    assert (await agent.get("/leases/queue"))["items"] == []
    await agent.post(f"/leases/{lease['id']}/release", {"fence": fence(lease)})
    assert (await agent.get("/leases"))["items"] == []


async def test_twin_a_door_that_does_not_look_grants_to_who_has_left(
    room: Room, door: api.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mufakat.server.http import streams

    async def never(receive: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(streams, "left", never)
    agent, other = await room.join(), await room.join("claude")
    lease = await take(agent)
    body = {"resources": [TASK], "wait": 600}
    patient = Patient(door, "/leases", body, token=other.token).start()
    await patient.waiting()
    patient.left.set()
    await asyncio.sleep(0.05)
    assert len((await agent.get("/leases/queue"))["items"]) == 1
    await agent.post(f"/leases/{lease['id']}/release", {"fence": fence(lease)})
    assert await patient.answer() == 201


async def test_waiting_ends_with_the_server(room: Room, door: api.Server) -> None:
    agent, other = await room.join(), await room.join("claude")
    await take(agent)
    body = {"resources": [TASK], "wait": 600}
    patient = Patient(door, "/leases", body, token=other.token).start()
    await patient.waiting()
    door.streams.close()
    assert await patient.answer() == 503
    assert json.loads(patient.body)["retryable"] is True
    assert (await agent.get("/leases/queue"))["items"] == []


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "both"},
        {"slots": 0},
        {"slots": "2"},
        {"wait": -1},
        {"wait": 601},
        {"wait": "10"},
        {"rank": 4},
        {"rank": -1},
        {"resources": TASK},
        {"resources": []},
        {"resources": [""]},
        {"resources": [5]},
        {"holder": "x"},
        {"from": "x"},
        {"ttl_seconds": 5},
    ],
)
async def test_a_request_is_checked(room: Room, change: dict[str, Any]) -> None:
    agent = await room.join()
    refused(
        await agent.ask("POST", "/leases", {"resources": [TASK]} | change), 422, "invalid_input"
    )


@pytest.mark.parametrize(
    "bad", ["", "x", "1e3", "0x1", "1.0", " 1", "1_0", "٣", 1.5, True, None, "9" * 19, "9" * 20, []]
)
async def test_a_fence_is_a_whole_number(room: Room, bad: Any) -> None:
    agent = await room.join()
    lease = await take(agent)
    answer = await agent.ask("POST", f"/leases/{lease['id']}/release", {"fence": bad})
    refused(answer, 422, "invalid_input")


async def test_the_policy_is_shown_and_explains(room: Room) -> None:
    agent = await room.join()
    shown = await room.operator.get("/policy")
    assert shown
    said = await agent.post("/policy/explain", {"resources": [TASK]})
    assert said["answer"]
    assert said["rule"]
    assert (await agent.get("/leases"))["items"] == []
