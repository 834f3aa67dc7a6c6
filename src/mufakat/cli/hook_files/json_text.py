"""Reads JSON with comments as spans of its text, so that it can be changed without rewriting it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

DEPTH = 100
_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class NotJson(ValueError):
    """The text is no JSON."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object: where its name begins, and its value."""

    name: str
    start: int
    value: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: `text[start:end]`."""

    start: int
    end: int
    members: Sequence[Member] | None = None
    """Of an object; None for anything else."""
    items: Sequence[Node] | None = None
    """Of an array; None for anything else."""

    def get(self, name: str) -> Node | None:
        """A member of an object; raises NotJson where it stands there twice."""
        found = [one.value for one in self.members or () if one.name == name]
        if len(found) > 1:
            raise NotJson(f"`{name}` stands in it twice")
        return found[0] if found else None


def parse(text: str) -> Node:
    """Read a whole text; raises NotJson with the line of the fault."""
    node = _value(text, _after(text, 0), 0)
    if _after(text, node.end) != len(text):
        raise _fault(text, node.end)
    return node


def plain(text: str, node: Node) -> object:
    """A value as data, its comments left out."""
    if node.members is not None:
        return {one.name: plain(text, one.value) for one in node.members}
    if node.items is not None:
        return [plain(text, one) for one in node.items]
    return json.loads(text[node.start : node.end])


def _after(text: str, at: int) -> int:
    """Where the next token begins."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH:
        raise NotJson(f"it is nested deeper than {DEPTH} levels")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise _fault(text, at)
    return Node(at, found.end())


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _after(text, start + 1)
    while text[at : at + 1] != "}":
        name = _STRING.match(text, at)
        if not name:
            raise _fault(text, at)
        colon = _after(text, name.end())
        if text[colon : colon + 1] != ":":
            raise _fault(text, colon)
        value = _value(text, _after(text, colon + 1), depth + 1)
        members.append(Member(json.loads(name[0]), at, value))
        at = _next(text, value.end, "}")
    return Node(start, at + 1, members=members)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _after(text, start + 1)
    while text[at : at + 1] != "]":
        item = _value(text, at, depth + 1)
        items.append(item)
        at = _next(text, item.end, "]")
    return Node(start, at + 1, items=items)


def _next(text: str, end: int, closing: str) -> int:
    """Where the next part begins, or the closing bracket stands."""
    at = _after(text, end)
    if text[at : at + 1] == closing:
        return at
    if text[at : at + 1] != ",":
        raise _fault(text, at)
    at = _after(text, at + 1)
    if text[at : at + 1] == closing:
        raise _fault(text, at)
    return at


def _fault(text: str, at: int) -> NotJson:
    return NotJson(f"line {text.count(chr(10), 0, at) + 1} is not as JSON should be")
