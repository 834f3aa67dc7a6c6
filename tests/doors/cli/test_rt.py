"""`mufakat rt`: a table from the command line, and what it answers to wrong ones."""

from __future__ import annotations

import pytest

from equipment.command import Mufakat

SEATS = ("-a", "scripted", "-a", "scripted=against", "-a", "scripted:answer")


@pytest.fixture(scope="module")
def table(shared: Mufakat) -> str:
    """A table that is done."""
    ran = shared.run("rt", "SQLite or PostgreSQL?", *SEATS, "--rounds", "2", "--no-json")
    assert ran.code == 0, ran.err
    for words in ("round 1/2", "round 2/2", "1 agreed, 0 open, 2 dissent", "done"):
        assert words in ran.err
    for words in ("agreed\n", "dissent\n", "I was given the other side", "CHARACTERS", "note: all"):
        assert words in ran.out
    return ran.out.split()[0]


def test_a_preflight_says_what_it_would_take(shared: Mufakat) -> None:
    shown = shared.run("rt", "Which?", *SEATS, "--preflight", "--no-json")
    assert shown.code == 0, shown.err
    assert "whole packs for everybody" in shown.out
    data = shared.run("rt", "Which?", *SEATS, "--preflight").json
    assert len(data["rows"]) == 6 and data["chars"] < data["naive"]


def test_tables_are_listed_shown_and_continued(shared: Mufakat, table: str) -> None:
    assert table in shared.run("rt", "list", "--no-json").out
    shown = shared.run("rt", "show", table, "--no-json")
    assert shown.out.startswith(f"{table}  done in round 2 of 2")
    said = shared.run("rt", "say", table, "And the backups?")
    assert said.code == 0, said.err
    more = shared.run("rt", "more", table, "--rounds", "1")
    assert more.code == 0, more.err
    assert (more.json["status"], more.json["round"]) == ("done", 3)


def test_options_may_stand_before_the_question(shared: Mufakat) -> None:
    ran = shared.run("rt", *SEATS, "--no-wait", "Which?")
    assert ran.code == 0, ran.err
    stopped = shared.run("rt", "stop", ran.json["id"])
    assert stopped.code in {0, 4}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("rt", "Which?"), 2),
        (("rt", "Which?", "-a", "scripted"), 2),
        (("rt", "Which?", "-a", "scripted", "-a", "no engine"), 2),
        (("rt", "Which?", "-a", "scripted", "-a", "nobody"), 5),
        (("rt", "Which?", "-a", "scripted", "-a", "opencode"), 1),
        (("rt", "Which?", *SEATS, "--rounds", "0"), 2),
        (("rt", "Which?", *SEATS, "--max-chars", "0"), 2),
        (("rt", "Which?", *SEATS, "--max-chars", "100"), 2),
        (("rt", "Which?", *SEATS, "--role", "nobody"), 5),
        (("rt", "show", "r_none"), 5),
        (("rt", "show", "../up"), 2),
        (("rt", "pause", "last"), 4),
    ],
)
def test_what_cannot_be_is_named(
    shared: Mufakat, table: str, words: tuple[str, ...], code: int
) -> None:
    refused = shared.run(*words)
    assert refused.code == code, refused.err
    assert '"fix"' in refused.err
