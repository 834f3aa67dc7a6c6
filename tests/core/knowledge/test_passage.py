"""Telling turns: within the characters, neighbours together, the best first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.knowledge import passage
from mufakat.core.knowledge.passage import Line
from mufakat.core.talk.message import Kind, Message


def line(turn: int, text: str, *, kind: Kind = Kind.PERSON, limit: int = 4_000) -> Line:
    said = Message(
        *(MessageId(f"m_{turn}"), ConversationId("c_1"), turn, Millis(0), kind, "ada@h:1"),
        *(text, len(text), 1),
        label="Bash: ls",
    )
    return passage.line(turn, said, text, title="A title", limit=limit)


@given(
    st.lists(st.integers(0, 30), unique=True, max_size=20),
    st.integers(1, 12),
    st.integers(1, 3_000),
    st.integers(1, 900),
)
def test_it_never_takes_more_characters_than_it_may(
    order: list[int], limit: int, chars: int, size: int
) -> None:
    lines = {
        turn: line(turn, f"{turn} " + "x" * (size * (turn % 3 + 1) // 2)) for turn in range(31)
    }
    chosen = passage.fill(order, lines, limit=limit, chars=chars)
    found = passage.found(chosen, lines, worth={}, why={})
    assert sum(len(one.head) + len(one.text) + 2 for one in found) <= chars or not found
    assert len(set(chosen)) == len(chosen)
    assert len([turn for turn in chosen if turn in order]) >= min(limit, 1 if found else 0)


def test_neighbours_come_together_and_the_best_comes_first() -> None:
    lines = {turn: line(turn, f"text {turn}") for turn in range(1, 12)}
    chosen = passage.fill([9, 3, 4], lines, limit=3, chars=4_000)
    found = passage.found(chosen, lines, worth={9: 1.0, 3: 0.5}, why={9: "text"})
    assert [one.id for one in found] == ["m:m_9", "m:m_3"]
    assert found[0].text == "ada: text 8\nada: text 9\nada: text 10"
    assert (found[0].worth, found[0].why, found[0].author) == (1.0, "text", "ada@h:1")
    assert "m:8–m:10" in found[0].head
    assert "ada 1970-01-01 00:00" in found[0].head


def test_what_does_not_fit_is_passed_over_for_what_does() -> None:
    lines = {1: line(1, "x" * 3_000), 20: line(20, "short")}
    assert passage.fill([1, 20], lines, limit=2, chars=500) == [20]


def test_a_long_turn_is_told_by_its_ends() -> None:
    told = line(1, "begin " + "x" * 9_000 + " end", limit=500).text
    assert len(told) < 600
    assert told.startswith("ada: begin")
    assert told.endswith("end")
    assert "9,010 characters in all" in told


def test_of_a_tool_only_its_line_is_told() -> None:
    assert line(1, "secret output", kind=Kind.TOOL_RESULT).text == "ada: Bash: ls"
