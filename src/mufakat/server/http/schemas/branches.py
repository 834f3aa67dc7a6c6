"""The shapes of branches."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer, Conversation
from mufakat.server.http.schemas.requests import Body, Flag, MaybeId, Query


class NewBranch(Body):
    """Where a conversation is to go another way."""

    message: Annotated[str, Field(pattern=r"^[A-Za-z0-9_:-]{0,64}$")] = ""
    """The checkpoint: a message's id, its number, or `m:NUMBER`; empty takes the newest."""
    title: Annotated[str, Field(max_length=1_000)] = ""
    """Empty names it after the conversation and the message."""


class BranchPage(Query):
    """Which branches."""

    conversation: MaybeId = ""
    """Only those below this conversation."""
    project: MaybeId = ""
    archived: Flag = "0"
    """`1` lists archived ones too."""


class Adoption(Body):
    """What the branch came to."""

    text: Annotated[str, Field(max_length=20_000)] = ""
    """A person's own words; empty takes decisions and last words by rule."""


class Title(Body):
    """Another title."""

    title: Annotated[str, Field(min_length=1, max_length=1_000)]


class Branch(Answer):
    """A branch, and the conversation that it is."""

    id: str
    """That of its conversation: `ask` takes it like any other."""
    parent: str
    checkpoint: str
    """Id of the message that it begins at."""
    number: int
    """Number of that message in the parent."""
    depth: int
    """1 for a branch of a conversation that is none."""
    status: Literal["open", "adopted", "archived", "deleted"]
    author: str
    changed: str
    summary: str | None
    """Id of the parent's message that tells what it came to."""
    summary_number: int | None
    conversation: Conversation
