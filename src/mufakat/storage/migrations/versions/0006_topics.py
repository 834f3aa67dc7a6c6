"""Topics that older messages were condensed to."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0006"
down_revision = "0005"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def upgrade() -> None:
    _topics()
    _lines()
    _indexes()


def _topics() -> None:
    op.create_table(
        "topics",
        sa.Column("key", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("first", LONG, nullable=False),
        sa.Column("last", LONG, nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("updated", LONG, nullable=False),
        sa.Column("revoked", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_topics_conversation")
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_topics")),
        sa.UniqueConstraint("conversation", "number", name=op.f("uq_topics_conversation_number")),
        sqlite_strict=True,
    )


def _lines() -> None:
    op.create_table(
        "topic_lines",
        sa.Column("key", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("topic", LONG, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("worth", REAL, nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("supersedes", sa.Text(), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=False),
        sa.Column("revoked", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.Column("rank", LONG, nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation", "topic"],
            ["topics.conversation", "topics.number"],
            name=op.f("fk_topic_lines_conversation_topic"),
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_topic_lines")),
        sa.UniqueConstraint(
            "conversation", "topic", "number", name=op.f("uq_topic_lines_conversation_topic_number")
        ),
        sqlite_strict=True,
    )


def _indexes() -> None:
    live = "revoked = '' AND superseded_by = ''"
    _partial("ix_topic_lines_live", ["conversation", "worth", "topic", "number"], where=live)
    _partial("ix_topic_lines_taken", ["conversation", "topic", "number"], where="revoked != ''")
    _partial("ix_topic_lines_ranked", ["conversation", "rank"], where="rank > 0")


def _partial(name: str, columns: list[str], *, where: str) -> None:
    op.create_index(
        name,
        "topic_lines",
        columns,
        unique=False,
        sqlite_where=sa.text(where),
        postgresql_where=sa.text(where),
    )
