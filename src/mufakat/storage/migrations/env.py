"""How Alembic runs here: always inside the transaction of the connection it is handed."""

from alembic import context

from mufakat.storage import coordination_tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=coordination_tables.metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
