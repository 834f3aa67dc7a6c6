"""The table of branches: what makes a conversation a branch of another."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, Text

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long

metadata = tables.metadata

branches = Table(
    "branches",
    metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("parent", Key, ForeignKey("conversations.id"), nullable=False),
    Column("checkpoint", Key, ForeignKey("messages.id"), nullable=False),
    Column("number", Long, nullable=False),
    Column("depth", Long, nullable=False),
    Column("project", Key, ForeignKey("projects.id"), nullable=False),
    Column("author", Key, nullable=False),
    Column("created", Long, nullable=False),
    Column("changed", Long, nullable=False),
    Column("status", Key, nullable=False),
    Column("summary", Key, nullable=False),
    Column("summary_number", Long, nullable=False),
    Column("seal", Text, nullable=False),
    Index(None, "parent", "conversation"),
    Index(None, "project", "conversation"),
    sqlite_strict=True,
)
