"""Deleted data sets and uploaded models, which can be restored."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Adds the columns."""
    for table in ("dataset", "model"):
        op.add_column(table, sa.Column("trashed_at", sa.Integer))
    op.add_column("dataset", sa.Column("trashed_name", sa.String(120), nullable=False, server_default=""))


def downgrade() -> None:
    """Drops them; what was deleted is deleted for good, as an older program would show it."""
    op.drop_column("dataset", "trashed_name")
    for table in ("dataset", "model"):
        op.execute(f"DELETE FROM {table} WHERE trashed_at IS NOT NULL")
        op.drop_column(table, "trashed_at")
