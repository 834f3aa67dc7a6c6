"""Within a grant, items are told as fully as possible, and nothing is over."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mufakat.core.pack import resolution
from mufakat.core.pack.item import Item, Resolution, Trust


def item(number: int, chars: int, worth: float = 1.0) -> Item:
    full = f"item {number}: " + "word " * (chars // 5)
    return Item(
        f"i:{number}",
        "test",
        Trust.PROJECT,
        resolution.forms(full, reference=f"i:{number}"),
        worth=worth,
    )


def test_everything_is_told_whole_when_it_fits() -> None:
    chosen = resolution.choose([item(1, 500), item(2, 800)], 5_000)
    assert [piece.told.resolution for piece in chosen.pieces] == [Resolution.FULL] * 2
    assert chosen.why == "all of it fits"


def test_items_are_shortened_before_any_is_dropped() -> None:
    chosen = resolution.choose([item(n, 2_000) for n in range(10)], 3_000)
    assert len(chosen.pieces) == 10
    assert chosen.dropped == 0
    assert "shortened to fit" in chosen.why
    assert all(piece.told.key for piece in chosen.pieces if piece.told.full_chars)


def test_what_is_worth_more_is_told_more_fully() -> None:
    chosen = resolution.choose([item(1, 3_000, worth=0.2), item(2, 3_000, worth=5.0)], 3_300)
    first, second = (piece.told for piece in chosen.pieces)
    assert second.chars > first.chars


def test_not_even_references_fit() -> None:
    chosen = resolution.choose([item(n, 400) for n in range(100)], 40)
    assert chosen.dropped == 100 - len(chosen.pieces) > 0
    assert f"{chosen.dropped} of 100 items did not fit" == chosen.why


@settings(max_examples=500)
@given(
    st.lists(st.tuples(st.integers(0, 4_000), st.floats(0.1, 5)), max_size=25),
    st.integers(0, 30_000),
)
def test_never_over_and_never_less_with_more(sizes: list[tuple[int, float]], grant: int) -> None:
    items = [item(n, chars, worth) for n, (chars, worth) in enumerate(sizes)]
    chosen = resolution.choose(items, grant)
    assert chosen.chars <= grant
    assert len(chosen.pieces) + chosen.dropped == len(items)
    if grant >= sum(len(one.forms[0][1]) + 1 for one in items):
        assert all(piece.told.resolution is Resolution.FULL for piece in chosen.pieces)


@settings(max_examples=300)
@given(st.text(max_size=5_000))
def test_every_form_is_shorter_than_the_one_before(full: str) -> None:
    forms = resolution.forms(full, reference="r")
    assert forms[0] == (Resolution.FULL, full)
    sizes = [len(form) for _, form in forms]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
