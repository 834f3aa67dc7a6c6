"""Puts hooks into the `hooks` table of a JSON settings file, and takes them out again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.cli.hook_files import edit, json_text
from mufakat.cli.hook_files.json_text import Node

Hooks = Mapping[str, Sequence[object]]
_INDENT = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class _Style:
    """How the file is laid out; no newline at all where `step` is empty."""

    step: str
    newline: str = "\n"

    def dump(self, value: object, level: int) -> str:
        """A value as it stands `level` steps deep."""
        if not self.step:
            return json.dumps(value, ensure_ascii=False)
        made = json.dumps(value, ensure_ascii=False, indent=self.step)
        return made.replace("\n", self.line(level))

    def line(self, level: int) -> str:
        """What comes before something on its own line, `level` steps deep."""
        return self.newline + self.step * level if self.step else ""


def install(text: str, hooks: Hooks) -> edit.Edit:
    """Add hooks to a settings file; raises NotJson where it is not one."""
    if not text.strip():
        piece = json.dumps({"hooks": hooks}, indent=2) + "\n"
        return edit.Edit(text + piece, (piece,))
    root = json_text.parse(text)
    if root.members is None:
        raise json_text.NotJson("it holds no object")
    style = _style(text)
    table = root.get("hooks")
    if table is None:
        return _inserted(text, [_members(root, {"hooks": hooks}, style, 1)])
    if table.members is None:
        raise json_text.NotJson("its `hooks` is no object")
    pieces = []
    missing: dict[str, Sequence[object]] = {}
    for event, groups in hooks.items():
        array = table.get(event)
        if array is None:
            missing[event] = groups
        elif array.items is None:
            raise json_text.NotJson(f"its `hooks.{event}` is no list")
        else:
            pieces.append(_items(array, groups, style))
    pieces += [_members(table, missing, style, 2)] if missing else []
    return _inserted(text, pieces)


def remove(text: str) -> str:
    """Take our groups out by what they are; lists that become empty go with them."""
    while (span := _ours(text)) is not None:
        text = text[: span[0]] + text[span[1] :]
    return text


def installed(text: str) -> dict[str, list[str]]:
    """Our command lines in a settings file: event → commands."""
    if not text.strip():
        return {}
    table = json_text.parse(text).get("hooks")
    found: dict[str, list[str]] = {}
    for one in (table.members if table else None) or ():
        for group in one.value.items or ():
            commands = [word for word in _commands(text, group) if edit.OURS.search(word)]
            if commands:
                found.setdefault(one.name, []).extend(commands)
    return found


def _commands(text: str, group: Node) -> list[str]:
    data = json_text.plain(text, group)
    inner = data.get("hooks") if isinstance(data, dict) else None
    hooks = inner if isinstance(inner, list) else []
    return [str(hook.get("command", "")) for hook in hooks if isinstance(hook, dict)]


def _style(text: str) -> _Style:
    found = _INDENT.search(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    return _Style(found[1] if found else ("  " if "\n" in text.strip() else ""), newline)


def _members(node: Node, members: Mapping[str, object], style: _Style, level: int) -> _Piece:
    """A piece that adds members at the end of an object."""
    lines = [
        f"{style.line(level)}{json.dumps(name)}: {style.dump(value, level)}"
        for name, value in members.items()
    ]
    separator = "," if style.step else ", "
    if node.members:
        return node.members[-1].value.end, separator + separator.join(lines)
    return node.start + 1, separator.join(lines) + style.line(level - 1)


def _items(node: Node, groups: Sequence[object], style: _Style) -> _Piece:
    """A piece that adds groups at the end of a list below `hooks`."""
    lines = [f"{style.line(3)}{style.dump(group, 3)}" for group in groups]
    separator = "," if style.step else ", "
    if node.items:
        return node.items[-1].end, separator + separator.join(lines)
    return node.start + 1, separator.join(lines) + style.line(2)


_Piece = tuple[int, str]
"""Where it goes, and its text."""


def _inserted(text: str, pieces: Sequence[_Piece]) -> edit.Edit:
    for at, piece in sorted(pieces, reverse=True):
        text = text[:at] + piece + text[at:]
    return edit.Edit(text, tuple(piece for _, piece in pieces))


def _ours(text: str) -> tuple[int, int] | None:
    """The span of the next thing to take out, with the comma that belongs to it."""
    root = json_text.parse(text)
    table = root.get("hooks")
    for position, one in enumerate((table.members if table else None) or ()):
        groups = one.value.items or ()
        ours = [_is_ours(text, group) for group in groups]
        if not any(ours):
            continue
        if not all(ours):
            spans = [(group.start, group.end) for group in groups]
            return _with_comma(text, spans, ours.index(True))
        if table and table.members and len(table.members) > 1:
            return _with_comma(text, _spans(table), position)
        names = [member.name for member in root.members or ()]
        return _with_comma(text, _spans(root), names.index("hooks"))
    return None


def _is_ours(text: str, group: Node) -> bool:
    """Whether a group holds commands of ours and nobody else's."""
    commands = _commands(text, group)
    return bool(commands) and all(edit.OURS.search(one) for one in commands)


def _spans(node: Node) -> list[tuple[int, int]]:
    return [(member.start, member.value.end) for member in node.members or ()]


def _with_comma(text: str, spans: Sequence[tuple[int, int]], position: int) -> tuple[int, int]:
    """A part's span from the end of the part before it, or to the beginning of the next."""
    start, end = spans[position]
    if position:
        return spans[position - 1][1], end
    if len(spans) > 1:
        return start, spans[1][0]
    space = len(text[:start]) - len(text[:start].rstrip())
    return start - space, end + len(text[end:]) - len(text[end:].lstrip())
