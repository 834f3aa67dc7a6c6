"""Figures for Prometheus: what agents did is counted once, under names without an end to none."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from doors.http.room import Room, refused
from mufakat.app import App
from mufakat.core.base import Revision
from mufakat.core.coordination import measure, resource, state
from mufakat.core.coordination.inbox import Path
from mufakat.core.coordination.series import SERIES
from mufakat.services.metrics import Metrics

pytestmark = pytest.mark.anyio

Labels = tuple[tuple[str, str], ...]


async def scrape(room: Room) -> dict[tuple[str, Labels], float]:
    answer = await room.http.get("/metrics", headers=room.operator.headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return dict(samples(answer.text))


def samples(text: str) -> Iterator[tuple[tuple[str, Labels], float]]:
    for family in text_string_to_metric_families(text):
        for one in family.samples:
            yield (one.name, tuple(sorted(one.labels.items()))), one.value


def of(found: dict[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return found.get((name, tuple(sorted(labels.items()))), 0.0)


async def report(agent: object, to: str, ordinal: int) -> None:
    body = {"state": to, "run": agent.record["run"], "ordinal": ordinal}  # type: ignore[attr-defined]
    answer = await agent.ask("PUT", "/agents/me/state", body)  # type: ignore[attr-defined]
    assert answer.status_code == 200, answer.text


async def a_day(room: Room) -> None:
    """Two agents: mail, a lease that both want, a held stop, an end."""
    ann, bob = await room.join(), await room.join("gemini")
    await report(ann, "working", 1)
    lease = await ann.post("/leases", {"resources": ["task:docs"]}, key="a")
    refused(await bob.ask("POST", "/leases", {"resources": ["task:docs"]}, key="b"), 409, "held")
    await ann.post(f"/leases/{lease['id']}/renew", {"fence": lease["fences"]["task:docs"]})
    await ann.post(f"/leases/{lease['id']}/release", {"fence": lease["fences"]["task:docs"]})
    await room.send(ann, bob, intent="request", body="Please test it.")
    await room.send(ann, bob, body="For later.")
    stop = await bob.post("/gate", {"session": "s", "turn": "t"})
    assert stop["decision"] == "block"
    await bob.post("/gate/skipped", {"count": 2})


async def test_every_series_is_told_with_its_type_and_help(room: Room) -> None:
    answer = await room.http.get("/metrics", headers=room.operator.headers)
    told = {one.name: one.type for one in text_string_to_metric_families(answer.text)}
    assert told == {name.removesuffix("_total"): one.type.value for name, one in SERIES.items()}


async def test_what_agents_did_is_counted(room: Room) -> None:
    await a_day(room)
    found = await scrape(room)
    assert of(found, "iacp_lease_acquired_total", kind="task") == 1
    assert of(found, "iacp_lease_held_total", kind="task") == 1
    assert of(found, "iacp_lease_renewed_total", kind="task") == 1
    assert of(found, "iacp_lease_hold_seconds_count") == 1
    assert of(found, "iacp_lease_wait_seconds_count") == 1
    assert of(found, "iacp_gate_blocks_total", result="blocked") == 1
    assert of(found, "iacp_gate_skipped_total") == 2
    assert of(found, "iacp_injected_chars_total", path="gate") > 0
    assert of(found, "iacp_delivery_seconds_count", path="gate") == 2
    assert of(found, "iacp_state_transitions_total", **{"from": "starting", "to": "working"}) == 1
    assert of(found, "iacp_state_seconds_count", state="starting") == 1
    assert of(found, "iacp_agents", state="working") == 1
    assert of(found, "iacp_inbox_unread") == 0
    assert of(found, "iacp_lease_queue_depth") == 0


async def test_a_digest_counts_as_told_and_unread_mail_stands(room: Room) -> None:
    ann, bob = await room.join(), await room.join("gemini")
    await room.send(ann, bob, body="Hello there.")
    assert of(await scrape(room), "iacp_inbox_unread") == 1
    text = (await bob.get("/context"))["text"]
    assert of(await scrape(room), "iacp_injected_chars_total", path="digest") == len(text)


async def test_a_hook_is_timed(room: Room) -> None:
    body = {"session_id": "s-1", "cwd": room.project}
    await room.joiner.post("/hooks/codex/session-start", body)
    assert of(await scrape(room), "iacp_hook_seconds_count", moment="session-start") == 1


async def test_scraping_again_counts_nothing_twice(room: Room) -> None:
    await a_day(room)
    assert await scrape(room) == await scrape(room)


async def test_twin_a_reader_that_forgets_its_cursor_counts_twice(room: Room, app: App) -> None:
    await a_day(room)
    first = await scrape(room)
    app.metrics._cursor = Revision(0)
    assert await scrape(room) != first


async def test_another_server_on_the_same_log_counts_the_same(room: Room, app: App) -> None:
    other = Metrics(app.store)
    await other.begin()
    await a_day(room)
    ours, theirs = await app.metrics.read(), await other.read()
    assert {key: one for key, one in ours.counters.items() if key[1] != ("digest",)} == (
        theirs.counters
    )


async def test_pages_of_the_log_are_counted_once_each(
    room: Room, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mufakat.services.metrics.PAGE", 3)
    await a_day(room)
    small = Metrics(app.store)
    found = await small.read()
    monkeypatch.setattr("mufakat.services.metrics.PAGE", 1000)
    assert found.counters == (await Metrics(app.store).read()).counters


async def test_labels_are_words_of_ours_and_never_names(room: Room) -> None:
    await a_day(room)
    words = {one.value for one in (*state.State, *resource.Kind, *Path)}
    words |= {"digest", "blocked", "allowed", "gave_up", "stale", "preempted", measure.OTHER}
    words |= {"stolen", "revoked"}
    for (name, labels), _ in (await scrape(room)).items():
        for label, value in labels:
            assert label == "le" or value in words, (name, label, value)


async def test_metrics_are_the_operators(room: Room, bare: httpx.AsyncClient) -> None:
    agent = await room.join()
    answer = await bare.get("/metrics", headers=agent.headers)
    assert answer.status_code == 403
    assert (await bare.get("/metrics")).status_code == 401
    assert (await bare.post("/metrics", headers=room.operator.headers)).status_code == 405


def test_beginnings_are_forgotten_beyond_a_limit() -> None:
    starts = measure.Starts(most=2)
    for number in range(3):
        starts.begin(("inbox", str(number)), 0)
    assert starts.end(("inbox", "0"), 1_000) is None
    assert starts.end(("inbox", "2"), 1_000) == 1
