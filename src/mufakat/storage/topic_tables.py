"""The tables of the compressed memory: topics of conversations, and their lines."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Index, Table, Text, text
from sqlalchemy import UniqueConstraint as Unique

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long, Real

RANKED = "rank > 0"
TAKEN = "revoked != ''"
LIVE = "revoked = '' AND superseded_by = ''"

topics = Table(
    "topics",
    tables.metadata,
    Column("key", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("number", Long, nullable=False),
    Column("title", Text, nullable=False),
    Column("first", Long, nullable=False),
    Column("last", Long, nullable=False),
    Column("created", Long, nullable=False),
    Column("updated", Long, nullable=False),
    Column("revoked", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Unique("conversation", "number"),
    sqlite_strict=True,
)

topic_lines = Table(
    "topic_lines",
    tables.metadata,
    Column("key", Key, primary_key=True),
    Column("conversation", Key, nullable=False),
    Column("topic", Long, nullable=False),
    Column("number", Long, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("sources", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Long, nullable=False),
    Column("worth", Real, nullable=False),
    Column("author", Text, nullable=False),
    Column("supersedes", Text, nullable=False),
    Column("superseded_by", Text, nullable=False),
    Column("revoked", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Column("rank", Long, nullable=False),
    Column("folded", Text, nullable=False),
    Unique("conversation", "topic", "number"),
    ForeignKeyConstraint(["conversation", "topic"], ["topics.conversation", "topics.number"]),
    Index(
        "ix_topic_lines_taken",
        "conversation",
        "topic",
        "number",
        sqlite_where=text(TAKEN),
        postgresql_where=text(TAKEN),
    ),
    Index(
        "ix_topic_lines_live",
        "conversation",
        "worth",
        "topic",
        "number",
        sqlite_where=text(LIVE),
        postgresql_where=text(LIVE),
    ),
    Index(
        "ix_topic_lines_ranked",
        "conversation",
        "rank",
        sqlite_where=text(RANKED),
        postgresql_where=text(RANKED),
    ),
    sqlite_strict=True,
)
