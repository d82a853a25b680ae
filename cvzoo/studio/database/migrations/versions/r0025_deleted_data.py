"""Deleted data sets, which can be restored."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Adds the columns."""
    op.add_column("dataset", sa.Column("trashed_at", sa.Integer))
    op.add_column("dataset", sa.Column("trashed_name", sa.String(120), nullable=False, server_default=""))


def downgrade() -> None:
    """Drops them; what was deleted is deleted for good, as an older program would show it."""
    op.execute("DELETE FROM dataset WHERE trashed_at IS NOT NULL")
    for name in ("trashed_at", "trashed_name"):
        op.drop_column("dataset", name)
