"""The page about the long lane counts what pytest counted, and names no machine."""

from __future__ import annotations

import platform
from datetime import UTC, datetime

from docs import slow_report

RESULTS = """<testsuites><testsuite>
<testcase classname="tests.a.test_b" name="one" time="1.25"/>
<testcase classname="tests.a.test_b" name="two" time="0.25"><failure>x</failure></testcase>
<testcase classname="tests.a.test_b" name="three" time="0"><error>x</error></testcase>
<testcase classname="tests.a.test_c" name="four" time="2"><skipped>x</skipped></testcase>
</testsuite></testsuites>"""


def made(*asked: str) -> str:
    facts = slow_report.machine()
    date = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    return slow_report.page(RESULTS, asked, date=date, commit="abc", facts=facts)


def test_every_outcome_is_counted_by_file() -> None:
    lines = made().split("\n")
    assert "| tests/a/test_b.py | 1 | 2 | 0 | 1.5 |" in lines
    assert "| tests/a/test_c.py | 0 | 0 | 1 | 2.0 |" in lines
    assert "| all | 1 | 2 | 1 | 3.5 |" in lines


def test_it_says_what_was_run_and_names_no_machine() -> None:
    assert "All of the lane was run." in made()
    assert "Only a part was run: `tests/a`." in made("tests/a")
    assert platform.node() not in made()
