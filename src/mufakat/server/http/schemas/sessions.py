"""The shapes of sessions that the CLIs keep by themselves."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId, Name
from mufakat.server.http.schemas.skills import Skipped


class NativeSession(Answer):
    """A session as its CLI keeps it."""

    engine: str
    id: str
    folder: str
    at: str
    summary: str
    conversation: str | None
    """Where it was taken over to."""
    imported: int
    """Turns that were taken over."""


class NativeSessions(Answer):
    """Sessions of a project, newest first."""

    items: list[NativeSession]
    next: None
    skipped: list[Skipped]


class Importing(Body):
    """Which session to take over."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    engine: Name = ""
    """`claude`, `codex`, `gemini` or `opencode`; empty takes the first with that id."""
    project: MaybeId = ""


class Imported(Answer):
    """What was taken over."""

    engine: str
    id: str
    conversation: str
    turns: int
    """Of the session, all that are in the conversation now."""
    added: int
    """By this request."""
