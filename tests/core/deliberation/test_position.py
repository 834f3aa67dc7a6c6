"""The block: what is taken, what is not, and the line that is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.deliberation import position
from mufakat.core.deliberation.position import Claim, Known, Position, Problem, Vote

KNOWN = Known("B", {"A1": "One store is enough.", "B1": "Measure it.", "d:3": "No ORM."})
SETTLED = Known("B", KNOWN.claims, frozenset({"A1", "d:3"}))


def block(**fields: Any) -> str:
    return f"Words.\n```position\n{json.dumps({'stance': 'for', **fields}, indent=1)}\n```\n"


def read(answer: str, known: Known = KNOWN) -> Position:
    found = position.parse(answer, known)
    assert isinstance(found, Position), found
    return found


def refused(answer: str, known: Known = KNOWN) -> Problem:
    found = position.parse(answer, known)
    assert isinstance(found, Problem), found
    return found


def test_a_whole_block_is_read() -> None:
    found = read(
        block(
            claims=[{"id": "B2", "text": "Backups  are\nmissing."}],
            agree=["A1"],
            open=[{"id": "B1", "why": "no figures"}],
            dissent=["d:3"],
        )
    )
    assert found == Position(
        "for",
        (Claim("B2", "Backups are missing."),),
        ("A1",),
        (Vote("B1", "no figures"),),
        (Vote("d:3"),),
    )


def test_the_prompt_s_own_example_is_read() -> None:
    known = Known("A", {"B1": "x", "C2": "y"})
    assert read(position.prompt("A"), known).claims[0].id == "A1"


def test_every_field_is_in_the_prompt_and_in_the_schema() -> None:
    schema = position.schema()
    for field in position.FIELDS:
        assert f"`{field.name}`: {field.about}" in position.prompt("A")
        assert schema["properties"][field.name]["description"] == field.about


def test_the_last_block_counts_and_a_json_block_is_taken_for_one() -> None:
    assert read(block(agree=["A1"]) + block(agree=["B1"])).agree == ("B1",)
    assert read('```json\n{"stance": "for"}\n```').stance == "for"
    assert refused('```json\n{"other": 1}\n```').why.startswith("the answer does not end with")


def test_ids_are_given_out_and_a_claim_said_again_is_agreement() -> None:
    found = read(block(claims=[{"text": "New."}, "Newer.", {"text": "one STORE is enough"}]))
    assert [one.id for one in found.claims] == ["B2", "B3"]
    assert found.agree == ("A1",)


@pytest.mark.parametrize(
    ("answer", "line", "why"),
    [
        ("No block.\nAt all.", 2, "does not end with a ```position block"),
        ("x\n```position\n{\n 'a': 1}\n```", 4, "no JSON"),
        ("```position\n[]\n```", 2, "no JSON object"),
        ("```position\n{}\n```", 2, "`stance` is missing"),
        (block(agree=["A9"]), 6, "'A9', which is no claim"),
        (block(agree=["rm -rf"]), 6, "which is no claim"),
        (block(claims=[{"id": "A2", "text": "x"}]), 7, "no id of yours"),
        (block(claims=[{"id": "B1", "text": "Other words."}]), 7, "another claim already"),
        (block(agree=["A1"], dissent=["A1"]), 6, "A1 is in two lists"),
        (block(agree="A1"), 5, "`agree` is no list"),
        (block(votes=[]), 5, "there is no field 'votes'"),
        (block(claims=[{"text": " "}]), 5, "has no `text`"),
        (block(claims=[{"text": str(n)} for n in range(9)]), 5, "at most 8"),
        ("```position\n" + "[" * 10_000 + "\n```", 2, "too large"),
        ('```position\n{"stance": 1e999}\n```', 2, "`stance` is missing"),
    ],
)
def test_a_problem_names_its_line(answer: str, line: int, why: str) -> None:
    found = refused(answer)
    assert why in found.why
    assert found.line == line


def test_what_is_settled_is_reopened_with_a_reason_only() -> None:
    assert "reopened with a `why` only" in refused(block(dissent=["A1"]), SETTLED).why
    assert "reopened with a `why` only" in refused(block(open=["d:3"]), SETTLED).why
    assert read(block(dissent=[{"id": "A1", "why": "it broke"}]), SETTLED).dissent
    assert read(block(agree=["A1"]), SETTLED).agree == ("A1",)


def test_words_without_the_block() -> None:
    assert position.without_block(block()) == "Words."
    assert position.without_block("Only words.") == "Only words."


def test_it_can_be_written_and_read_back() -> None:
    found = read(block(claims=["x"], open=["A1"], dissent=[{"id": "B1", "why": "y"}]))
    assert position.from_json(json.loads(json.dumps(position.to_json(found)))) == found


@given(
    st.text(max_size=400),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["stance", "claims", "agree", "id", "why", "text"]), inner
            )
        ),
        max_leaves=12,
    ),
)
def test_whatever_comes_is_a_position_or_a_problem(words: str, data: Any) -> None:
    for answer in (words, f"{words}\n```position\n{words}\n```", block(claims=data, agree=data)):
        found = position.parse(answer, KNOWN)
        if isinstance(found, Problem):
            assert 1 <= found.line <= answer.count("\n") + 1
        else:
            assert all(one.id.startswith("B") for one in found.claims)
            assert {*found.agree} <= {*KNOWN.claims, *(one.id for one in found.claims)}
