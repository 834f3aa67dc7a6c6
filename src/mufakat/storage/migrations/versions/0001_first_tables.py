"""The tables of the first release."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0001"
down_revision = None

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def upgrade() -> None:
    _events()
    _head()
    _keys()
    _projects()
    _texts()
    _conversations()
    _agents()
    _messages()
    _packs()
    _speakers()
    _sessions()
    _turns()
    _turns_indexes()


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("revision", LONG, autoincrement=False, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", KEY, nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("revision", name=op.f("pk_events")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_events_subject_revision"), "events", ["subject", "revision"], unique=False
    )


def _head() -> None:
    op.create_table(
        "head",
        sa.Column("id", LONG, autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Text(), nullable=False),
        sa.Column("generation", LONG, nullable=False),
        sa.Column("revision", LONG, nullable=False),
        sa.Column("hwm", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_head")),
        sqlite_strict=True,
    )


def _keys() -> None:
    op.create_table(
        "keys",
        sa.Column("key", KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_keys")),
        sqlite_strict=True,
    )


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", KEY, nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("path", name=op.f("uq_projects_path")),
        sqlite_strict=True,
    )


def _texts() -> None:
    op.create_table(
        "texts",
        sa.Column("digest", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_texts")),
        sqlite_strict=True,
    )


def _conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("fence", sa.Text(), nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("updated", LONG, nullable=False),
        sa.Column("messages", LONG, nullable=False),
        sa.Column("talk", LONG, nullable=False),
        sa.Column("chars", LONG, nullable=False),
        sa.Column("window_start", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["project"], ["projects.id"], name=op.f("fk_conversations_project")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_conversations_project_id"), "conversations", ["project", "id"], unique=False
    )


def _agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("identity", KEY, nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_agents_conversation")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint(
            "conversation",
            "engine",
            "role",
            "persona",
            name=op.f("uq_agents_conversation_engine_role_persona"),
        ),
        sa.UniqueConstraint("identity", name=op.f("uq_agents_identity")),
        sqlite_strict=True,
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("kind", KEY, nullable=False),
        sa.Column("speaker", sa.Text(), nullable=False),
        sa.Column("chars", LONG, nullable=False),
        sa.Column("tokens", LONG, nullable=False),
        sa.Column("secrets", sa.Text(), nullable=False),
        sa.Column("pair", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("turn", KEY, nullable=True),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.Column("ends", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_messages_conversation")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
        sa.UniqueConstraint("conversation", "number", name=op.f("uq_messages_conversation_number")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_messages_conversation_kind_number"),
        "messages",
        ["conversation", "kind", "number"],
        unique=False,
    )


def _packs() -> None:
    op.create_table(
        "packs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("turn", KEY, nullable=True),
        sa.Column("agent", KEY, nullable=True),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("resumed", LONG, nullable=False),
        sa.Column("resume_why", sa.Text(), nullable=False),
        sa.Column("sent", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("instructions", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("receipt", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_packs_conversation")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_packs")),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_packs_conversation_id"), "packs", ["conversation", "id"], unique=False)


def _speakers() -> None:
    op.create_table(
        "speakers",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("speaker", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_speakers_conversation")
        ),
        sa.PrimaryKeyConstraint("conversation", "speaker", name=op.f("pk_speakers")),
        sqlite_strict=True,
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("agent", KEY, nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("cwd", sa.Text(), nullable=False),
        sa.Column("branch", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("told", sa.Text(), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("running_total", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["agent"], ["agents.id"], name=op.f("fk_sessions_agent")),
        sa.PrimaryKeyConstraint("agent", name=op.f("pk_sessions")),
        sqlite_strict=True,
    )


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("agent", KEY, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("persona", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("prompt", KEY, nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("started", LONG, nullable=True),
        sa.Column("ended", LONG, nullable=True),
        sa.Column("pack", KEY, nullable=True),
        sa.Column("answer", KEY, nullable=True),
        sa.Column("fresh", LONG, nullable=False),
        sa.Column("cache_read", LONG, nullable=False),
        sa.Column("cache_write", LONG, nullable=False),
        sa.Column("output", LONG, nullable=False),
        sa.Column("cost", REAL, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["agent"], ["agents.id"], name=op.f("fk_turns_agent")),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_turns_conversation")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sqlite_strict=True,
    )


def _turns_indexes() -> None:
    op.create_index(op.f("ix_turns_conversation_id"), "turns", ["conversation", "id"], unique=False)
    op.create_index(
        op.f("ix_turns_unfinished"),
        "turns",
        ["id"],
        unique=False,
        sqlite_where=sa.text("status IN ('queued', 'running')"),
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
