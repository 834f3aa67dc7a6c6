"""The tables of the full text over what was said: derived from messages, made again at any time."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, Text

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long

DERIVED = "derived"
"""Entry of a table's `info`: it is left out of an archive, and filled anew after an import."""

recall_projects = Table(
    "recall_projects",
    tables.metadata,
    Column("project", Key, ForeignKey("projects.id"), primary_key=True),
    Column("turns", Long, nullable=False),
    Column("terms", Long, nullable=False),
    sqlite_strict=True,
    info={DERIVED: True},
)

recall_conversations = Table(
    "recall_conversations",
    tables.metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("project", Key, nullable=False),
    Column("ordinal", Long, nullable=False, unique=True),
    Column("number", Long, nullable=False),
    Column("talk", Long, nullable=False),
    Column("tools", Long, nullable=False),
    Column("since", Long, nullable=False),
    Column("until", Long, nullable=False),
    Index(None, "project", "since"),
    sqlite_strict=True,
    info={DERIVED: True},
)

recall_speakers = Table(
    "recall_speakers",
    tables.metadata,
    Column("project", Key, primary_key=True),
    Column("speaker", Key, primary_key=True),
    sqlite_strict=True,
    info={DERIVED: True},
)

recall_turns = Table(
    "recall_turns",
    tables.metadata,
    Column("turn", Long, primary_key=True, autoincrement=False),
    Column("message", Key, nullable=False),
    Column("number", Long, nullable=False),
    Column("at", Long, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("marks", Long, nullable=False),
    sqlite_strict=True,
    info={DERIVED: True},
)

recall_terms = Table(
    "recall_terms",
    tables.metadata,
    Column("project", Key, primary_key=True),
    Column("term", Key, primary_key=True),
    Column("segment", Long, primary_key=True),
    Column("entries", LargeBinary, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
    info={DERIVED: True},
)
