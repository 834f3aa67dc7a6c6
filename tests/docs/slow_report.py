"""Writes the page about a run of the long lane from pytest's own result file."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

REPOSITORY = Path(__file__).resolve().parents[2]
GIB = 1024**3


@dataclass
class Row:
    """What the tests of one file came to; `seconds` of all of them together."""

    file: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def rows(results: str) -> list[Row]:
    """One row a file, in order, from a JUnit document."""
    found: dict[str, Row] = {}
    for case in ElementTree.fromstring(results).iter("testcase"):
        file = case.get("classname", "").replace(".", "/") + ".py"
        row = found.setdefault(file, Row(file))
        row.seconds += float(case.get("time", "0"))
        bad = case.find("failure") is not None or case.find("error") is not None
        if bad:
            row.failed += 1
        elif case.find("skipped") is not None:
            row.skipped += 1
        else:
            row.passed += 1
    return [found[file] for file in sorted(found)]


def machine() -> list[str]:
    """What of this machine matters for the figures, and nothing that names it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return [
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB of memory",
        f"{platform.system()} {platform.release().split('-')[0]}",
        f"{platform.python_implementation()} {platform.python_version()}",
    ]


def commit() -> str:
    """The commit that was tested, and whether there were changes on top."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    changed = " with changes that are not committed" if git("status", "--porcelain") else ""
    return git("rev-parse", "--short=12", "HEAD") + changed


def page(
    results: str, asked: Sequence[str], *, date: datetime, commit: str, facts: Iterable[str]
) -> str:
    """The page."""
    found = rows(results)
    total = Row("all")
    for row in found:
        total.passed += row.passed
        total.failed += row.failed
        total.skipped += row.skipped
        total.seconds += row.seconds
    scope = f"Only a part was run: `{' '.join(asked)}`." if asked else "All of the lane was run."
    lines = [
        "# The long lane: its last run",
        "",
        "Written by `scripts/report`, not by hand.",
        "",
        f"- {date:%Y-%m-%d %H:%M} UTC, commit {commit}",
        *(f"- {fact}" for fact in facts),
        f"- {scope}",
        "",
        "| file | passed | failed | skipped | seconds |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {row.file} | {row.passed} | {row.failed} | {row.skipped} | {row.seconds:.1f} |"
            for row in [*found, total]
        ),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Print the page for a result file."""
    results, *asked = arguments
    text = Path(results).read_text(encoding="utf-8")
    made = page(text, asked, date=datetime.now(UTC), commit=commit(), facts=machine())
    sys.stdout.write(made)


if __name__ == "__main__":
    main(sys.argv[1:])
