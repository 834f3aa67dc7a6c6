"""The tables of vectors of what was said: derived from the index and a model, made again anew."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, LargeBinary, Table, Text

from mufakat.storage import tables
from mufakat.storage.recall_tables import DERIVED
from mufakat.storage.tables import Key, Long

recall_embedded = Table(
    "recall_embedded",
    tables.metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("ordinal", Long, nullable=False),
    Column("model", Text, nullable=False),
    Column("talk", Long, nullable=False),
    sqlite_strict=True,
    info={DERIVED: True},
)

recall_vectors = Table(
    "recall_vectors",
    tables.metadata,
    Column("turn", Long, primary_key=True, autoincrement=False),
    Column("model", Text, nullable=False),
    Column("dims", Long, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    sqlite_strict=True,
    info={DERIVED: True},
)
