"""Shapes of the team chat's door."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Said(BaseModel):
    """What a caller that does not sign sends: one message of a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(min_length=1, max_length=64 * 1024)
    user: str = Field(min_length=1, max_length=200, description="Who wrote it, as the chat knows.")
    name: str = Field("", max_length=64, description="How the chat calls them.")
    id: str = Field(
        "",
        max_length=64,
        pattern=r"^[0-9A-Za-z._:-]*$",
        description="The chat's id of the message; the same id is taken once.",
    )
    thread: str = Field(
        "",
        max_length=64,
        pattern=r"^[0-9A-Za-z._:-]*$",
        description="Id of the message that began the thread.",
    )


class Taken(BaseModel):
    """What became of it."""

    taken: bool = Field(description="Whether it is a message now.")
    message: str = ""
    duplicate: bool = False
    challenge: str | None = Field(None, description="The answer to a check of the address.")
