"""Agents, states, leases, messages: what the commands say, and their exit codes."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from equipment.command import Mufakat, Outcome


@dataclass
class Terminal:
    """The commands of one agent."""

    home: Mufakat
    identity: str
    token: str

    def run(self, *words: str, **environ: str) -> Outcome:
        return self.home.run(*words, MUFAKAT_TOKEN=self.token, **environ)


def join(home: Mufakat, engine: str, role: str) -> Terminal:
    found = home.run("agents", "join", engine, "--role", role)
    assert found.code == 0, found.err
    return Terminal(home, found.json["identity"], found.json["token"])


@pytest.fixture
def pair(shared: Mufakat) -> Iterator[tuple[Terminal, Terminal]]:
    one, two = join(shared, "one", "developer"), join(shared, "two", "reviewer")
    yield one, two
    for terminal in (one, two):
        terminal.run("agents", "leave")


Pair = tuple[Terminal, Terminal]


def test_who_is_here(shared: Mufakat, pair: Pair) -> None:
    listed = shared.run("agents", "--json").json["items"]
    assert {pair[0].identity, pair[1].identity} <= {item["identity"] for item in listed}
    plain = shared.run("agents", "list", "--no-json").out
    assert pair[0].identity in plain and "developer" in plain
    assert shared.run("agents", "show", pair[0].identity).json["role"] == "developer"
    assert pair[1].run("agents", "show").json["identity"] == pair[1].identity
    gone = shared.run("agents", "show", "nobody@nowhere:000000")
    assert (gone.code, gone.error["code"]) == (5, "not_found")
    assert gone.error["fix"]


def test_an_agent_that_left_may_do_nothing_more(shared: Mufakat) -> None:
    agent = join(shared, "brief", "tester")
    agent.run("lease", "acquire", "task:brief")
    assert agent.run("agents", "leave").code == 0
    refused = agent.run("agents", "show")
    assert (refused.code, refused.error["code"]) == (6, "unauthenticated")
    assert shared.run("lease", "list", "--holder", agent.identity).json["items"] == []


def test_states(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    assert one.run("state", "working", "--detail", "reading").json["state"] == "working"
    assert one.run("state", "--no-json").out == f"{one.identity}  working\n"
    assert one.run("state", "blocked").code == 2
    assert one.run("state", "blocked", "--on", "approval").json["on"] == "approval"
    late = two.run("wait", f"{one.identity}=idle", "--timeout", "0.2")
    assert (late.code, late.json["met"]) == (3, False)
    assert one.run("state", "idle").code == 0
    met = two.run("wait", "role:developer=idle|offline", "--timeout", "20")
    assert (met.code, met.json["met"]) == (0, True)
    assert two.run("wait", "nonsense").code == 2


def test_a_lease_from_claim_to_release(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    held = one.run("lease", "acquire", "task:a", "file:src/**", "--ttl", "2m", "--reason", "why")
    assert held.code == 0, held.err
    lease = held.json
    refused = two.run("lease", "acquire", "file:src/app.py")
    assert (refused.code, refused.error["code"]) == (4, "held")
    assert one.identity in refused.error["message"]
    assert two.run("lease", "list", "--resource", "task:a").json["items"][0]["id"] == lease["id"]
    assert one.identity in shared.run("lease", "--no-json").out
    fence = lease["fences"]["task:a"]
    assert two.run("lease", "check", "task:a", fence).code == 0
    assert one.run("lease", "renew", lease["id"], "--ttl", "10m").json["expires_in"] > 500
    given = one.run("lease", "transfer", lease["id"], two.identity).json
    assert given["holder"] == two.identity
    assert two.run("lease", "check", "task:a", fence).code == 4
    assert one.run("lease", "release", lease["id"], "--fence", fence).json == {"answer": "gone"}
    assert two.run("lease", "release", given["id"]).json == {"answer": "ok"}
    assert two.run("lease", "queue").json["items"] == []


def test_waiting_in_the_queue(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    held = one.run("lease", "acquire", "port:8080").json
    waiting = subprocess.Popen(
        shared.argv("lease", "acquire", "port:8080", "--wait", "60s"),
        cwd=shared.project,
        env=shared.environment(MUFAKAT_TOKEN=two.token),
        stdout=subprocess.PIPE,
    )
    for _ in range(600):
        if shared.run("lease", "queue").json["items"]:
            break
    assert two.identity in shared.run("lease", "queue", "--no-json").out
    one.run("lease", "release", held["id"])
    out, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    granted = json.loads(out)
    assert granted["holder"] == two.identity
    two.run("lease", "release", granted["id"])


def test_putting_off_that_a_lease_is_taken(shared: Mufakat, pair: Pair) -> None:
    one = pair[0]
    held = one.run("lease", "acquire", "task:slow", "--ttl", "20m").json
    early = one.run("lease", "defer", held["id"])
    assert (early.code, early.error["code"]) == (4, "conflict")
    waiting = subprocess.Popen(
        shared.argv("lease", "acquire", "task:slow", "--wait", "9m"),
        cwd=shared.project,
        env=shared.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(600):
        if shared.run("lease", "queue").json["items"]:
            break
    deferred = one.run("lease", "defer", held["id"])
    assert deferred.code == 0, deferred.err
    assert deferred.json["preempt_at"]
    again = one.run("lease", "defer", held["id"], "--no-json")
    assert again.code == 4 and "release or transfer" in again.err
    assert one.run("lease", "release", held["id"]).json == {"answer": "ok"}
    out, _ = waiting.communicate(timeout=60)
    shared.run("lease", "release", json.loads(out)["id"])


def test_a_persons_paths_count_from_the_current_folder(shared: Mufakat, pair: Pair) -> None:
    below = shared.project / "deep"
    below.mkdir(exist_ok=True)
    held = shared.run("lease", "acquire", "file:*.txt", "repo:.", cwd=below).json
    assert set(held["resources"]) == {f"file:{below}/*.txt", f"repo:{below}"}
    assert shared.run("lease", "list", "--resource", "file:a.txt", cwd=below).json["items"] != []
    assert pair[0].run("lease", "acquire", "file:deep/b.txt").code == 4
    assert shared.run("lease", "acquire", "file:../../x", cwd=below).code == 2
    shared.run("lease", "release", held["id"])


def test_only_a_person_steals(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    one.run("lease", "acquire", "branch:main")
    refused = two.run("lease", "steal", "branch:main", "--reason", "mine")
    assert (refused.code, refused.error["code"]) == (6, "not_allowed")
    assert shared.run("lease", "steal", "branch:main").code == 2
    stolen = shared.run("lease", "steal", "branch:main", "--reason", "release").json
    assert stolen["holder"].startswith("human@")
    shared.run("lease", "release", stolen["id"])


def test_messages(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    sent = one.run("send", "role:reviewer", "-m", "Look at it.", "--intent", "request").json
    assert sent["recipients"] == [two.identity]
    letter = two.run("inbox").json["items"][0]
    assert (letter["sender"], letter["text"]) == (one.identity, "Look at it.")
    assert two.run("inbox").json["items"] != [], "looking changes nothing"
    assert "Look at it." in two.run("inbox", "--no-json").out
    assert two.run("send", "-m", "Done.", "--reply-to", sent["message"]).code == 0
    assert two.run("inbox").json["items"] == []
    answer = one.run("inbox").json["items"][0]
    assert one.run("inbox", "ack", str(answer["number"])).code == 0
    assert one.run("inbox", "ack").code == 2
    unknown = one.run("send", "nobody", "-m", "x")
    assert (unknown.code, unknown.error["code"]) == (5, "not_found")
    assert shared.run("inbox", "dead").json["items"] == []


def test_a_message_from_a_pipe(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    sent = shared.run(
        "send", two.identity, data="zwei Zeilen\nöäü".encode(), MUFAKAT_TOKEN=one.token
    )
    assert sent.code == 0, sent.err
    (letter,) = two.run("inbox").json["items"]
    assert letter["text"] == "zwei Zeilen\nöäü"
    two.run("inbox", "ack", "--upto", str(letter["number"]))


def test_what_is_new(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    two.run("context", "--shown")
    noted = one.run("notice", "set", "staging", "staging is down", "--ttl", "5m")
    assert noted.code == 0, noted.err
    one.run("send", two.identity, "-m", "The port is 8080.")
    told = two.run("context", "--no-json", "--shown").out
    assert "The port is 8080." in told and "staging is down" in told
    assert two.run("context", "--no-json").out == ""
    assert two.run("notice").json["items"][0]["key"] == "staging"
    assert one.run("notice", "drop", "staging").code == 0


def test_reactions(shared: Mufakat, pair: Pair) -> None:
    one, two = pair
    kept = one.run("on", "add", "role:developer=idle", "send", "to=role:reviewer", "body=Go.")
    assert kept.code == 0, kept.err
    assert one.run("on").json["items"][0]["id"] == kept.json["id"]
    assert two.run("on").json["items"] == [], "each sees its own"
    one.run("state", "working")
    one.run("state", "idle")
    assert [letter["text"] for letter in two.run("inbox").json["items"]] == ["Go."]
    assert one.run("on").json["items"] == []
    two.run("inbox", "ack", "--upto", "1")
    another = two.run("on", "add", "role:developer=offline", "send", "to=x", "body=y").json
    assert two.run("on", "remove", another["id"]).code == 0
    assert two.run("on", "add", "role:developer", "send").code == 2
    assert two.run("on", "add", "role:developer=idle", "send", "nonsense").code == 2


def test_policy(shared: Mufakat, pair: Pair) -> None:
    data = shared.run("policy").json
    assert [one["name"] for one in data["classes"]] == ["batch", "normal", "high", "incident"]
    plain = shared.run("policy", "show", "--no-json")
    assert plain.code == 0
    assert "{" not in plain.out and "[" not in plain.out
    lines = [line.split() for line in plain.out.splitlines()]
    assert ["CLASS", "PREEMPTION", "MAX", "HOLD", "MIN", "HOLD", "LEASES", "BROAD"] in lines
    assert ["incident", "never", "8h", "30s", "64", "0"] in lines
    assert ["normal", "grace", "8h", "30s", "64", "0"] in lines
    told = pair[0].run("policy", "explain", "task:x").json
    assert told["answer"] and told["rule"]
    assert shared.run("lease", "list", "--resource", "task:x").json["items"] == []


def test_the_switch_that_stops_all(own: Mufakat) -> None:
    own.run("up", "--detach")
    agent = join(own, "one", "developer")
    assert own.run("agents", "pause").code == 0
    stopped = agent.run("send", agent.identity, "-m", "x")
    assert (stopped.code, stopped.error["code"]) == (3, "paused")
    assert own.ask("hello").code != 0
    assert own.run("agents", "unpause").code == 0
    assert own.ask("hello").code == 0


def guard(agent: Terminal, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        agent.home.argv("guard", *words),
        cwd=agent.home.project,
        env=agent.home.environment(MUFAKAT_TOKEN=agent.token),
        capture_output=True,
        timeout=90,
        check=False,
    )


def test_a_guarded_command_runs_under_a_lease(shared: Mufakat, pair: Pair) -> None:
    show = "import os; print(os.environ['MUFAKAT_RESOURCE'], os.environ['MUFAKAT_FENCE'])"
    done = guard(pair[0], "-r", "task:g", "--", sys.executable, "-c", show)
    resource, fence = done.stdout.decode().split()
    assert (done.returncode, resource) == (0, "task:g")
    assert shared.run("lease", "check", "task:g", fence).code == 4, "it was released"
    assert guard(pair[0], "-r", "task:g", "--", "sh", "-c", "exit 3").returncode == 3
    held = pair[1].run("lease", "acquire", "task:g").json
    assert guard(pair[0], "-r", "task:g", "--", "true").returncode == 4
    pair[1].run("lease", "release", held["id"])


def living(group: int) -> list[str]:
    """Processes of a group that have not ended; nobody may ever reap those that have."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(entry.name)
    return found


