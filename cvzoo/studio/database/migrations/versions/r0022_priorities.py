"""Priorities of jobs, jobs and queues that are held, and settings of the server."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Adds the columns and the table."""
    with op.batch_alter_table("job") as table:
        table.add_column(sa.Column("priority", sa.Integer, nullable=False, server_default="5"))
        table.add_column(sa.Column("is_held", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_table(
        "setting", sa.Column("name", sa.String(40), primary_key=True), sa.Column("value", sa.Text, nullable=False)
    )


def downgrade() -> None:
    """Removes them; drafts become stopped jobs."""
    op.execute("UPDATE job SET state = 'stopped' WHERE state = 'draft'")
    op.drop_table("setting")
    with op.batch_alter_table("job") as table:
        table.drop_column("priority")
        table.drop_column("is_held")
