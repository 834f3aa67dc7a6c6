"""Markdown tables, and the places in docs/benchmarks.md that hold them."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

END = "<!-- to here -->"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table; every column but the first is aligned to the right."""
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (columns, rule, *lines))


def machine() -> str:
    """Where and when this was measured."""
    model = _processor() or platform.processor() or platform.machine()
    return (
        f"Measured on {date.today()}: {model}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}; load average at the end {os.getloadavg()[0]:.1f}."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    text = info.read_text("utf-8", "replace") if info.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def write(name: str, body: str) -> None:
    """Put `body` between the marks of `name` in the page; raises ValueError without them."""
    begin = f"<!-- scripts/bench writes from here: {name} -->\n"
    head, found, rest = PAGE.read_text("utf-8").partition(begin)
    _, closed, tail = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"the marks of {name!r} are missing in {PAGE}")
    PAGE.write_text(f"{head}{begin}{body}\n{END}{tail}", "utf-8")