def test_l11_a_guarded_command_ends_when_its_lease_is_lost(
    shared: Mufakat, pair: Pair, tmp_path: Path
) -> None:
    mark = tmp_path / "running"
    argv = ("sh", "-c", f"echo $$ > {mark}; sleep 300")
    running = subprocess.Popen(
        shared.argv("guard", "-r", "task:l", "--ttl", "6s", "--", *argv),
        cwd=shared.project,
        env=shared.environment(MUFAKAT_TOKEN=pair[0].token),
        stderr=subprocess.DEVNULL,
    )
    for _ in range(200):
        if mark.exists() and mark.read_text().strip():
            break
        running.poll()
        shared.run("lease", "list")
    stolen = shared.run("lease", "steal", "task:l", "--reason", "test").json
    assert running.wait(60) == 75
    assert living(int(mark.read_text())) == []
    shared.run("lease", "release", stolen["id"])


def test_a_reaction_shows_what_was_asked_for_and_no_more(shared: Mufakat, pair: Pair) -> None:
    data = {"to": "role:reviewer", "body": "Go."}
    words = [f"{name}={value}" for name, value in data.items()]
    kept = pair[0].run("on", "add", "role:nobody=idle", "send", *words).json
    assert kept["data"] == data
    assert pair[0].run("on", "remove", kept["id"]).code == 0
