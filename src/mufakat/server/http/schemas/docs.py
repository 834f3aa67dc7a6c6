"""The shapes of documents and of notes on them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId, Plain, Query


class DocumentSearch(Query):
    """What to look for."""

    q: Annotated[str, Field(min_length=1, max_length=10_000)]
    project: MaybeId = ""
    limit: Annotated[int, Field(ge=1, le=50), Plain] = 5


class Section(Query):
    """Which part of a document; empty answers its beginning and all headings."""

    section: Annotated[str, Field(max_length=400)] = ""
    project: MaybeId = ""


class Passage(Answer):
    """A section of a document."""

    document: str
    section: str
    text: str
    score: float
    """0 to 1, beside the best."""
    source: str
    """`hub`, `project` or `package`."""


class Passages(Answer):
    """The best documents, each with its best section."""

    items: list[Passage]
    next: None
    why: str
    """Why there is nothing, or not all; else empty."""


class Note(Answer):
    """What somebody found out about a document; its words are data."""

    id: str
    document: str
    author: str
    at: str
    text: str


class Document(Passage):
    """A section with the notes on its document, newest first."""

    notes: list[Note]


class NewNote(Body):
    """A note for whoever reads the document next in this project."""

    text: Annotated[str, Field(min_length=1, max_length=4_000)]
    project: MaybeId = ""
