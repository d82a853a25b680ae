"""What users choose for themselves: the name that is shown, and whether single letters are keys."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Adds the columns."""
    op.add_column("user", sa.Column("shown_name", sa.String(80), nullable=False, server_default=""))
    op.add_column("user", sa.Column("has_keys", sa.Boolean, nullable=False, server_default=sa.true()))


def downgrade() -> None:
    """Removes them."""
    for name in ("has_keys", "shown_name"):
        op.drop_column("user", name)
