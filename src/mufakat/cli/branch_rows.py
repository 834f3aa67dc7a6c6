"""Conversations and their branches as rows of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

STEP = "  "
MARK = "└ "


def indented(title: str, depth: int) -> str:
    """A title as deep as its branch; 0 for what is none."""
    return f"{STEP * (depth - 1)}{MARK}{title}" if depth > 0 else title


def arranged(
    items: Sequence[Mapping[str, Any]], branches: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Conversations of one page, each followed by its branches there, the oldest first."""
    there = {item["id"] for item in items}
    below: dict[str, list[Mapping[str, Any]]] = {}
    tops = []
    for item in items:
        branch = branches.get(item["id"])
        if branch is not None and branch["parent"] in there:
            below.setdefault(branch["parent"], []).insert(0, item)
        else:
            tops.append(item)
    rows: list[Mapping[str, Any]] = []
    waiting = [(item, 0) for item in reversed(tops)]
    while waiting:
        item, depth = waiting.pop()
        rows.append({**item, "title": _title(item, branches.get(item["id"]), depth)})
        waiting += [(one, depth + 1) for one in reversed(below.pop(item["id"], []))]
    return rows


def _title(item: Mapping[str, Any], branch: Mapping[str, Any] | None, depth: int) -> str:
    if branch is None:
        return str(item["title"])
    origin = "" if depth else f" of {branch['parent']}"
    note = f"({branch['status']} branch{origin}, m:{branch['number']})"
    return indented(f"{item['title']} {note}", depth)
