"""How often what was told or offered was used."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql, sqlite

revision = "0008"
down_revision = "0007"

KEY = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
LONG = sa.BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "usage",
        sa.Column("project", KEY, nullable=False),
        sa.Column("section", KEY, nullable=False),
        sa.Column("push", LONG, nullable=False),
        sa.Column("requests", LONG, nullable=False),
        sa.Column("pushed", LONG, nullable=False),
        sa.Column("used", LONG, nullable=False),
        sa.Column("pulled", LONG, nullable=False),
        sa.Column("pushed_chars", LONG, nullable=False),
        sa.Column("pulled_chars", LONG, nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.id"], name=op.f("fk_usage_project")),
        sa.PrimaryKeyConstraint("project", "section", name=op.f("pk_usage")),
        sqlite_strict=True,
    )
