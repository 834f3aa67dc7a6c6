"""The event log as a table for people to read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mufakat.core import text

CELL = 400
HEADING = "| revision | at (ms) | kind | subject | data | chain |\n|---|---|---|---|---|---|\n"


def row(event: Mapping[str, Any]) -> str:
    """One event as a row of a Markdown table, in which nothing can end its cell."""
    data = json.dumps(event["data"], ensure_ascii=False, separators=(", ", ": "))
    cells = (event["revision"], event["at"], event["kind"], event["subject"], data)
    return f"| {' | '.join(_cell(str(one)) for one in cells)} | {event['chain'][:16]} |"


def _cell(said: str) -> str:
    line = text.one_line(text.clean(said), CELL)
    for sign, name in (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ("|", "&#124;"),
        ("`", "&#96;"),
    ):
        line = line.replace(sign, name)
    return line.replace("[", "&#91;").replace("]", "&#93;")
