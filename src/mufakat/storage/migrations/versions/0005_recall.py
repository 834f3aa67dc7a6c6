"""Full text over what was said; it is filled from the messages once the server is up."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0005"
down_revision = "0004"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    _scopes()
    _index()


def _scopes() -> None:
    """How far each project and conversation is indexed."""
    op.create_table(
        "recall_projects",
        sa.Column("project", KEY, nullable=False),
        sa.Column("turns", LONG, nullable=False),
        sa.Column("terms", LONG, nullable=False),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_recall_projects")),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_recall_projects_project")
        ),
        sqlite_strict=True,
    )
    op.create_table(
        "recall_conversations",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("ordinal", LONG, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("talk", LONG, nullable=False),
        sa.Column("tools", LONG, nullable=False),
        sa.Column("since", LONG, nullable=False),
        sa.Column("until", LONG, nullable=False),
        sa.PrimaryKeyConstraint("conversation", name=op.f("pk_recall_conversations")),
        sa.UniqueConstraint("ordinal", name=op.f("uq_recall_conversations_ordinal")),
        sa.ForeignKeyConstraint(
            ["conversation"],
            ["conversations.id"],
            name=op.f("fk_recall_conversations_conversation"),
        ),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_recall_conversations_project_since"),
        "recall_conversations",
        ["project", "since"],
    )


def _index() -> None:
    """Who spoke, every turn, and every term with the turns that it is in."""
    op.create_table(
        "recall_speakers",
        sa.Column("project", KEY, nullable=False),
        sa.Column("speaker", KEY, nullable=False),
        sa.PrimaryKeyConstraint("project", "speaker", name=op.f("pk_recall_speakers")),
        sqlite_strict=True,
    )
    op.create_table(
        "recall_turns",
        sa.Column("turn", LONG, nullable=False, autoincrement=False),
        sa.Column("message", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("marks", LONG, nullable=False),
        sa.PrimaryKeyConstraint("turn", name=op.f("pk_recall_turns")),
        sqlite_strict=True,
    )
    op.create_table(
        "recall_terms",
        sa.Column("project", KEY, nullable=False),
        sa.Column("term", KEY, nullable=False),
        sa.Column("segment", LONG, nullable=False),
        sa.Column("entries", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("project", "term", "segment", name=op.f("pk_recall_terms")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
