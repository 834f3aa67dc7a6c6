"""Skills: what SKILL.md must say, what consent is given to, and when a body may be given out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core import text
from mufakat.core.base import Millis, ProjectId
from mufakat.core.knowledge import front_matter
from mufakat.core.knowledge.front_matter import Broken

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
DESCRIPTION_CHARS = 1024
LINE_CHARS = 160
"""Of the line that the index has for a skill."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a SKILL.md says of itself."""

    name: str
    description: str
    body: str


@dataclass(frozen=True, slots=True)
class Consent:
    """That a person has read a project's skill and lets agents have it."""

    project: ProjectId
    name: str
    digest: str
    """Of the folder as it was then."""
    at: Millis
    author: str


class State(StrEnum):
    """Whether agents get a skill."""

    OWN = "own"
    """The person's own, from the home folder: nobody else wrote it there."""
    CONSENTED = "consented"
    NEW = "new"
    """From the project; nobody has consented yet."""
    CHANGED = "changed"
    """Another text than the one that was consented to."""

    @property
    def loads(self) -> bool:
        """Whether its body may be given to an agent."""
        return self in (State.OWN, State.CONSENTED)


def read(document: str) -> Manifest | Broken:
    """Read a SKILL.md; the answer says what is wrong with one that cannot be used."""
    front = front_matter.read(document)
    if isinstance(front, Broken):
        return front
    name = front.fields.get("name", "")
    description = " ".join(front.fields.get("description", "").split())
    if not NAME.fullmatch(name):
        return Broken(f"its name {name[:64]!r} is not lower-case letters, digits and hyphens")
    if not description:
        return Broken("it has no description")
    return Manifest(name, text.cut(description, DESCRIPTION_CHARS), front.body.strip())


def digest(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of a folder, hex: of the names and contents of all its files, in any order."""
    whole = hashlib.sha256()
    for name, content in sorted(files):
        whole.update(f"{len(name.encode())} {len(content)} {name}\n".encode())
        whole.update(content)
    return whole.hexdigest()


def state(origin: str, digest: str, consent: Consent | None) -> State:
    """Whether agents get a skill with this digest, by where it lies and what was consented to."""
    if origin == "user":
        return State.OWN
    if consent is None:
        return State.NEW
    return State.CONSENTED if consent.digest == digest else State.CHANGED


def why_not(name: str, state: State) -> str:
    """Why a body is not given out, and what mends it; empty where it is."""
    match state:
        case State.OWN | State.CONSENTED:
            return ""
        case State.NEW:
            return f"nobody has consented to the project's skill {name} yet"
        case State.CHANGED:
            return f"the skill {name} was changed after consent to it"


def line(name: str, description: str) -> str:
    """The skill in the index."""
    return f"{name}: {text.one_line(description, LINE_CHARS)}"


def mentions(words: str, name: str) -> bool:
    """Whether a request names a skill, as `/name`, `$name` or `skill name`."""
    found = re.search(rf"(?:[/$]|\bskill[ :]+[`\"']?){re.escape(name)}(?![\w-])", words[:20_000])
    return found is not None
