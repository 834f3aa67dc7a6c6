"""Branches: conversations that go their own way from a message of another."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0010"
down_revision = "0009"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "branches",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("parent", KEY, nullable=False),
        sa.Column("checkpoint", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("depth", LONG, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("author", KEY, nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("changed", LONG, nullable=False),
        sa.Column("status", KEY, nullable=False),
        sa.Column("summary", KEY, nullable=False),
        sa.Column("summary_number", LONG, nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        *(_refers(name, to) for name, to in REFERENCES.items()),
        sa.PrimaryKeyConstraint("conversation", name=op.f("pk_branches")),
        sqlite_strict=True,
    )
    for first in ("parent", "project"):
        name = op.f(f"ix_branches_{first}_conversation")
        op.create_index(name, "branches", [first, "conversation"], unique=False)


REFERENCES = {
    "conversation": "conversations.id",
    "parent": "conversations.id",
    "checkpoint": "messages.id",
    "project": "projects.id",
}


def _refers(column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=op.f(f"fk_branches_{column}"))
