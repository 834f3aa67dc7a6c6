"""The page of benchmarks has a place for what each measurement prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "benchmarks.md").read_text("utf-8")
NAMES = re.findall(
    r"^(\w+)\) ", (REPOSITORY / "scripts" / "bench").read_text("utf-8"), re.MULTILINE
)


def test_the_measurements_are_those_of_the_script() -> None:
    assert [
        *(
            "pack",
            "turn",
            "pull",
            "coordination",
            "compression",
            "memory",
            "documents",
            "code",
            "graph",
            "secrets",
        )
    ] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_measurement_has_its_place_with_a_table(name: str) -> None:
    begin = f"<!-- scripts/bench writes from here: {name} -->\n"
    assert PAGE.count(begin) == 1
    printed = PAGE.partition(begin)[2].partition("<!-- to here -->")[0]
    assert "| ---" in printed
    assert "Measured on" in printed
