"""Rules for every test: one event loop, reproducible cases, and no silent skip in CI."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator
from typing import Any

import hypothesis
import pytest

IN_CI = os.environ.get("CI") == "true"

hypothesis.settings.register_profile(
    "mufakat",
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("mufakat")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The product runs on asyncio alone."""
    return "asyncio"


def refuse_skip(report: Any, *, in_ci: bool) -> None:
    """Turn a skip into a failure in CI, where every lane has what it needs."""
    if in_ci and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI=true allows no skip: {why_skipped(report)}"


def why_skipped(report: Any) -> str:
    """The reason that a skipped report gives."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) and len(where) == 3 else str(where or "")
    return str(text).removeprefix("Skipped: ")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    refuse_skip(report, in_ci=IN_CI)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report, in_ci=IN_CI)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count what was skipped, by reason, so that a lane that did not run is seen."""
    reasons = Counter(why_skipped(report) for report in terminalreporter.stats.get("skipped", []))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"not run: {count} tests - {reason}")
    terminalreporter.write_line(f"not run: {sum(reasons.values())} tests in all")
