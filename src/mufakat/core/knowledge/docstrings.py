"""Docstrings of a Python file, found by their place alone: the file is never imported or run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mufakat.core.knowledge.document import Section

_NAMED = re.compile(
    r"^(?P<indent>[ \t]*)(?:async[ ]+)?(?P<kind>def|class)[ ]+(?P<name>[A-Za-z_]\w*)", re.MULTILINE
)
_LITERAL = re.compile(r'[rRbBuU]{0,2}("""|\'\'\')')
_HEAD_CHARS = 4_000
"""Between the name of a function and its docstring."""
SHORTEST = 24


def of(source: str, module: str) -> Iterator[Section]:
    """The docstrings of public names, each under its dotted name, with its signature."""
    literals = list(_literals(source))
    if literals and not source[: literals[0][0]].strip(" \t\r\n").replace("\ufeff", ""):
        yield Section(module, _text(source, literals[0]))
    scopes: list[tuple[int, str]] = []
    at = 0
    outside = list(_outside(source, literals))
    ends = [*(one.start() for one in outside[1:]), len(source)]
    for named, end in zip(outside, ends, strict=False):
        indent = len(named["indent"].expandtabs(8))
        scopes = [one for one in scopes if one[0] < indent]
        scopes.append((indent, named["name"]))
        while at < len(literals) and literals[at][0] < named.end():
            at += 1
        public = not any(name.startswith("_") for _, name in scopes)
        if at == len(literals) or not public or literals[at][0] > end:
            continue
        between = source[named.end() : literals[at][0]]
        if len(between) <= _HEAD_CHARS and _is_head(between):
            body = _text(source, literals[at])
            if len(body) >= SHORTEST:
                head = " ".join(f"{named['kind']} {named['name']}{between}".split())[:300]
                dotted = ".".join([module, *(name for _, name in scopes)])
                yield Section(dotted, f"{head.removesuffix(':')}\n{body}")


def _is_head(between: str) -> bool:
    """Whether only a signature stands between a name and the text behind it."""
    bare = re.sub(r"#[^\n]*", "", between).rstrip()
    return bare.endswith(":") and not re.search(r"^\s*(?:return|yield|if|for|raise)\b", bare, re.M)


def _literals(source: str) -> Iterator[tuple[int, int, int, int]]:
    """Where triple-quoted texts begin and end, and where their insides do."""
    at = 0
    while found := _LITERAL.search(source, at):
        end = source.find(found[1], found.end())
        if end < 0:
            return
        yield found.start(), end + 3, found.end(), end
        at = end + 3


def _outside(source: str, literals: list[tuple[int, int, int, int]]) -> Iterator[re.Match[str]]:
    at = 0
    for named in _NAMED.finditer(source):
        while at < len(literals) and literals[at][1] <= named.start():
            at += 1
        if at == len(literals) or named.start() < literals[at][0]:
            yield named


def _text(source: str, literal: tuple[int, int, int, int]) -> str:
    lines = source[literal[2] : literal[3]].strip().split("\n")
    return "\n".join([lines[0], *_dedented(lines[1:])]).strip()


def _dedented(lines: list[str]) -> list[str]:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]
