"""What a lease can be about: `kind:name`, one spelling for one thing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from mufakat.core.coordination import pattern

BYTES = 512
"""UTF-8 bytes of a key."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_PORT = re.compile(r"(?:[^\s:/]+:)?([1-9][0-9]{0,4})")


class Kind(StrEnum):
    """What kind of thing it is."""

    FILE = "file"
    """A path, or a pattern of paths."""
    REPO = "repo"
    """A working tree as one thing: its path, or a plain name. Files in it are leased by `file:`."""
    BRANCH = "branch"
    TASK = "task"
    """Who makes which report."""
    API = "api"
    NODE = "node"
    PORT = "port"
    CUSTOM = "custom"


FENCED = frozenset({Kind.FILE, Kind.REPO, Kind.BRANCH, Kind.TASK})
"""Kinds whose writes are checked against the fence; the others rest for a while after expiry."""


@dataclass(frozen=True, slots=True)
class Key:
    """A resource in its one spelling."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a text names no resource, and what would."""

    why: str
    fix: str


def parse(text: str, *, roots: Sequence[str]) -> Key | Refused:
    """Read a resource; `roots` are the canonical absolute folders that path kinds must lie in."""
    spelled = unicodedata.normalize("NFC", text)
    wrong = _spelling(spelled)
    if wrong is not None:
        return wrong
    before, _, name = spelled.partition(":")
    kind = Kind(before)
    match kind:
        case Kind.FILE:
            return _path(kind, name, roots)
        case Kind.REPO if name[:1] == "/":
            return _path(kind, name, roots)
        case Kind.PORT if not _is_port(name):
            return Refused(f"{name!r} is no port.", "Name it port:8080 or port:host:8080.")
    return Key(kind, name)


def kind_of(key: str) -> Kind:
    """The kind of a canonical key."""
    return Kind(key.partition(":")[0])


def name_of(key: str) -> str:
    """The name of a canonical key."""
    return key.partition(":")[2]


def fenced(key: str) -> bool:
    """Whether stale writes to it are refused by its fence."""
    return kind_of(key) in FENCED


def of_path(path: str) -> str:
    """The key of one file; its name is taken as it is, wildcards too."""
    return f"{Kind.FILE}:{pattern.literal(unicodedata.normalize('NFC', path))}"


def overlap(one: str, other: str) -> bool:
    """Whether two canonical keys can mean one thing."""
    if one == other:
        return True
    return _both_files(one, other) and pattern.overlap(name_of(one), name_of(other))


def breadth(key: str, *, roots: Sequence[str]) -> int | None:
    """How many folders below its root a `**` pattern names; None for anything narrower."""
    name = name_of(key)
    if kind_of(key) is not Kind.FILE or not any(part.deep for part in pattern.parse(name)):
        return None
    parts = name.split("/")[1:]
    inside = [parts[len(root) :] for root in map(_parts, roots) if parts[: len(root)] == root]
    return min((_plain(rest) for rest in inside), default=0)


@lru_cache(maxsize=pattern.CACHED)
def _both_files(one: str, other: str) -> bool:
    return kind_of(one) is Kind.FILE and kind_of(other) is Kind.FILE


def _spelling(text: str) -> Refused | None:
    kind, colon, name = text.partition(":")
    if not colon or kind not in set(Kind):
        return Refused(
            f"{text[:80]!r} names no kind of resource.",
            f"Write kind:name with one of {', '.join(Kind)}.",
        )
    if any(unicodedata.category(char) in _HIDDEN for char in text):
        return Refused("The resource has invisible characters.", "Leave them out.")
    if len(text.encode()) > BYTES:
        return Refused(f"The resource is longer than {BYTES} bytes.", "Give it a shorter name.")
    if not name or name != name.strip():
        return Refused("The resource's name is empty or has white space around it.", "Name it.")
    if ".." in name.split("/"):
        return Refused("A resource has no `..` in it.", "Give the whole path.")
    return None


def _path(kind: Kind, name: str, roots: Sequence[str]) -> Key | Refused:
    parts = name.split("/")
    if parts[0]:
        return Refused(f"{name[:80]!r} is not an absolute path.", "Give the whole path.")
    if not parts[-1] and len(parts) > 2:
        return Refused(f"{name[:80]!r} ends with a slash.", f"For all in it: {kind}:{name}**")
    parts = [part for part in parts if part not in {"", "."}]
    if kind is Kind.REPO and pattern.is_pattern(name):
        return Refused("A repository is named whole.", "Use file: for patterns.")
    try:
        pattern.parse("/".join(parts))
    except pattern.Malformed as problem:
        return Refused(f"{str(problem)[:80]!r} is no pattern.", str(pattern.Malformed.__doc__))
    if not any(parts[: len(root)] == root for root in map(_parts, roots)):
        return Refused(
            f"/{'/'.join(parts)} lies in no project.", "Add its folder as a project first."
        )
    return Key(kind, "/" + "/".join(parts))


def _plain(parts: Sequence[str]) -> int:
    """How many folders come before the first wildcard."""
    return next((at for at, part in enumerate(parts) if pattern.is_pattern(part)), len(parts))


def _parts(root: str) -> list[str]:
    """A root's folders, spelled as a pattern that means them alone."""
    plain = unicodedata.normalize("NFC", root)
    return [pattern.literal(part) for part in plain.split("/") if part]


def _is_port(name: str) -> bool:
    found = _PORT.fullmatch(name)
    return found is not None and int(found[1]) <= 65_535
