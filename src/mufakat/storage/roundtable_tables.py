"""The tables of roundtables: their seats, what each seat said in each round, what they came to."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, Text, text
from sqlalchemy import UniqueConstraint as Unique

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long, Real

metadata = tables.metadata
LIVE = "status = 'running'"

roundtables = Table(
    "roundtables",
    metadata,
    Column("id", Key, primary_key=True),
    Column("project", Key, ForeignKey("projects.id"), nullable=False),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("question", Key, nullable=False),
    Column("number", Long, nullable=False),
    Column("rounds", Long, nullable=False),
    Column("created", Long, nullable=False),
    Column("updated", Long, nullable=False),
    Column("ordering", Text, nullable=False),
    Column("blind", Long, nullable=False),
    Column("anonymous", Long, nullable=False),
    Column("role", Text, nullable=False),
    Column("budget", Long, nullable=False),
    Column("caps", Text, nullable=False),
    Column("remarks", Text, nullable=False),
    Column("status", Key, nullable=False),
    Column("round", Long, nullable=False),
    Column("since", Long, nullable=False),
    Column("worked", Long, nullable=False),
    Column("why", Text, nullable=False),
    Column("server", Text, nullable=False),
    Index(None, "conversation", "id"),
    Index(
        "ix_roundtables_live",
        "status",
        "id",
        sqlite_where=text(LIVE),
        postgresql_where=text(LIVE),
    ),
    sqlite_strict=True,
)

roundtable_seats = Table(
    "roundtable_seats",
    metadata,
    Column("roundtable", Key, ForeignKey("roundtables.id"), primary_key=True),
    Column("label", Key, primary_key=True),
    Column("engine", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("stance", Text, nullable=False),
    Column("vendor", Text, nullable=False),
    Column("agent", Key, ForeignKey("agents.id"), nullable=False),
    Column("identity", Key, nullable=False),
    Column("standing", Text, nullable=False),
    Column("why", Text, nullable=False),
    sqlite_strict=True,
)

positions = Table(
    "positions",
    metadata,
    Column("roundtable", Key, ForeignKey("roundtables.id"), primary_key=True),
    Column("round", Long, primary_key=True),
    Column("seat", Key, primary_key=True),
    Column("standing", Text, nullable=False),
    Column("turns", Text, nullable=False),
    Column("answer", Key, nullable=True),
    Column("position", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("seen", Long, nullable=False),
    Column("chars", Long, nullable=False),
    Column("tokens", Long, nullable=False),
    Column("cost", Real, nullable=True),
    Column("heard", Long, nullable=False),
    sqlite_strict=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("key", Key, primary_key=True),
    Column("project", Key, ForeignKey("projects.id"), nullable=False),
    Column("number", Long, nullable=False),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("roundtable", Key, ForeignKey("roundtables.id"), nullable=False),
    Column("claim", Key, nullable=False),
    Column("text", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("agree", Text, nullable=False),
    Column("against", Text, nullable=False),
    Column("created", Long, nullable=False),
    Column("updated", Long, nullable=False),
    Column("standing", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Unique("project", "number"),
    Unique("roundtable", "claim"),
    Index(None, "conversation", "number"),
    sqlite_strict=True,
)
