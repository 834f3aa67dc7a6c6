"""`ask`: one object without a terminal, a stream on one, and an end to everything."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import time

import pytest

from equipment import cutting_proxy
from equipment.command import Mufakat

KEYS = {"conversation", "message", "pack", "engine", "agent", "text", "usage", "status", "turn"}


def test_without_a_terminal_it_prints_one_object(shared: Mufakat) -> None:
    found = shared.ask("What is this project?")
    assert found.code == 0, found.err
    assert set(found.json) == KEYS
    assert found.json["engine"] == "scripted"
    assert found.json["agent"].startswith("scripted@")
    assert "scripted demo engine" in found.json["text"]
    assert found.json["usage"]["output"] > 0
    assert found.out.count("\n") == 1


def test_the_first_question_starts_a_server_that_outlives_it(own: Mufakat) -> None:
    assert own.pid == 0
    found = own.ask("hello", "--json")
    assert found.code == 0, found.err
    assert own.pid != 0
    assert own.ask("again", "-c", found.json["conversation"]).json["status"] == "done"


def test_local_needs_no_server_and_leaves_none(own: Mufakat) -> None:
    found = own.run("ask", "hello", "-a", "scripted", "--local")
    assert found.code == 0, found.err
    assert found.json["status"] == "done"
    assert own.pid == 0
    assert not (own.home / "server.json").exists()


@pytest.mark.parametrize("words", [("-",), ()])
def test_the_prompt_comes_from_stdin(shared: Mufakat, words: tuple[str, ...]) -> None:
    found = shared.run("ask", "-a", "scripted", *words, data="\ufeffhällo\n".encode() + b"\xff\0")
    assert found.code == 0, found.err
    thread = shared.run("conversations", "show", found.json["conversation"]).json
    assert thread["messages"][0]["text"] == "hällo\n\ufffd\u2400"


def test_it_goes_on_in_the_last_conversation(shared: Mufakat) -> None:
    first = shared.ask("one").json
    assert shared.ask("two", "-c", "last").json["conversation"] == first["conversation"]
    assert shared.ask("three").json["conversation"] != first["conversation"]


def test_no_wait_returns_at_once(shared: Mufakat) -> None:
    found = shared.ask("hello", "-m", "slow:30", "--no-wait")
    assert found.code == 0
    assert found.json["status"] in ("queued", "running")
    ended = shared.run("turns", "cancel", found.json["turn"])
    assert (ended.code, ended.json["status"]) == (0, "cancelled")


def test_a_timeout_leaves_the_turn_running(shared: Mufakat) -> None:
    found = shared.ask("hello", "-m", "slow:30", "--timeout", "1")
    assert found.code == 3
    assert found.json["status"] == "running"
    assert f"turns show {found.json['turn']}" in found.error["fix"]
    assert shared.run("turns", "show", found.json["turn"]).json["status"] == "running"
    shared.run("turns", "cancel", found.json["turn"])


@pytest.mark.parametrize(
    ("model", "code", "failure"),
    [
        ("fail:overloaded", 3, "overloaded"),
        ("fail:rate_limit", 3, "rate_limit"),
        ("fail:login", 1, "login"),
        ("fail:no_result", 1, "no_result"),
    ],
)
def test_a_failed_turn_names_the_fix(shared: Mufakat, model: str, code: int, failure: str) -> None:
    found = shared.ask("hello", "-m", model)
    assert found.code == code
    assert (found.json["status"], found.json["failure"]) == ("failed", failure)
    assert found.json["fix"] and found.json["fix"] == found.error["fix"]
    plain = shared.ask("hello", "-m", model, "--no-json")
    assert "error: scripted failed" in plain.err
    assert "fix: " in plain.err


def test_progress_goes_to_stderr_alone(shared: Mufakat) -> None:
    found = shared.ask("hello", "-m", "tool", "--no-json")
    assert found.code == 0
    assert "list_folder" in found.err
    assert "of 60,000 characters" in found.err
    assert "of 60,000 characters" not in found.out
    assert found.out.endswith("real answer.\n")


def test_ctrl_c_cancels_the_turn_on_the_server(shared: Mufakat) -> None:
    before = {row["id"] for row in shared.client.get("/turns")["items"]}
    asking = shared.spawn("ask", "hello", "-a", "scripted", "-m", "slow:60")
    turn = _new_running_turn(shared, before)
    asking.send_signal(signal.SIGINT)
    out, _ = asking.communicate(timeout=30)
    assert asking.returncode == 130
    assert json.loads(out)["status"] == "cancelled"
    assert shared.run("turns", "show", turn).json["status"] == "cancelled"


def _new_running_turn(shared: Mufakat, before: set[str]) -> str:
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        for row in shared.client.get("/turns")["items"]:
            if row["id"] not in before and row["status"] == "running":
                return str(row["id"])
        time.sleep(0.1)
    raise AssertionError("no turn began")


def on_a_terminal(at: Mufakat, *words: str) -> tuple[list[tuple[float, bytes]], str, int]:
    """Run a command with a terminal as its stdout: what came when, stderr, exit code."""
    ours, theirs = pty.openpty()
    asking = at.spawn(*words, stdout=theirs)
    os.close(theirs)
    pieces: list[tuple[float, bytes]] = []
    with contextlib.suppress(OSError):  # the terminal is gone with its last user
        while piece := os.read(ours, 4096):
            pieces.append((time.monotonic(), piece))
    os.close(ours)
    _, err = asking.communicate(timeout=30)
    return pieces, err.decode(), asking.returncode


def joined(pieces: list[tuple[float, bytes]]) -> str:
    return b"".join(piece for _, piece in pieces).decode().replace("\r\n", "\n")


def test_a_terminal_sees_the_answer_as_it_comes(shared: Mufakat) -> None:
    pieces, err, code = on_a_terminal(shared, "ask", "hello", "-a", "scripted", "-m", "slow:4")
    assert code == 0, err
    shown = joined(pieces)
    assert shown.count("scripted demo engine") == 1
    assert shown.endswith("real answer.\n")
    assert len(pieces) > 5
    assert pieces[-1][0] - pieces[0][0] > 1
    assert "of 60,000 characters" in err


def test_d10_a_stream_that_is_cut_again_and_again_shows_the_answer_once(shared: Mufakat) -> None:
    whole = joined(on_a_terminal(shared, "ask", "hello", "-a", "scripted", "-m", "slow:1")[0])
    with cutting_proxy.before(shared.home, 900) as proxy:
        words = ("ask", "hello", "-a", "scripted", "-m", "slow:3")
        pieces, err, code = on_a_terminal(shared, *words)
    assert code == 0, err
    assert proxy.cuts > 3
    assert joined(pieces) == whole
    assert "the stream had gaps" not in err


def test_row_50_an_answer_cannot_act_on_a_terminal(shared: Mufakat) -> None:
    risky = "\x1b]52;c;cm0=\x07 \x1b[31mred \u202egnp over\rwritten \x9b1m"
    pieces, err, code = on_a_terminal(shared, "ask", risky, "-a", "scripted", "-m", "slow:1")
    assert code == 0, err
    shown = joined(pieces)
    for sign in ("\x1b", "\x9b", "\u202e", "\r", "\x07"):
        assert sign not in shown + err
    assert "red" in shown


def test_a_killed_server_ends_the_wait_and_loses_nothing(own: Mufakat) -> None:
    own.run("up", "--detach")
    asking = own.spawn("ask", "hello", "-a", "scripted", "-m", "slow:60")
    _new_running_turn(own, set())
    own.kill(signal.SIGKILL)
    _, err = asking.communicate(timeout=60)
    assert asking.returncode == 3, err
    rows = own.run("turns").json["items"]
    assert [row["status"] for row in rows] == ["interrupted"]
    again = own.run("turns", "retry", rows[0]["id"], "--no-wait")
    assert again.code == 0
    own.run("turns", "cancel", again.json["turn"])
