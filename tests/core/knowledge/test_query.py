"""A question to what was said: nothing in it is a language, names and dates are fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.knowledge import query
from mufakat.core.knowledge.dates import Date
from mufakat.core.knowledge.marks import Mark

SPEAKERS = ("claude@mac:8f3a2c", "Caroline", "human@web:000000")


@given(st.text(max_size=300))
def test_every_text_is_a_question(text: str) -> None:
    found = query.parse(text, SPEAKERS)
    assert len(found.terms) <= query.MOST_TERMS
    assert len(found.grams) <= query.MOST_GRAMS
    assert len(set(found.terms)) == len(found.terms)


@pytest.mark.parametrize(
    "text",
    ['port AND "lease" OR NOT -x', "port/lease @x #x", "port* lease:x (x)", "port -lease ' x"],
)
def test_operators_are_nothing_but_text(text: str) -> None:
    assert query.parse(text).terms[:2] == ("port", "leas")


def test_names_of_speakers_are_a_field() -> None:
    found = query.parse("What did Caroline tell Claude about Claude's lease?", SPEAKERS)
    assert found.terms == ("tell", "leas")
    assert found.speakers == {"Caroline", "claude@mac:8f3a2c"}


def test_a_name_alone_is_looked_for() -> None:
    assert query.parse("Caroline?", SPEAKERS).terms == ("carolin",)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("on 7 May 2023", Date(2023, 5, 7)),
        ("on May 7, 2023", Date(2023, 5, 7)),
        ("on the 7th of May", Date(0, 5, 7)),
        ("2023-05-07", Date(2023, 5, 7)),
        ("2023-05", Date(2023, 5)),
        ("in August", Date(0, 8)),
        ("in May", Date(0, 5)),
        ("in 2022", Date(2022)),
    ],
)
def test_dates_are_recognised(text: str, date: Date) -> None:
    assert query.parse(f"What was decided {text}?").dates == (date,)


@pytest.mark.parametrize("text", ["It may fail", "march on", "port 8123", "in 1", "sun and sat"])
def test_what_is_no_date(text: str) -> None:
    assert query.parse(text).dates == ()


def test_a_date_that_there_is_not_is_near_nothing() -> None:
    (date,) = query.parse("on 31 February 2023").dates
    assert date.days_from(0) is None
    assert not date.fits(0)


def test_what_an_answer_must_have() -> None:
    assert query.parse("When was it?").wanted is Mark.TIME
    assert query.parse("How many ports?").wanted is Mark.NUMBER
    assert query.parse("Which port?").wanted is Mark.NAME


def test_ten_megabytes_are_read_in_part() -> None:
    found = query.parse("port " * 2_000_000)
    assert (found.terms, found.cut) == (("port",), True)
