"""Branches as a person has them on the command line."""

from __future__ import annotations

import pytest

from equipment.command import Mufakat


@pytest.fixture(scope="module")
def conversation(shared: Mufakat) -> str:
    asked = shared.run("ask", "The cache is called WALNUT.", "-a", "scripted")
    assert asked.code == 0, asked.err
    return str(asked.json["conversation"])


def test_the_worked_example(shared: Mufakat, conversation: str) -> None:
    made = shared.run("branch", "new", conversation, "--at", "m:2", "--title", "A queue")
    assert made.code == 0, made.err
    id = made.json["id"]
    asked = shared.run("ask", "We decided to use a queue.", "-a", "scripted", "-c", id)
    assert asked.code == 0 and asked.json["conversation"] == id, asked.err
    pack = shared.run("pack", "show", "last", "--text")
    assert f"A branch from {conversation}/m:2" in pack.out and "WALNUT" in pack.out
    inner = shared.run("branch", "new", id, "--title", "Inner \x1b[31m").json["id"]
    listed = shared.run("branch", "list", "--no-json")
    rows = listed.out.splitlines()
    assert "└ A queue" in rows[1] and "  └ Inner" in rows[2] and "\x1b" not in listed.out
    talks = shared.run("conversations", "--no-json").out.splitlines()
    places = [next(n for n, row in enumerate(talks) if x in row) for x in (conversation, id, inner)]
    assert places == sorted(places) and "(open branch, m:2)" in talks[places[1]]
    renamed = shared.run("branch", "rename", inner, "Second", "--no-json")
    assert "“Second”" in renamed.out
    assert shared.run("branch", "archive", inner, "--no-json").code == 0
    assert inner not in shared.run("branch", "list", "--no-json").out
    assert inner in shared.run("branch", "list", conversation, "--all", "--no-json").out
    assert shared.run("branch", "delete", inner, "--no-json").code == 0
    adopted = shared.run("branch", "adopt", id, "--no-json")
    assert f"it stands in {conversation} as m:3" in adopted.out
    read = shared.run("conversations", "show", conversation, "--no-json").out
    assert "Adopted from the branch “A queue”" in read and "We decided to use a queue." in read
    closed = shared.run("ask", "More.", "-a", "scripted", "-c", id)
    assert closed.code == 4 and "The branch is adopted." in closed.err


def test_ones_own_words_come_from_stdin_too(shared: Mufakat, conversation: str) -> None:
    id = shared.run("branch", "new", conversation).json["id"]
    done = shared.run("branch", "adopt", id, "--text", "-", data=b"It works.\n")
    assert done.json["status"] == "adopted", done.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("branch", "new", "c_none"), 5),
        (("branch", "new", "last", "--at", "m:99"), 5),
        (("branch", "new", "last", "--at", "../x"), 2),
        (("branch", "adopt", "c_none"), 5),
        (("branch", "archive", "../up"), 2),
        (("branch", "rename", "c_none", "x"), 5),
        (("branch", "list", "c_none"), 5),
    ],
)
def test_what_cannot_be_had_is_named(
    shared: Mufakat, conversation: str, words: tuple[str, ...], code: int
) -> None:
    assert shared.run(*words).code == code
