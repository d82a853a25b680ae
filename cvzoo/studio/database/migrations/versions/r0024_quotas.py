"""Limits of what users' jobs take."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Adds the column."""
    with op.batch_alter_table("user") as table:
        table.add_column(sa.Column("quota", sa.Text, nullable=False, server_default="{}"))


def downgrade() -> None:
    """Removes it."""
    with op.batch_alter_table("user") as table:
        table.drop_column("quota")
