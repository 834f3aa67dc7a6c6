"""Notes on documents, consent to skills, links between conversations, sessions taken over."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0007"
down_revision = "0006"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    _consents()
    _notes()
    _links()
    _imports()


def _consents() -> None:
    op.create_table(
        "consents",
        sa.Column("project", KEY, nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("author", KEY, nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_consents_project")),
        sa.PrimaryKeyConstraint("project", "name", name=op.f("pk_consents")),
        sqlite_strict=True,
    )


def _notes() -> None:
    op.create_table(
        "notes",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("document", KEY, nullable=False),
        sa.Column("author", KEY, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_notes_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_notes_project_document_id"), "notes", ["project", "document", "id"], unique=False
    )


def _links() -> None:
    op.create_table(
        "links",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("other", KEY, nullable=False),
        sa.Column("author", KEY, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_links_conversation")
        ),
        sa.ForeignKeyConstraint(["other"], ["conversations.id"], name=op.f("fk_links_other")),
        sa.PrimaryKeyConstraint("conversation", "other", name=op.f("pk_links")),
        sqlite_strict=True,
    )


def _imports() -> None:
    op.create_table(
        "imports",
        sa.Column("project", KEY, nullable=False),
        sa.Column("engine", KEY, nullable=False),
        sa.Column("session", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("turns", LONG, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_imports_project")),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_imports_conversation")
        ),
        sa.PrimaryKeyConstraint("project", "engine", "session", name=op.f("pk_imports")),
        sqlite_strict=True,
    )
