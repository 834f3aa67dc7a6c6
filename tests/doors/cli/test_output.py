"""What the command line prints of texts that are long or wide."""

from __future__ import annotations

import pytest

from mufakat.cli import output


@pytest.mark.parametrize(
    ("text", "columns", "fitted"),
    [
        ("plain", 5, "plain"),
        ("plainer", 5, "plai…"),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 6, "漢字…"),
        ("漢字漢字", 1, "…"),
        ("plain", 0, ""),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_text_is_cut_to_the_columns(text: str, columns: int, fitted: str) -> None:
    assert output.fit(text, columns) == fitted


@pytest.mark.timeout(30)
def test_a_very_long_wide_text_is_cut_in_one_pass() -> None:
    assert output.fit("漢" * 1_000_000, 100_000) == "漢" * 49_999 + "…"
