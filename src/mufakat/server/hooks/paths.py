"""Which files a tool is about to change, by the engines' own tools; shells name none."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

MOST = 200
_INPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Edit": ("file_path",),
        "Write": ("file_path",),
        "MultiEdit": ("file_path",),
        "NotebookEdit": ("notebook_path", "file_path"),
        "write_file": ("file_path", "path"),
        "replace": ("file_path", "path"),
        "edit": ("filePath",),
        "write": ("filePath",),
        "multiedit": ("filePath",),
    }
)
_PATCHED = re.compile(
    r"^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (?P<path>.+?)[ \t\r]*$", re.MULTILINE
)


def changed(tool: str, given: Mapping[str, Any], *, cwd: str) -> tuple[str, ...]:
    """Absolute paths, in the order in which the tool names them, each once."""
    found: dict[str, None] = {}
    for path in _named(tool, given):
        whole = posixpath.normpath(posixpath.join(cwd or "/", path))
        found[whole] = None
    return tuple(found)[:MOST]


def _named(tool: str, given: Mapping[str, Any]) -> Iterator[str]:
    for name in _INPUTS.get(tool, ()):
        value = given.get(name)
        if isinstance(value, str) and value:
            yield value
    # Patches come as a tool of their own, or as a document within a shell command.
    for value in given.values():
        if isinstance(value, str) and "*** Begin Patch" in value:
            yield from (one["path"] for one in _PATCHED.finditer(value))
