"""Reading foreign JSON without trusting its shape: a wrong type reads as nothing."""

from __future__ import annotations

from collections.abc import Mapping

ONE_LINE = 400
LARGEST_COUNT = 2**53
EMPTY: Mapping[str, object] = {}


def table(value: object, *path: str) -> Mapping[str, object]:
    """The object at a path; empty when there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else EMPTY


def text(value: object, *path: str) -> str:
    """The string at a path; empty when there is none."""
    found = table(value, *path[:-1]).get(path[-1]) if path else value
    return found if isinstance(found, str) else ""


def count(value: object, *path: str) -> int:
    """The number at a path as a count; 0 for anything else."""
    found = number(value, *path)
    return int(found) if found is not None and 0 <= found <= LARGEST_COUNT else 0


def number(value: object, *path: str) -> float | None:
    """The number at a path; None when there is none."""
    found = table(value, *path[:-1]).get(path[-1]) if path else value
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return found


def rows(value: object, *path: str) -> list[Mapping[str, object]]:
    """The objects in the list at a path."""
    found = table(value, *path[:-1]).get(path[-1]) if path else value
    if not isinstance(found, list):
        return []
    return [row for row in found if isinstance(row, Mapping)]


def flat(value: object) -> str:
    """The text of a content that is a string, or a list of text blocks."""
    if isinstance(value, str):
        return value
    return "\n".join(part for part in (text(row, "text") for row in rows(value)) if part)


def line(value: object) -> str:
    """A tool's input as one line: its command or path if it has one, else its arguments."""
    if isinstance(value, Mapping):
        named = [value[key] for key in NAMED if isinstance(value.get(key), str)]
        value = named[0] if named else ", ".join(f"{k}={v}" for k, v in value.items())
    one = " ".join(str(value).split()) if value else ""
    return one if len(one) <= ONE_LINE else one[: ONE_LINE - 1] + "…"


NAMED = ("command", "cmd", "file_path", "filePath", "absolute_path", "path", "pattern", "query")
