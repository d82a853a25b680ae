"""Places of jobs in the queue, and how far tasks on data sets got."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Adds the columns; jobs keep the order in which they were queued."""
    with op.batch_alter_table("job") as table:
        table.add_column(sa.Column("place", sa.Integer, nullable=False, server_default="0"))
        table.drop_index("job_state")
    op.execute(
        "UPDATE job SET place = (SELECT count(*) FROM job AS other WHERE other.queued_at < job.queued_at"
        " OR (other.queued_at = job.queued_at AND other.id <= job.id))"
    )
    op.create_index("job_state", "job", ["state", "place"])
    with op.batch_alter_table("task") as table:
        table.add_column(sa.Column("reached", sa.Integer, nullable=False, server_default="0"))


def downgrade() -> None:
    """Drops the columns."""
    with op.batch_alter_table("task") as table:
        table.drop_column("reached")
    with op.batch_alter_table("job") as table:
        table.drop_index("job_state")
        table.drop_column("place")
    op.create_index("job_state", "job", ["state", "queued_at"])
