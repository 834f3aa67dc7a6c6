"""The shapes of skills and of consent to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId


class Skipped(Answer):
    """Something that was left out, and why."""

    path: str
    why: str


class Skill(Answer):
    """A skill as a list shows it."""

    name: str
    description: str
    origin: Literal["project", "user"]
    path: str
    digest: str
    """SHA-256 of its whole folder, hex: what consent is given to."""
    state: Literal["own", "consented", "new", "changed"]
    """Agents get only what is `own` or `consented`."""
    files: list[str]
    """Beside SKILL.md."""


class WholeSkill(Skill):
    """A skill with its body."""

    body: str


class Skills(Answer):
    """All skills of a project and of the person."""

    items: list[Skill]
    next: None
    skipped: list[Skipped]


class Consenting(Body):
    """Consent to exactly the text that was read."""

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    project: MaybeId = ""
