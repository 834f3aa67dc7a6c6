"""The tables of coordination: who takes part, their inboxes, and who may use what."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Table, Text, UniqueConstraint, text

from mufakat.storage import tables
from mufakat.storage.tables import Key, Long, Real

metadata = tables.metadata
"""Of all tables, the ones of talk included."""


def _only(name: str, columns: tuple[str, ...], where: str) -> Index:
    """An index of the few rows that are still of interest, so that old ones cost nothing."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


ONLINE = "online = 1"
LIVE = "life = 'live'"
HELD = "status = 'held'"
UNREAD = "status IN ('queued', 'offered')"
OPEN = "status IN ('queued', 'offered', 'shown')"
AWAITED = "asked = 1 AND status IN ('held', 'queued', 'offered', 'shown', 'acked')"
NOT_ENDED = "ended IS NULL"
LOCKED = "locked_until IS NOT NULL"
IN_FORCE = "live = 1"
IN_FORCE_PATTERN = "live = 1 AND pattern = 1"
ACTIVE = "done = 0 OR pending != '[]'"
OFFERED = "status = 'offered'"

instances = Table(
    "instances",
    metadata,
    Column("identity", Key, primary_key=True),
    Column("instance", Text, nullable=False),
    Column("engine", Key, nullable=False),
    Column("host", Key, nullable=False),
    Column("role", Key, nullable=False),
    Column("alias", Key, nullable=False),
    Column("project", Key, ForeignKey("projects.id"), nullable=True),
    Column("agent", Key, nullable=True),
    Column("parent", Text, nullable=False),
    Column("epoch", Long, nullable=False),
    Column("session", Key, nullable=False),
    Column("pid", Long, nullable=False),
    Column("pid_start", Long, nullable=False),
    Column("boot", Text, nullable=False),
    Column("cwd", Text, nullable=False),
    Column("repository", Text, nullable=False),
    Column("created", Long, nullable=False),
    Column("seen", Long, nullable=False),
    Column("state", Text, nullable=False),
    Column("online", Long, nullable=False),
    Column("since", Long, nullable=False),
    Column("blocked_on", Text, nullable=True),
    Column("detail", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("ordinal", Long, nullable=False),
    Column("debt", Long, nullable=False),
    Column("revision", Long, nullable=False),
    Column("inbox_head", Long, nullable=False),
    Column("acked", Long, nullable=False),
    Index(None, "alias", "identity"),
    Index(None, "seen", "identity"),
    Index(None, "project", "seen", "identity"),
    Index(None, "session", "engine", "host", "created"),
    _only("ix_instances_online", ("online", "seen", "identity"), ONLINE),
    _only("ix_instances_project_online", ("project", "online", "seen", "identity"), ONLINE),
    sqlite_strict=True,
)

credentials = Table(
    "credentials",
    metadata,
    Column("digest", Key, primary_key=True),
    Column("identity", Key, ForeignKey("instances.identity"), nullable=False),
    Column("epoch", Long, nullable=False),
    Column("life", Text, nullable=False),
    Column("run", Text, nullable=False),
    Column("created", Long, nullable=False),
    _only("ix_credentials_live", ("identity",), LIVE),
    sqlite_strict=True,
)

members = Table(
    "members",
    metadata,
    Column("conversation", Key, ForeignKey("conversations.id"), primary_key=True),
    Column("identity", Key, ForeignKey("instances.identity"), primary_key=True),
    Column("cursor", Long, nullable=False),
    Index(None, "identity", "conversation"),
    sqlite_strict=True,
)

envelopes = Table(
    "envelopes",
    metadata,
    Column("message", Key, ForeignKey("messages.id"), primary_key=True),
    Column("conversation", Key, nullable=False),
    Column("sender", Key, nullable=False),
    Column("recipients", Text, nullable=False),
    Column("intent", Text, nullable=False),
    Column("priority", Long, nullable=False),
    Column("sent", Long, nullable=False),
    Column("deadline", Long, nullable=True),
    Column("expires", Long, nullable=True),
    Column("reply_to", Key, nullable=True),
    Column("refs", Text, nullable=False),
    Column("steer", Long, nullable=False),
    Column("hops", Long, nullable=False),
    Column("seal", Text, nullable=False),
    Column("watched", Long, nullable=False),
    Column("due", Long, nullable=True),
    Index(None, "sender", "sent", "message"),
    _only("ix_envelopes_due", ("due", "message"), "due IS NOT NULL"),
    sqlite_strict=True,
)
"""`due` is when somebody must look at it next; none while nothing is open."""

deliveries = Table(
    "deliveries",
    metadata,
    Column("recipient", Key, primary_key=True),
    Column("message", Key, ForeignKey("envelopes.message"), primary_key=True),
    Column("number", Long, nullable=True),
    Column("status", Text, nullable=False),
    Column("at", Long, nullable=False),
    Column("offered_until", Long, nullable=True),
    Column("offered_to", Long, nullable=False),
    Column("times", Long, nullable=False),
    Column("turn", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("asked", Long, nullable=False),
    Column("turns", Long, nullable=False),
    UniqueConstraint("recipient", "number"),
    Index(None, "message", "recipient"),
    Index(None, "status", "at", "message"),
    _only("ix_deliveries_held", ("recipient", "message"), HELD),
    _only("ix_deliveries_offered", ("status", "offered_until"), OFFERED),
    _only("ix_deliveries_open", ("recipient", "number"), OPEN),
    _only("ix_deliveries_awaited", ("recipient",), AWAITED),
    sqlite_strict=True,
)
"""`number` is empty while held; `asked` marks a request whose sender was not told yet."""

resources = Table(
    "resources",
    metadata,
    Column("resource", Key, primary_key=True),
    Column("fence", Long, nullable=False),
    sqlite_strict=True,
)
"""The newest fence of each; rows are never deleted, else a fence would come again."""

leases = Table(
    "leases",
    metadata,
    Column("id", Key, primary_key=True),
    Column("holder", Key, nullable=False),
    Column("resources", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("slots", Long, nullable=False),
    Column("ttl", Long, nullable=False),
    Column("reason", Text, nullable=False),
    Column("next_step", Text, nullable=False),
    Column("deputy", Text, nullable=False),
    Column("rank", Long, nullable=False),
    Column("fences", Text, nullable=False),
    Column("since", Long, nullable=False),
    Column("expires", Long, nullable=False),
    Column("ended", Long, nullable=True),
    Column("cause", Text, nullable=True),
    Column("claim_until", Long, nullable=True),
    Column("preempt_at", Long, nullable=True),
    Column("locked_until", Long, nullable=True),
    Column("due", Long, nullable=False),
    _only("ix_leases_open", ("since", "id"), NOT_ENDED),
    _only("ix_leases_due", ("due",), NOT_ENDED),
    _only("ix_leases_holder", ("holder", "since", "id"), NOT_ENDED),
    _only("ix_leases_locked", ("locked_until",), LOCKED),
    sqlite_strict=True,
)
"""`due` is the earliest of its ends."""

lease_resources = Table(
    "lease_resources",
    metadata,
    Column("lease", Key, ForeignKey("leases.id"), primary_key=True),
    Column("resource", Key, ForeignKey("resources.resource"), primary_key=True),
    Column("fence", Long, nullable=False),
    Column("pattern", Long, nullable=False),
    Column("live", Long, nullable=False),
    _only("ix_lease_resources_live", ("resource", "lease"), IN_FORCE),
    _only("ix_lease_resources_pattern", ("lease",), IN_FORCE_PATTERN),
    sqlite_strict=True,
)

waiters = Table(
    "waiters",
    metadata,
    Column("id", Key, primary_key=True),
    Column("number", Long, nullable=False),
    Column("holder", Key, nullable=False),
    Column("resources", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("slots", Long, nullable=False),
    Column("ttl", Long, nullable=False),
    Column("reason", Text, nullable=False),
    Column("next_step", Text, nullable=False),
    Column("deputy", Text, nullable=False),
    Column("rank", Long, nullable=False),
    Column("enqueued", Long, nullable=False),
    Column("until", Long, nullable=False),
    Index(None, "number"),
    Index(None, "until"),
    sqlite_strict=True,
)

gates = Table(
    "gates",
    metadata,
    Column("identity", Key, ForeignKey("instances.identity"), primary_key=True),
    Column("session", Key, primary_key=True),
    Column("turn", Key, primary_key=True),
    Column("blocks", Long, nullable=False),
    Column("seen", Long, nullable=False),
    Column("at", Long, nullable=False),
    sqlite_strict=True,
)

notices = Table(
    "notices",
    metadata,
    Column("project", Key, primary_key=True),
    Column("key", Key, primary_key=True),
    Column("text", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("at", Long, nullable=False),
    Column("expires", Long, nullable=False),
    Column("seal", Text, nullable=False),
    Index(None, "project", "expires"),
    sqlite_strict=True,
)

reactions = Table(
    "reactions",
    metadata,
    Column("id", Key, primary_key=True),
    Column("project", Key, nullable=False),
    Column("owner", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("states", Text, nullable=False),
    Column("seconds", Real, nullable=False),
    Column("action", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("once", Long, nullable=False),
    Column("created", Long, nullable=False),
    Column("fired", Text, nullable=False),
    Column("pending", Text, nullable=False),
    Column("done", Long, nullable=False),
    _only("ix_reactions_active", ("created", "id"), ACTIVE),
    sqlite_strict=True,
)

rooms = Table(
    "rooms",
    metadata,
    Column("project", Key, ForeignKey("projects.id"), primary_key=True),
    Column("conversation", Key, ForeignKey("conversations.id"), nullable=False),
    sqlite_strict=True,
)
