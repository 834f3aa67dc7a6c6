"""The table of what projects make of the sections of their packs."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long

metadata = tables.metadata

usage = Table(
    "usage",
    metadata,
    Column("project", Key, ForeignKey("projects.id"), primary_key=True),
    Column("section", Key, primary_key=True),
    Column("push", Long, nullable=False),
    Column("requests", Long, nullable=False),
    Column("pushed", Long, nullable=False),
    Column("used", Long, nullable=False),
    Column("pulled", Long, nullable=False),
    Column("pushed_chars", Long, nullable=False),
    Column("pulled_chars", Long, nullable=False),
    sqlite_strict=True,
)
