"""Why jobs ended."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Adds the column."""
    with op.batch_alter_table("job") as table:
        table.add_column(sa.Column("outcome", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Removes it."""
    with op.batch_alter_table("job") as table:
        table.drop_column("outcome")
