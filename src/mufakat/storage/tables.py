"""The tables of the store, once for every database it runs on."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Key: TypeEngine[str] = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that is compared byte by byte, so that ids sort alike in every database."""
Long: TypeEngine[int] = BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
Real: TypeEngine[float] = Double().with_variant(sqlite.REAL(), "sqlite")

head = Table(
    "head",
    metadata,
    Column("id", Long, primary_key=True, autoincrement=False),
    Column("epoch", Text, nullable=False),
    Column("generation", Long, nullable=False),
    Column("revision", Long, nullable=False),
    Column("hwm", Long, nullable=False),
    Column("chain", Text, nullable=False),
    sqlite_strict=True,
)

projects = Table(
    "projects",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", Text, nullable=False),
    Column("path", Key, nullable=False, unique=True),
    Column("created", Long, nullable=False),
    sqlite_strict=True,
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Key, primary_key=True),
    Column("project", Key, ForeignKey("projects.id"), nullable=False),
    Column("title", Text, nullable=False),
    Column("fence", Text, nullable=False),
    Column("created", Long, nullable=False),
    Column("updated", Long, nullable=False),
    Column("messages", Long, nullable=False),
    Column("talk", Long, nullable=False),
    Column("chars", Long, nullable=False),
    Column("window_start", Long, nullable=False),
    Index(None, "project", "id"),
    sqlite_strict=True,
)

messages = Table(
    "messages",
    metadata,
    Column("id", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("number", Long, nullable=False),
    Column("at", Long, nullable=False),
    Column("kind", Key, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("chars", Long, nullable=False),
    Column("tokens", Long, nullable=False),
    Column("secrets", Text, nullable=False),
    Column("pair", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("turn", Key, nullable=True),
    Column("digest", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Column("ends", Text, nullable=False),
    Column("text", Text, nullable=False),
    UniqueConstraint("conversation", "number"),
    Index(None, "conversation", "kind", "number"),
    sqlite_strict=True,
)

speakers = Table(
    "speakers",
    metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("speaker", Key, primary_key=True),
    Column("number", Long, nullable=False),
    sqlite_strict=True,
)

agents = Table(
    "agents",
    metadata,
    Column("id", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("identity", Key, nullable=False, unique=True),
    Column("engine", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("persona", Text, nullable=False),
    Column("created", Long, nullable=False),
    UniqueConstraint("conversation", "engine", "role", "persona"),
    sqlite_strict=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("agent", Key, ForeignKey("agents.id"), primary_key=True),
    Column("engine", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("cwd", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("head", Text, nullable=False),
    Column("told", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("running_total", Text, nullable=False),
    sqlite_strict=True,
)

turns = Table(
    "turns",
    metadata,
    Column("id", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("agent", Key, ForeignKey("agents.id"), nullable=False),
    Column("identity", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("persona", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("prompt", Key, nullable=False),
    Column("created", Long, nullable=False),
    Column("started", Long, nullable=True),
    Column("ended", Long, nullable=True),
    Column("pack", Key, nullable=True),
    Column("answer", Key, nullable=True),
    Column("fresh", Long, nullable=False),
    Column("cache_read", Long, nullable=False),
    Column("cache_write", Long, nullable=False),
    Column("output", Long, nullable=False),
    Column("cost", Real, nullable=True),
    Column("failure", Text, nullable=True),
    Column("message", Text, nullable=False),
    Column("process", Text, nullable=False),
    Column("options", Text, nullable=False),
    Index(None, "conversation", "id"),
    Index(
        "ix_turns_unfinished",
        "id",
        sqlite_where=text("status IN ('queued', 'running')"),
        postgresql_where=text("status IN ('queued', 'running')"),
    ),
    sqlite_strict=True,
)

packs = Table(
    "packs",
    metadata,
    Column("id", Key, primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    Column("turn", Key, nullable=True),
    Column("agent", Key, nullable=True),
    Column("identity", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("created", Long, nullable=False),
    Column("form", Text, nullable=False),
    Column("resumed", Long, nullable=False),
    Column("resume_why", Text, nullable=False),
    Column("sent", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("instructions", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("receipt", Text, nullable=False),
    Index(None, "conversation", "id"),
    sqlite_strict=True,
)

texts = Table(
    "texts",
    metadata,
    Column("digest", Key, primary_key=True),
    Column("text", Text, nullable=False),
    sqlite_strict=True,
)

events = Table(
    "events",
    metadata,
    Column("revision", Long, primary_key=True, autoincrement=False),
    Column("at", Long, nullable=False),
    Column("kind", Text, nullable=False),
    Column("subject", Key, nullable=False),
    Column("data", Text, nullable=False),
    Column("seal", Text, nullable=False),
    Column("chain", Text, nullable=False),
    Index(None, "subject", "revision"),
    sqlite_strict=True,
)

keys = Table(
    "keys",
    metadata,
    Column("key", Key, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("result", Text, nullable=False),
    Column("at", Long, nullable=False),
    sqlite_strict=True,
)

cursors = Table(
    "cursors",
    metadata,
    Column("name", Key, primary_key=True),
    Column("position", Long, nullable=False),
    sqlite_strict=True,
)
