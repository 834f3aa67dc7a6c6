"""The tables of knowledge that people and agents made themselves: consents, notes, links."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, Text

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long

metadata = tables.metadata

consents = Table(
    "consents",
    metadata,
    Column("project", Key, ForeignKey("projects.id"), primary_key=True),
    Column("name", Key, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("at", Long, nullable=False),
    Column("author", Key, nullable=False),
    Column("seal", Text, nullable=False),
    sqlite_strict=True,
)

notes = Table(
    "notes",
    metadata,
    Column("id", Key, primary_key=True),
    Column("project", Key, ForeignKey("projects.id"), nullable=False),
    Column("document", Key, nullable=False),
    Column("author", Key, nullable=False),
    Column("at", Long, nullable=False),
    Column("text", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Index(None, "project", "document", "id"),
    sqlite_strict=True,
)

links = Table(
    "links",
    metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("other", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("author", Key, nullable=False),
    Column("at", Long, nullable=False),
    Column("seal", Text, nullable=False),
    sqlite_strict=True,
)

imports = Table(
    "imports",
    metadata,
    Column("project", Key, ForeignKey("projects.id"), primary_key=True),
    Column("engine", Key, primary_key=True),
    Column("session", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("turns", Long, nullable=False),
    Column("digest", Text, nullable=False),
    Column("at", Long, nullable=False),
    sqlite_strict=True,
)
