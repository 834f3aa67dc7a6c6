"""Vectors of what was said, for those who set a model; it is filled once the server is up."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0009"
down_revision = "0008"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "recall_embedded",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("ordinal", LONG, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("talk", LONG, nullable=False),
        sa.PrimaryKeyConstraint("conversation", name=op.f("pk_recall_embedded")),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_recall_embedded_conversation")
        ),
        sqlite_strict=True,
    )
    op.create_table(
        "recall_vectors",
        sa.Column("turn", LONG, nullable=False, autoincrement=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dims", LONG, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("turn", name=op.f("pk_recall_vectors")),
        sqlite_strict=True,
    )
