"""`mufakat audit`: verify, export and replay through a running server."""

from __future__ import annotations

import hashlib
import json

import pytest

from equipment.command import Mufakat


@pytest.fixture(scope="module")
def lived(shared: Mufakat) -> Mufakat:
    """A home in which something has happened."""
    assert shared.run("ask", "Hello.", "--engine", "scripted").code == 0
    return shared


def test_a_whole_log_is_verified_and_its_anchor_holds(lived: Mufakat) -> None:
    done = lived.run("audit", "verify", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["problems"] == [] and found["events"] > 5
    anchor = f"{found['revision']}:{found['chain']}"
    again = lived.run("audit", "verify", "--no-json", "--expect", anchor)
    assert (again.code, "none of them changed" in again.out) == (0, True)
    wrong = lived.run("audit", "verify", "--expect", f"{found['revision']}:{'0' * 64}")
    assert wrong.code == 1
    assert "was rewritten" in wrong.out


@pytest.mark.parametrize("anchor", ["x", "1:abc", ":" + "0" * 64])
def test_what_is_no_anchor_is_refused(lived: Mufakat, anchor: str) -> None:
    assert lived.run("audit", "verify", "--expect", anchor).code == 2


def test_an_export_is_one_chain(lived: Mufakat) -> None:
    done = lived.run("audit", "export")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["revision"] for row in rows] == list(range(1, len(rows) + 1))
    chain = ""
    for row in rows:
        chain = hashlib.sha256((chain + row["seal"]).encode()).hexdigest()
        assert row["chain"] == chain
    kinds = lived.run("audit", "export", "--kinds", "turn.ended")
    assert {json.loads(line)["kind"] for line in kinds.out.splitlines()} == {"turn.ended"}
    assert lived.run("audit", "export", "--after", str(len(rows))).out == ""


def test_a_table_for_people(lived: Mufakat) -> None:
    done = lived.run("audit", "export", "--format", "markdown", "--kinds", "agent.joined")
    head, rule, *rows = done.out.splitlines()
    assert head.startswith("| revision |") and set(rule) <= set("|-")
    assert rows and all(row.count("|") == 7 for row in rows)


def test_the_past_is_shown(lived: Mufakat) -> None:
    now = json.loads(lived.run("audit", "replay", "--json").out)
    assert {one["state"] for one in now["agents"].values()} == {"idle"}
    begin = json.loads(lived.run("audit", "replay", "--at", "0", "--json").out)
    assert (begin["revision"], begin["agents"]) == (0, {})
    text = lived.run("audit", "replay", "--no-json").out
    assert text.startswith(f"revision {now['revision']}")
    assert lived.run("audit", "replay", "--at", "999999999").code == 2
