"""Jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "job",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("n_lost", sa.Integer, nullable=False),
        sa.Column("iteration", sa.Integer, nullable=False),
        sa.Column("queued_at", sa.Integer, nullable=False),
        sa.Column("changed_at", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(19)),
    )
    op.create_index("job_state", "job", ["state", "queued_at"])


def downgrade() -> None:
    """Drops the table."""
    op.drop_table("job")
