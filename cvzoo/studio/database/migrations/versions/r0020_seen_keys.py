"""Answers to requests that were named by a key, for those that are sent twice."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "seen_key",
        sa.Column("user", sa.String(19), sa.ForeignKey("user.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(80), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Integer, nullable=False),
    )
    op.create_index("seen_key_expires", "seen_key", ["expires_at"])


def downgrade() -> None:
    """Removes it."""
    op.drop_table("seen_key")
