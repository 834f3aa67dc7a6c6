"""The tables of coordination: instances, inboxes, leases and waiting."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0002"
down_revision = "0001"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
REAL: sa.types.TypeEngine[float] = sa.Double().with_variant(sqlite.REAL(), "sqlite")


def upgrade() -> None:
    _instances()
    _instances_indexes()
    _credentials()
    _members()
    _envelopes()
    _deliveries()
    _deliveries_indexes()
    _resources()
    _leases()
    _leases_indexes()
    _lease_resources()
    _waiters()
    _gates()
    _notices()
    _reactions()
    _rooms()


def _instances() -> None:
    op.create_table(
        "instances",
        sa.Column("identity", KEY, nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("engine", KEY, nullable=False),
        sa.Column("host", KEY, nullable=False),
        sa.Column("role", KEY, nullable=False),
        sa.Column("alias", KEY, nullable=False),
        sa.Column("project", KEY, nullable=True),
        sa.Column("agent", KEY, nullable=True),
        sa.Column("parent", sa.Text(), nullable=False),
        sa.Column("epoch", LONG, nullable=False),
        sa.Column("session", KEY, nullable=False),
        sa.Column("pid", LONG, nullable=False),
        sa.Column("pid_start", LONG, nullable=False),
        sa.Column("boot", sa.Text(), nullable=False),
        sa.Column("cwd", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("seen", LONG, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("online", LONG, nullable=False),
        sa.Column("since", LONG, nullable=False),
        sa.Column("blocked_on", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("ordinal", LONG, nullable=False),
        sa.Column("debt", LONG, nullable=False),
        sa.Column("revision", LONG, nullable=False),
        sa.Column("inbox_head", LONG, nullable=False),
        sa.Column("acked", LONG, nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_instances_project")),
        sa.PrimaryKeyConstraint("identity", name=op.f("pk_instances")),
        sqlite_strict=True,
    )


def _instances_indexes() -> None:
    op.create_index(
        op.f("ix_instances_alias_identity"), "instances", ["alias", "identity"], unique=False
    )
    _partial("ix_instances_online", "instances", ["online", "seen", "identity"], where="online = 1")
    _partial(
        "ix_instances_project_online",
        "instances",
        ["project", "online", "seen", "identity"],
        where="online = 1",
    )
    op.create_index(
        op.f("ix_instances_project_seen_identity"),
        "instances",
        ["project", "seen", "identity"],
        unique=False,
    )
    op.create_index(
        op.f("ix_instances_seen_identity"), "instances", ["seen", "identity"], unique=False
    )
    op.create_index(
        op.f("ix_instances_session_engine_host_created"),
        "instances",
        ["session", "engine", "host", "created"],
        unique=False,
    )


def _credentials() -> None:
    op.create_table(
        "credentials",
        sa.Column("digest", KEY, nullable=False),
        sa.Column("identity", KEY, nullable=False),
        sa.Column("epoch", LONG, nullable=False),
        sa.Column("life", sa.Text(), nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["identity"], ["instances.identity"], name=op.f("fk_credentials_identity")
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_credentials")),
        sqlite_strict=True,
    )
    _partial("ix_credentials_live", "credentials", ["identity"], where="life = 'live'")


def _members() -> None:
    op.create_table(
        "members",
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("identity", KEY, nullable=False),
        sa.Column("cursor", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_members_conversation")
        ),
        sa.ForeignKeyConstraint(
            ["identity"], ["instances.identity"], name=op.f("fk_members_identity")
        ),
        sa.PrimaryKeyConstraint("conversation", "identity", name=op.f("pk_members")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_members_identity_conversation"),
        "members",
        ["identity", "conversation"],
        unique=False,
    )


def _envelopes() -> None:
    op.create_table(
        "envelopes",
        sa.Column("message", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.Column("sender", KEY, nullable=False),
        sa.Column("recipients", sa.Text(), nullable=False),
        sa.Column("intent", sa.Text(), nullable=False),
        sa.Column("priority", LONG, nullable=False),
        sa.Column("sent", LONG, nullable=False),
        sa.Column("deadline", LONG, nullable=True),
        sa.Column("expires", LONG, nullable=True),
        sa.Column("reply_to", KEY, nullable=True),
        sa.Column("refs", sa.Text(), nullable=False),
        sa.Column("steer", LONG, nullable=False),
        sa.Column("hops", LONG, nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.Column("watched", LONG, nullable=False),
        sa.Column("due", LONG, nullable=True),
        sa.ForeignKeyConstraint(["message"], ["messages.id"], name=op.f("fk_envelopes_message")),
        sa.PrimaryKeyConstraint("message", name=op.f("pk_envelopes")),
        sqlite_strict=True,
    )
    _partial("ix_envelopes_due", "envelopes", ["due", "message"], where="due IS NOT NULL")
    op.create_index(
        op.f("ix_envelopes_sender_sent_message"),
        "envelopes",
        ["sender", "sent", "message"],
        unique=False,
    )


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("recipient", KEY, nullable=False),
        sa.Column("message", KEY, nullable=False),
        sa.Column("number", LONG, nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("offered_until", LONG, nullable=True),
        sa.Column("offered_to", LONG, nullable=False),
        sa.Column("times", LONG, nullable=False),
        sa.Column("turn", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("asked", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["message"], ["envelopes.message"], name=op.f("fk_deliveries_message")
        ),
        sa.PrimaryKeyConstraint("recipient", "message", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("recipient", "number", name=op.f("uq_deliveries_recipient_number")),
        sqlite_strict=True,
    )


def _deliveries_indexes() -> None:
    _partial(
        "ix_deliveries_awaited",
        "deliveries",
        ["recipient"],
        where="asked = 1 AND status IN ('held', 'queued', 'offered', 'shown', 'acked')",
    )
    _partial("ix_deliveries_held", "deliveries", ["recipient", "message"], where="status = 'held'")
    op.create_index(
        op.f("ix_deliveries_message_recipient"),
        "deliveries",
        ["message", "recipient"],
        unique=False,
    )
    _partial(
        "ix_deliveries_offered",
        "deliveries",
        ["status", "offered_until"],
        where="status = 'offered'",
    )
    _partial(
        "ix_deliveries_open",
        "deliveries",
        ["recipient", "number"],
        where="status IN ('queued', 'offered', 'shown')",
    )
    op.create_index(
        op.f("ix_deliveries_status_at_message"),
        "deliveries",
        ["status", "at", "message"],
        unique=False,
    )


def _resources() -> None:
    op.create_table(
        "resources",
        sa.Column("resource", KEY, nullable=False),
        sa.Column("fence", LONG, nullable=False),
        sa.PrimaryKeyConstraint("resource", name=op.f("pk_resources")),
        sqlite_strict=True,
    )


def _leases() -> None:
    op.create_table(
        "leases",
        sa.Column("id", KEY, nullable=False),
        sa.Column("holder", KEY, nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("slots", LONG, nullable=False),
        sa.Column("ttl", LONG, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("next_step", sa.Text(), nullable=False),
        sa.Column("deputy", sa.Text(), nullable=False),
        sa.Column("rank", LONG, nullable=False),
        sa.Column("fences", sa.Text(), nullable=False),
        sa.Column("since", LONG, nullable=False),
        sa.Column("expires", LONG, nullable=False),
        sa.Column("ended", LONG, nullable=True),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("claim_until", LONG, nullable=True),
        sa.Column("preempt_at", LONG, nullable=True),
        sa.Column("locked_until", LONG, nullable=True),
        sa.Column("due", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leases")),
        sqlite_strict=True,
    )


def _leases_indexes() -> None:
    _partial("ix_leases_due", "leases", ["due"], where="ended IS NULL")
    _partial("ix_leases_holder", "leases", ["holder", "since", "id"], where="ended IS NULL")
    _partial("ix_leases_locked", "leases", ["locked_until"], where="locked_until IS NOT NULL")
    _partial("ix_leases_open", "leases", ["since", "id"], where="ended IS NULL")


def _lease_resources() -> None:
    op.create_table(
        "lease_resources",
        sa.Column("lease", KEY, nullable=False),
        sa.Column("resource", KEY, nullable=False),
        sa.Column("fence", LONG, nullable=False),
        sa.Column("pattern", LONG, nullable=False),
        sa.Column("live", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["resource"], ["resources.resource"], name=op.f("fk_lease_resources_resource")
        ),
        sa.ForeignKeyConstraint(["lease"], ["leases.id"], name=op.f("fk_lease_resources_lease")),
        sa.PrimaryKeyConstraint("lease", "resource", name=op.f("pk_lease_resources")),
        sqlite_strict=True,
    )
    _partial("ix_lease_resources_live", "lease_resources", ["resource", "lease"], where="live = 1")
    _partial(
        "ix_lease_resources_pattern", "lease_resources", ["lease"], where="live = 1 AND pattern = 1"
    )


def _waiters() -> None:
    op.create_table(
        "waiters",
        sa.Column("id", KEY, nullable=False),
        sa.Column("number", LONG, nullable=False),
        sa.Column("holder", KEY, nullable=False),
        sa.Column("resources", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("slots", LONG, nullable=False),
        sa.Column("ttl", LONG, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("next_step", sa.Text(), nullable=False),
        sa.Column("deputy", sa.Text(), nullable=False),
        sa.Column("rank", LONG, nullable=False),
        sa.Column("enqueued", LONG, nullable=False),
        sa.Column("until", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waiters")),
        sqlite_strict=True,
    )
    op.create_index(op.f("ix_waiters_number"), "waiters", ["number"], unique=False)
    op.create_index(op.f("ix_waiters_until"), "waiters", ["until"], unique=False)


def _gates() -> None:
    op.create_table(
        "gates",
        sa.Column("identity", KEY, nullable=False),
        sa.Column("session", KEY, nullable=False),
        sa.Column("turn", KEY, nullable=False),
        sa.Column("blocks", LONG, nullable=False),
        sa.Column("seen", LONG, nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.ForeignKeyConstraint(
            ["identity"], ["instances.identity"], name=op.f("fk_gates_identity")
        ),
        sa.PrimaryKeyConstraint("identity", "session", "turn", name=op.f("pk_gates")),
        sqlite_strict=True,
    )


def _notices() -> None:
    op.create_table(
        "notices",
        sa.Column("project", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", LONG, nullable=False),
        sa.Column("expires", LONG, nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project", "key", name=op.f("pk_notices")),
        sqlite_strict=True,
    )
    op.create_index(
        op.f("ix_notices_project_expires"), "notices", ["project", "expires"], unique=False
    )


def _reactions() -> None:
    op.create_table(
        "reactions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("project", KEY, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("states", sa.Text(), nullable=False),
        sa.Column("seconds", REAL, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("once", LONG, nullable=False),
        sa.Column("created", LONG, nullable=False),
        sa.Column("fired", sa.Text(), nullable=False),
        sa.Column("pending", sa.Text(), nullable=False),
        sa.Column("done", LONG, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reactions")),
        sqlite_strict=True,
    )
    _partial(
        "ix_reactions_active", "reactions", ["created", "id"], where="done = 0 OR pending != '[]'"
    )


def _rooms() -> None:
    op.create_table(
        "rooms",
        sa.Column("project", KEY, nullable=False),
        sa.Column("conversation", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], name=op.f("fk_rooms_conversation")
        ),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_rooms_project")),
        sa.PrimaryKeyConstraint("project", name=op.f("pk_rooms")),
        sqlite_strict=True,
    )


def _partial(name: str, table: str, columns: list[str], *, where: str) -> None:
    only = sa.text(where)
    op.create_index(
        op.f(name), table, columns, unique=False, sqlite_where=only, postgresql_where=only
    )
