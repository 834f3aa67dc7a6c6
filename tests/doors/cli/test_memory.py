"""The compressed memory as a person has it on the command line."""

from __future__ import annotations

import pytest

from equipment.command import Mufakat
from mufakat.sdk.client import Client


@pytest.fixture(scope="module")
def conversation(shared: Mufakat) -> str:
    """A conversation long enough to be condensed."""
    shared.run("up")
    client = shared.client
    project = {"project": str(shared.project.resolve()), "title": "Memory"}
    id: str = client.post("/conversations", project)["id"]
    say(client, id, "The staging port is 8123.\x1b[31m \u202e")
    for n in range(13):
        say(client, id, f"File m_{n}.py holds {n} tests.")
    return id


def say(client: Client, id: str, text: str) -> None:
    client.post(f"/conversations/{id}/messages", {"text": text})


def test_memory_is_made_shown_searched_and_taken_back(shared: Mufakat, conversation: str) -> None:
    made = shared.run("memory", "refresh", conversation, "--no-json")
    assert made.code == 0, made.err
    shown = shared.run("memory", "show", conversation, "--no-json")
    assert "staging port is 8123" in shown.out and "m:1" in shown.out
    assert "\x1b" not in shown.out and "\u202e" not in shown.out
    found = shared.run("memory", "show", conversation, "--search", "staging").json["items"]
    (line,) = found
    gone = shared.run("memory", "revoke", conversation, f"memory:{line['id']}", "--no-json")
    assert line["id"] in gone.out
    assert shared.run("memory", "show", conversation, "--search", "staging").json["items"] == []
    again = shared.run("memory", "refresh", conversation, "--no-json")
    assert "more messages" in again.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("memory", "show", "c_none"), 5),
        (("memory", "revoke", "last", "x"), 2),
        (("memory", "revoke", "last", "999"), 5),
        (("memory", "show", "../up"), 2),
    ],
)
def test_what_cannot_be_had_is_named(
    shared: Mufakat, conversation: str, words: tuple[str, ...], code: int
) -> None:
    assert shared.run(*words).code == code
