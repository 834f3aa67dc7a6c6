"""In how many turns a message was shown."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import sqlite

revision = "0004"
down_revision = "0003"

LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("turns", LONG, nullable=False, server_default="0"))
    # A turn showed a message three times at most, and everything else showed it once.
    op.execute("UPDATE deliveries SET turns = 2 WHERE times >= 5")
    op.execute("UPDATE deliveries SET turns = 1 WHERE times < 5 AND turn != ''")
