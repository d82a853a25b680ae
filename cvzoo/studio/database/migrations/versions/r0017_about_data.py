"""What people say of data sets: their licence, and notes."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Adds the columns."""
    op.add_column("dataset", sa.Column("licence", sa.String(200), nullable=False, server_default=""))
    op.add_column("dataset", sa.Column("notes", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Drops them."""
    for name in ("licence", "notes"):
        op.drop_column("dataset", name)
