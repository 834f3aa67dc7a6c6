"""A change as a request holds it: a unified diff among other words."""

from __future__ import annotations

from dataclasses import dataclass

_BEGIN = ("diff --git ", "--- a/", "--- /dev/null")
_WITHIN = ("+", "-", "@@", " ", "\\ ", "diff ", "index ", "new ", "deleted ", "old ", "rename ")
_WITHIN_TOO = ("similarity ", "Binary files ", "copy ")
_FILES = ("+++ b/", "--- a/", "rename from ", "rename to ")
MOST_PATHS = 50


@dataclass(frozen=True, slots=True)
class Change:
    """What a diff changes."""

    paths: tuple[str, ...] = ()
    size: int = 0
    """Characters of the diff."""


def read(text: str) -> Change:
    """All diffs of a text together; no paths where there is none."""
    paths: dict[str, None] = {}
    size, inside = 0, False
    for line in text.split("\n"):
        inside = line.startswith(_BEGIN) or (inside and _goes_on(line))
        if not inside:
            continue
        size += len(line) + 1
        name = next((line[len(mark) :] for mark in _FILES if line.startswith(mark)), "")
        if name and len(paths) < MOST_PATHS:
            paths[name.split("\t")[0].strip()] = None
    return Change(tuple(paths), size)


def _goes_on(line: str) -> bool:
    return not line or line.startswith(_WITHIN) or line.startswith(_WITHIN_TOO)
