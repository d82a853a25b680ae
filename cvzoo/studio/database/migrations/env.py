"""Alembic's environment: migrations run on the connection that `migrate` passes."""

from alembic import context

from cvzoo.studio.database.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
context.run_migrations()
