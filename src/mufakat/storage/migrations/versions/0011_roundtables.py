"""Roundtables: seats, positions by round, and the decisions that tables came to."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0011"
down_revision = "0010"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
LIVE = "status = 'running'"


def upgrade() -> None:
    _roundtables()
    _seats()
    _positions()
    _decisions()


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _keys(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, KEY, nullable=False) for name in names]


def _longs(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, LONG, nullable=False) for name in names]


def _belongs(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))


def _roundtables() -> None:
    op.create_table(
        "roundtables",
        *_keys("id", "project", "conversation", "question"),
        *_longs("number", "rounds", "created", "updated"),
        *_text("ordering"),
        *_longs("blind", "anonymous"),
        *_text("role"),
        *_longs("budget"),
        *_text("caps", "remarks"),
        *_keys("status"),
        *_longs("round", "since", "worked"),
        *_text("why", "server"),
        _belongs("roundtables", "project", "projects"),
        _belongs("roundtables", "conversation", "conversations"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_roundtables")),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_roundtables_conversation_id"), "roundtables", ["conversation", "id"])
    op.create_index(
        "ix_roundtables_live",
        "roundtables",
        ["status", "id"],
        sqlite_where=sa.text(LIVE),
        postgresql_where=sa.text(LIVE),
    )


def _seats() -> None:
    op.create_table(
        "roundtable_seats",
        *_keys("roundtable", "label"),
        *_text("engine", "model", "stance", "vendor"),
        *_keys("agent", "identity"),
        *_text("standing", "why"),
        _belongs("roundtable_seats", "roundtable", "roundtables"),
        _belongs("roundtable_seats", "agent", "agents"),
        sa.PrimaryKeyConstraint("roundtable", "label", name=op.f("pk_roundtable_seats")),
        sqlite_strict=True,
    )


def _positions() -> None:
    op.create_table(
        "positions",
        *_keys("roundtable"),
        *_longs("round"),
        *_keys("seat"),
        *_text("standing", "turns"),
        sa.Column("answer", KEY, nullable=True),
        *_text("position", "problem"),
        *_longs("seen", "chars", "tokens"),
        sa.Column("cost", sa.Double().with_variant(sqlite.REAL(), "sqlite"), nullable=True),
        *_longs("heard"),
        _belongs("positions", "roundtable", "roundtables"),
        sa.PrimaryKeyConstraint("roundtable", "round", "seat", name=op.f("pk_positions")),
        sqlite_strict=True,
    )


def _decisions() -> None:
    op.create_table(
        "decisions",
        *_keys("key", "project"),
        *_longs("number"),
        *_keys("conversation", "roundtable", "claim"),
        *_text("text", "outcome", "agree", "against"),
        *_longs("created", "updated"),
        *_text("standing", "reason", "seal"),
        _belongs("decisions", "project", "projects"),
        _belongs("decisions", "conversation", "conversations"),
        _belongs("decisions", "roundtable", "roundtables"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_decisions")),
        sa.UniqueConstraint("project", "number", name=op.f("uq_decisions_project_number")),
        sa.UniqueConstraint("roundtable", "claim", name=op.f("uq_decisions_roundtable_claim")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_decisions_conversation_number"), "decisions", ["conversation", "number"]
    )
