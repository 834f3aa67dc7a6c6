"""Merging: agreed, open and dissent from the seats' blocks, in whatever order they are read."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.deliberation import merging
from mufakat.core.deliberation.merging import Merged, Outcome, Stated
from mufakat.core.deliberation.position import Claim, Position, Vote

SEATS = {"A": "x", "B": "y", "C": "z"}


def said(
    seat: str,
    round: int = 1,
    *,
    claims: str = "",
    agree: str = "",
    open: str = "",
    dissent: str = "",
    why: str = "",
) -> Stated:
    return Stated(
        seat,
        round,
        Position(
            "for",
            tuple(Claim(id, f"text of {id}") for id in claims.split()),
            tuple(agree.split()),
            tuple(Vote(id, why) for id in open.split()),
            tuple(Vote(id, why) for id in dissent.split()),
        ),
    )


def outcomes(merged: Merged) -> Mapping[str, Outcome]:
    return {point.id: point.outcome for point in merged.points}


def test_agreed_takes_all_who_spoke() -> None:
    words = [said("A", claims="A1"), said("B", 1), said("C", 1)]
    assert outcomes(merging.merge(SEATS, words)) == {"A1": Outcome.OPEN}
    words += [said("B", 2, agree="A1")]
    assert outcomes(merging.merge(SEATS, words)) == {"A1": Outcome.OPEN}
    words += [said("C", 2, agree="A1")]
    assert outcomes(merging.merge(SEATS, words)) == {"A1": Outcome.AGREED}


def test_one_dissent_is_dissent_and_one_open_is_open() -> None:
    words = [said("A", claims="A1 A2"), said("B", 2, agree="A1 A2"), said("C", 2, open="A1")]
    merged = merging.merge(SEATS, words)
    assert outcomes(merged) == {"A1": Outcome.OPEN, "A2": Outcome.OPEN}
    merged = merging.merge(SEATS, [*words, said("C", 3, dissent="A2", agree="A1")])
    assert outcomes(merged) == {"A1": Outcome.AGREED, "A2": Outcome.DISSENT}


def test_unstated_seats_are_named_and_a_minority_agrees_on_nothing() -> None:
    words = [said("A", claims="A1"), Stated("B", 1, None), Stated("C", 1, None)]
    merged = merging.merge(SEATS, words)
    assert merged.unstated == ("B", "C")
    assert outcomes(merged) == {"A1": Outcome.OPEN}


def test_agreement_needs_two_vendors_where_there_are_two() -> None:
    words = [said("A", claims="A1"), said("B", 2, agree="A1")]
    assert outcomes(merging.merge({"A": "x", "B": "y"}, words))["A1"] is Outcome.AGREED
    assert outcomes(merging.merge({"A": "x", "B": "x"}, words))["A1"] is Outcome.AGREED
    mixed = {"A": "x", "B": "x", "C": "y"}
    assert outcomes(merging.merge(mixed, words))["A1"] is Outcome.OPEN


def test_what_is_agreed_is_reopened_with_a_reason_only() -> None:
    words = [said("A", claims="A1"), said("B", 2, agree="A1"), said("C", 2, agree="A1")]
    silent = merging.merge(SEATS, [*words, said("C", 3, dissent="A1")])
    assert outcomes(silent) == {"A1": Outcome.AGREED}
    assert [one.seat for one in silent.refused] == ["C"]
    assert not silent.reopened
    loud = merging.merge(SEATS, [*words, said("C", 3, dissent="A1", why="it broke")])
    assert outcomes(loud) == {"A1": Outcome.DISSENT}
    assert [(one.id, one.seat, one.round, one.why) for one in loud.reopened] == [
        ("A1", "C", 3, "it broke")
    ]


def test_twin_without_the_rule_a_word_reopens_silently(monkeypatch) -> None:
    monkeypatch.setattr(merging, "_reopens", lambda *_: True)
    words = [said("A", claims="A1"), said("B", 2, agree="A1"), said("C", 2, agree="A1")]
    silent = merging.merge(SEATS, [*words, said("C", 3, dissent="A1")])
    assert outcomes(silent) == {"A1": Outcome.DISSENT}


def test_an_earlier_decision_stands_until_somebody_gives_a_reason() -> None:
    before = {"d:1": "No ORM."}
    kept = merging.merge(SEATS, [said("A", dissent="d:1"), said("B")], decisions=before)
    assert not kept.points
    assert [one.id for one in kept.refused] == ["d:1"]
    opened = merging.merge(SEATS, [said("A", open="d:1", why="SQL grew")], decisions=before)
    assert outcomes(opened) == {"d:1": Outcome.OPEN}


def test_a_claim_that_its_own_seat_takes_back_is_gone() -> None:
    words = [said("A", claims="A1"), said("A", 2, dissent="A1", why="wrong")]
    merged = merging.merge(SEATS, words)
    assert (merged.points, merged.withdrawn) == ((), ("A1",))
    kept = merging.merge(SEATS, [*words, said("B", 2, agree="A1")])
    assert outcomes(kept) == {"A1": Outcome.DISSENT}


def test_a_round_without_a_new_claim_is_the_last() -> None:
    words = [said("A", claims="A1"), said("B", claims="B1")]
    assert not merging.exhausted(merging.merge(SEATS, words), 1)
    assert merging.exhausted(merging.merge(SEATS, [*words, said("A", 2, agree="B1")]), 2)
    assert not merging.exhausted(merging.merge(SEATS, [*words, said("A", 2, claims="A2")]), 2)


IDS = [f"{seat}{n}" for seat in "ABC" for n in (1, 2)]


@st.composite
def tables(draw: st.DrawFn) -> list[Stated]:
    words = []
    for round in range(1, draw(st.integers(1, 4)) + 1):
        for seat in draw(st.lists(st.sampled_from("ABC"), unique=True)):
            claims = draw(st.lists(st.sampled_from([f"{seat}1", f"{seat}2"]), unique=True))
            votes = draw(
                st.dictionaries(
                    st.sampled_from(IDS), st.tuples(st.sampled_from("aod"), st.booleans())
                )
            )
            words.append(
                Stated(
                    seat,
                    round,
                    Position(
                        "x",
                        tuple(Claim(id, f"text of {id}") for id in claims),
                        tuple(id for id, (way, _) in votes.items() if way == "a"),
                        tuple(Vote(i, "y" * b) for i, (w, b) in votes.items() if w == "o"),
                        tuple(Vote(i, "y" * b) for i, (w, b) in votes.items() if w == "d"),
                    )
                    if draw(st.booleans())
                    else None,
                )
            )
    return words


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_in_which_words_are_read_changes_nothing(words: list[Stated], random) -> None:
    shuffled = list(words)
    random.shuffle(shuffled)
    assert merging.merge(SEATS, shuffled) == merging.merge(SEATS, words)


@given(tables())
def test_every_claim_is_accounted_for_once(words: list[Stated]) -> None:
    merged = merging.merge(SEATS, words)
    made = set(merging.known(words))
    assert {point.id for point in merged.points} | set(merged.withdrawn) == made
    for point in merged.points:
        voices = [*point.agree, *(one.seat for one in point.against), *point.silent]
        assert sorted(voices) == ["A", "B", "C"]
        if point.outcome is Outcome.AGREED:
            assert len(point.agree) > 1 and not point.against


@given(tables())
def test_what_was_agreed_changes_by_a_recorded_reason_only(words: list[Stated]) -> None:
    for last in range(1, max((one.round for one in words), default=0)):
        before = merging.merge(SEATS, [one for one in words if one.round <= last])
        after = merging.merge(SEATS, [one for one in words if one.round <= last + 1])
        spoken = {one.seat for one in words if one.round <= last and one.position}
        newcomers = {one.seat for one in words if one.position} - spoken
        moved = {p.id for p in before.of(Outcome.AGREED)} - {p.id for p in after.of(Outcome.AGREED)}
        # A seat that speaks for the first time has not agreed yet, which is no reopening.
        if not newcomers:
            assert moved <= {one.id for one in after.reopened}
