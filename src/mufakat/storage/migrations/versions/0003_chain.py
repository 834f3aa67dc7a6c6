"""A chain over the event log, and cursors of readers that outlive a restart."""

import hashlib

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0003"
down_revision = "0002"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
BATCH = 1_000


def upgrade() -> None:
    for table in ("events", "head"):
        op.add_column(table, sa.Column("chain", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "cursors",
        sa.Column("name", KEY, nullable=False),
        sa.Column("position", LONG, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_cursors")),
        sqlite_strict=True,
    )
    _chain()


def _chain() -> None:
    """Link the events that there are."""
    connection = op.get_bind()
    page = sa.text(
        "SELECT revision, seal FROM events WHERE revision > :at ORDER BY revision LIMIT :n"
    )
    link = sa.text("UPDATE events SET chain = :chain WHERE revision = :revision")
    at, chain = 0, ""
    while rows := connection.execute(page, {"at": at, "n": BATCH}).all():
        linked = []
        for at, seal in rows:
            chain = hashlib.sha256((chain + seal).encode()).hexdigest()
            linked.append({"revision": at, "chain": chain})
        connection.execute(link, linked)
    connection.execute(sa.text("UPDATE head SET chain = :chain"), {"chain": chain})
