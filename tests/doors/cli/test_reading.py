"""Commands that read: packs, conversations, turns, events and engines."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from equipment.command import Mufakat

RECEIPT = {"mode", "reason", "budget", "used", "parity", "sections", "unavailable"}
ROW = {"kind", "tier", "need", "granted", "items", "degraded", "why"}
RISKY = "\x1b]52;c;cm0=\x07 \x1b[31mred\x1b[0m \u202egnp.exe over\rwritten \x9b1m"


@pytest.fixture(scope="module")
def asked(shared: Mufakat) -> dict[str, Any]:
    """One conversation of two turns, whose texts would act on a terminal."""
    first = shared.ask(RISKY).json
    second = shared.ask(f"again {RISKY}", "-c", first["conversation"]).json
    assert (first["status"], second["status"]) == ("done", "done")
    return second


def test_pack_show_prints_the_receipt(shared: Mufakat, asked: dict[str, Any]) -> None:
    receipt = shared.run("pack", "show", asked["pack"], "--json").json
    assert set(receipt) >= RECEIPT
    assert all(set(row) >= ROW for row in receipt["sections"])
    assert receipt["id"] == asked["pack"]
    assert 0 < receipt["used"] <= receipt["budget"]
    route = shared.client.get(f"/packs/{asked['pack']}")
    assert receipt == route


@pytest.mark.parametrize("words", [(), ("last",)])
def test_pack_show_knows_the_newest(
    shared: Mufakat, asked: dict[str, Any], words: tuple[str, ...]
) -> None:
    assert shared.run("pack", "show", *words).json["id"] == asked["pack"]
    prefix = asked["pack"][:-2]
    assert shared.run("pack", "show", prefix).json["id"] == asked["pack"]


def test_pack_show_text(shared: Mufakat, asked: dict[str, Any]) -> None:
    found = shared.run("pack", "show", "--text").json
    assert set(found) >= RECEIPT | {"texts", "system", "user"}
    kinds = [row["kind"] for row in found["texts"]]
    assert "platform" in kinds
    plain = shared.run("pack", "show", "--text", "--no-json").out
    for kind in kinds:
        assert f"── {kind}" in plain


def test_pack_show_for_people(shared: Mufakat, asked: dict[str, Any]) -> None:
    receipt = shared.run("pack", "show").json
    plain = shared.run("pack", "show", "--no-json").out
    for row in receipt["sections"]:
        assert row["kind"] in plain
        assert row["why"] in plain
    assert f"{receipt['used']:,} of {receipt['budget']:,} characters used" in plain
    assert "█" in plain and "tier 0" in plain
    assert "\x1b" not in plain, "no colours without a terminal"


def test_pack_preview_stores_nothing(shared: Mufakat, asked: dict[str, Any]) -> None:
    before = shared.run("pack", "list").json
    found = shared.run("pack", "preview", "Review it", "-a", "scripted", "--mode", "full").json
    assert (found["mode"], found["reason"]) == ("full", "user-override")
    assert set(found) >= RECEIPT
    assert not set(found) & {"texts", "system", "user"}
    texts = shared.run("pack", "preview", "Review it", "-a", "scripted", "--text").json
    assert "Review it" in texts["user"]
    plain = shared.run("pack", "preview", "x", "-a", "scripted", "--text", "--no-json")
    assert plain.out.startswith("Preview")
    assert shared.run("pack", "list").json == before


def test_pack_diff(shared: Mufakat, asked: dict[str, Any]) -> None:
    older = shared.run("pack", "list").json["items"][1]["id"]
    found = shared.run("pack", "diff", older, "last").json
    assert found["same"] and found["text"].startswith("---")
    assert found["parity_equal"] is False
    plain = shared.run("pack", "diff", older, "last", "--no-json").out
    assert "different items" in plain
    assert shared.run("pack", "diff", older, older).json["parity_equal"] is True


def test_conversations(shared: Mufakat, asked: dict[str, Any]) -> None:
    rows = shared.run("conversations").json["items"]
    assert asked["conversation"] in [row["id"] for row in rows]
    page = shared.run("conversations", "list", "--limit", "1").json
    assert len(page["items"]) == 1
    shown = shared.run("conversations", "show", asked["conversation"][:-2], "--all").json
    assert [message["number"] for message in shown["messages"]] == [1, 2, 3, 4]
    assert shown["messages"][0]["text"] == RISKY, "JSON keeps the text as it is"


def test_row_50_texts_of_agents_cannot_act_on_a_terminal(
    shared: Mufakat, asked: dict[str, Any]
) -> None:
    for words in (
        ("conversations", "show", asked["conversation"], "--all"),
        ("conversations", "list"),
        ("turns", "show", asked["turn"]),
        ("pack", "show", "--text"),
        ("pack", "diff", "last", "last"),
        ("events",),
        ("ask", RISKY, "-a", "scripted"),
    ):
        found = shared.run(*words, "--no-json")
        assert found.code == 0, found.err
        for sign in ("\x1b", "\x9b", "\u202e", "\r", "\x07"):
            assert sign not in found.out + found.err, (words, sign)
    raw = shared.run("conversations", "show", asked["conversation"], "--json").out
    for sign in ("\x1b", "\x9b", "\u202e", "\r", "\x07"):
        assert sign not in raw, "JSON is escaped"


def test_turns(shared: Mufakat, asked: dict[str, Any]) -> None:
    rows = shared.run("turns", "-c", asked["conversation"])
    assert rows.code == 2, "options of `list` need its name"
    rows = shared.run("turns", "list", "-c", asked["conversation"]).json["items"]
    assert asked["turn"] in [row["id"] for row in rows]
    of = ("-c", asked["conversation"], "--limit", "1", "--no-json")
    onward = f"mufakat turns list --conversation {asked['conversation']} --before t_"
    assert onward in shared.run("turns", "list", *of).err, "the next page is of the same list"
    shown = shared.run("turns", "show", asked["turn"][:-2]).json
    assert shown["text"] == asked["text"]
    assert shared.run("turns", "retry", asked["turn"]).error["code"] == "conflict"
    assert shared.run("turns", "cancel", asked["turn"]).json["status"] == "done"


def test_a_failed_turn_is_retried_as_a_new_one(shared: Mufakat) -> None:
    failed = shared.ask("hello", "-m", "fail:overloaded").json
    again = shared.run("turns", "retry", failed["turn"])
    assert (again.code, again.json["failure"]) == (3, "overloaded")
    assert again.json["turn"] != failed["turn"]
    assert again.json["conversation"] == failed["conversation"]


def test_events(shared: Mufakat, asked: dict[str, Any]) -> None:
    lines = [json.loads(line) for line in shared.run("events").out.splitlines()]
    numbers = [int(row["id"].rpartition("-")[2]) for row in lines]
    assert numbers == sorted(set(numbers))
    mine = shared.run("events", "--subject", asked["turn"], "--kinds", "turn.packed,turn.ended")
    kinds = [json.loads(line)["kind"] for line in mine.out.splitlines()]
    assert kinds == ["turn.packed", "turn.ended"]
    after = shared.run("events", "--after", lines[-3]["id"]).out.splitlines()
    assert [json.loads(line)["id"] for line in after][:2] == [row["id"] for row in lines[-2:]]


def test_events_can_be_followed(shared: Mufakat, asked: dict[str, Any]) -> None:
    following = shared.spawn("events", "-f", "--kinds", "turn.ended", "--after", _head(shared))
    try:
        turn = shared.ask("hello").json["turn"]
        assert following.stdout is not None
        row = json.loads(following.stdout.readline())
        assert (row["kind"], row["subject"]) == ("turn.ended", turn)
    finally:
        following.send_signal(signal.SIGINT)
        following.communicate(timeout=30)
    assert following.returncode == 130


def _head(shared: Mufakat) -> str:
    return str(shared.client.get("/events", {"limit": 1})["head"])


def test_engines(shared: Mufakat) -> None:
    found = shared.run("engines").json
    scripted = next(row for row in found["engines"] if row["name"] == "scripted")
    assert scripted["available"] is True
    assert "scripted" in shared.run("engines", "--no-json").out


def test_doctor(shared: Mufakat) -> None:
    found = shared.run("doctor")
    assert found.code == 0, found.out
    assert set(found.json) >= {"engines", "store", "platform_support", "home", "broken"}
    plain = shared.run("doctor", "--no-json").out
    for word in ("scripted", "store", "platform", "home", "Nothing that was configured is broken"):
        assert word in plain


def test_doctor_sees_an_open_home(shared: Mufakat) -> None:
    token: Path = shared.home / "token"
    token.chmod(0o644)
    try:
        found = shared.run("doctor")
        assert found.code == 1
        assert found.json["broken"][0]["fix"] == f"chmod 600 '{token}'"
    finally:
        token.chmod(0o600)
