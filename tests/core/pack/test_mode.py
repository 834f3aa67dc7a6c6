"""The mode is chosen by the first rule that matches, and its name is the reason."""

from __future__ import annotations

import itertools

import pytest

from mufakat.core.pack import mode
from mufakat.core.pack.mode import Choice, Mode


@pytest.mark.parametrize(
    ("facts", "chosen"),
    [
        ({"talk": 0}, Choice(Mode.LITE, "default")),
        ({"talk": 11}, Choice(Mode.LITE, "default")),
        ({"talk": 12}, Choice(Mode.STANDARD, "long-conversation")),
        ({"talk": 0, "has_plan": True}, Choice(Mode.STANDARD, "has-plan")),
        ({"talk": 0, "roundtable": True}, Choice(Mode.STANDARD, "roundtable")),
        ({"talk": 0, "attachments": True}, Choice(Mode.FULL, "explicit-attachments")),
        ({"talk": 99, "attachments": True}, Choice(Mode.FULL, "explicit-attachments")),
        ({"talk": 99, "has_plan": True}, Choice(Mode.STANDARD, "long-conversation")),
        ({"talk": 0, "has_plan": True, "roundtable": True}, Choice(Mode.STANDARD, "has-plan")),
    ],
)
def test_the_first_rule_wins(facts: dict[str, int], chosen: Choice) -> None:
    assert mode.choose(None, **facts) == chosen


def test_the_person_always_wins() -> None:
    for override, talk, plan, attached, round_ in itertools.product(
        Mode, (0, 50), (False, True), (False, True), (False, True)
    ):
        assert mode.choose(
            override, talk=talk, has_plan=plan, attachments=attached, roundtable=round_
        ) == Choice(override, "user-override")


def test_modes_are_ordered_and_read_back() -> None:
    assert Mode.LITE < Mode.STANDARD < Mode.FULL
    assert [mode.parse(each.label) for each in Mode] == list(Mode)
    assert mode.parse("FULL") is Mode.FULL
    assert mode.parse("huge") is None
