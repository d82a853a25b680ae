"""What models propose for images."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "suggestion",
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("job", sa.String(19), primary_key=True),
        sa.Column("model", sa.String(90), nullable=False),
        sa.Column("objects", sa.Text, nullable=False),
        sa.Column("score", sa.Float, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("by", sa.String(19)),
        sa.Column("at", sa.Integer, nullable=False),
    )
    op.create_index("suggestion_state", "suggestion", ["dataset", "state", "ordinal"])


def downgrade() -> None:
    """Removes it."""
    op.drop_table("suggestion")
