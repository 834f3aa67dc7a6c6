"""The rules of `.gitignore`, without git: linear in time, whatever a pattern says."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass

LARGEST = 64 * 1024
"""Bytes of an ignore file that are read."""
MOST = 2_000
_LONGEST = 500
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: what it matches, whether it takes back, and whether it is for folders alone."""

    segments: tuple[re.Pattern[str] | None, ...]
    """One a name along the path; None for `**`."""
    negated: bool
    folders: bool
    anchored: bool
    """Whether it speaks of the path from its own folder, not of a name at any depth."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The lines of one file, for what lies below its folder."""

    rules: tuple[Rule, ...]
    names: re.Pattern[str] | None
    """Matches where any rule about mere names does: most files need only this."""
    anchored: bool
    depth: int
    """How many names of a path lead to the folder."""


def parse(text: str, depth: int) -> Rules:
    """Read an ignore file that lies `depth` folders below the root."""
    rules = tuple(rule for line in text.splitlines()[:MOST] if (rule := _rule(line)) is not None)
    names = [rule.segments[0].pattern for rule in rules if not rule.anchored and rule.segments[0]]
    joined = re.compile("|".join(f"(?:{name})" for name in names)) if names else None
    return Rules(rules, joined, any(rule.anchored for rule in rules), depth)


def ignored(path: Sequence[str], above: Sequence[Rules], *, folder: bool) -> bool:
    """Whether the rules of the folders above leave a path out; the nearest and last one decides."""
    for rules in reversed(above):
        below = path[rules.depth :]
        if not rules.anchored and not (rules.names and rules.names.match(below[-1])):
            continue
        for rule in reversed(rules.rules):
            if (folder or not rule.folders) and _matches(rule, below):
                return not rule.negated
    return False


def _rule(line: str) -> Rule | None:
    line = line.rstrip("\n\r")
    if not line.endswith("\\ "):
        line = line.rstrip(" ")
    if not line or line.startswith("#") or len(line) > _LONGEST:
        return None
    negated = line.startswith("!")
    line = (
        line[negated:].removeprefix("\\")
        if line[negated:][:2] in {"\\#", "\\!"}
        else line[negated:]
    )
    folders = line.endswith("/")
    line = line.rstrip("/")
    anchored = "/" in line
    names = [name for name in line.split("/") if name]
    if not names:
        return None
    if names[0] == "**" and len(names) == 2 and names[1] != "**":
        names, anchored = names[1:], False
    return Rule(tuple(map(_segment, names)), negated, folders, anchored)


def _segment(name: str) -> re.Pattern[str] | None:
    if name == "**":
        return None
    # fnmatch makes atomic groups of the stars, so a pattern of many stars stays linear.
    plain = _ESCAPED.sub(lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], name)
    try:
        return re.compile(fnmatch.translate(plain))
    except re.error:
        return re.compile(re.escape(name) + r"\Z")


def _matches(rule: Rule, path: Sequence[str]) -> bool:
    if not rule.anchored:
        first = rule.segments[0]
        return first is None or first.match(path[-1]) is not None
    return _along(rule.segments, path)


def _along(segments: Sequence[re.Pattern[str] | None], path: Sequence[str]) -> bool:
    """Match names one by one; of several `**` only the last can still give way."""
    at = here = 0
    star = back = -1
    while here < len(path):
        if at < len(segments) and segments[at] is None:
            star, back = at, here
            at += 1
        elif at < len(segments) and segments[at].match(path[here]):  # type: ignore[union-attr]
            at, here = at + 1, here + 1
        elif star >= 0:
            back += 1
            at, here = star + 1, back
        else:
            return False
    return at == len(segments)
