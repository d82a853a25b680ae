"""Colors of classes."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Adds the column."""
    op.add_column("dataset", sa.Column("colors", sa.Text, nullable=False, server_default="{}"))


def downgrade() -> None:
    """Drops it."""
    op.drop_column("dataset", "colors")
