"""`mufakat recall`: what was said, with who said it and when."""

from __future__ import annotations

import json

from equipment import command


def test_it_finds_what_was_said(shared: command.Mufakat) -> None:
    asked = shared.run("ask", "Where does the walrus sleep?")
    assert asked.code == 0, asked.err
    found = shared.run("recall", "walrus", "--path", str(shared.project), "--no-json")
    assert found.code == 0, found.err
    assert "Where does the walrus sleep?" in found.out
    told = shared.run("recall", "walrus", "--path", str(shared.project), "--limit", "1", "--json")
    assert "walrus" in json.loads(told.out)["items"][0]["text"]


def test_nothing_found_says_why(shared: command.Mufakat) -> None:
    found = shared.run("recall", "zanzibar", "--path", str(shared.project), "--no-json")
    assert found.code == 0
    assert found.out == ""
    assert "nothing" in found.err
