"""Puts hooks at the end of a TOML settings file, between two lines that mark them as ours."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from mufakat.cli.hook_files import edit

BEGIN, END = "# Hooks of Mufakat: begin", "# Hooks of Mufakat: end"
_CUT = " (the line before had no end)"
_BLOCK = re.compile(
    rf"(?P<cut>\n(?={BEGIN}{re.escape(_CUT)}))?{BEGIN}[^\n]*\n.*?{END}\n?", re.DOTALL
)


class NotToml(ValueError):
    """The text is no TOML, or our hooks cannot stand in it."""


def install(text: str, hooks: Mapping[str, Sequence[object]]) -> edit.Edit:
    """Add hooks to a settings file; raises NotToml where that is not possible."""
    before = _parsed(text)
    whole = not text or text.endswith("\n")
    lines = [BEGIN if whole else f"\n{BEGIN}{_CUT}"]
    for event, groups in hooks.items():
        for group in groups:
            lines += _group(event, group)
    piece = "\n".join([*lines, END, ""])
    after = _parsed(text + piece, why="its `hooks` table cannot be added to")
    for event, groups in hooks.items():
        added = after["hooks"][event][-len(groups) :]
        if added != list(groups) or after["hooks"][event][: -len(groups)] != _there(before, event):
            raise NotToml("its `hooks` table cannot be added to")
    return edit.Edit(text + piece, (piece,))


def remove(text: str) -> str:
    """Take our block out."""
    return _BLOCK.sub("", text)


def installed(text: str) -> dict[str, list[str]]:
    """Our command lines in a settings file: event → commands."""
    hooks = _parsed(text).get("hooks")
    found: dict[str, list[str]] = {}
    for event, groups in (hooks if isinstance(hooks, dict) else {}).items():
        commands = [
            str(hook.get("command", ""))
            for group in (groups if isinstance(groups, list) else ())
            for hook in (group.get("hooks", ()) if isinstance(group, dict) else ())
            if isinstance(hook, dict)
        ]
        if ours := [one for one in commands if edit.OURS.search(one)]:
            found[str(event)] = ours
    return found


def _there(before: Mapping[str, Any], event: str) -> list[object]:
    groups: list[object] = before.get("hooks", {}).get(event, [])
    return groups


def _group(event: str, group: object) -> list[str]:
    assert isinstance(group, Mapping)
    lines = [f"[[hooks.{event}]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in group.items() if key != "hooks"]
    for hook in group["hooks"]:
        lines.append(f"[[hooks.{event}.hooks]]")
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in hook.items()]
    return lines


def _parsed(text: str, *, why: str = "") -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise NotToml(why or str(problem) or "it is nested too deep") from problem
