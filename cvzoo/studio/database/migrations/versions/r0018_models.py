"""Models: uploaded files, aliases, and notes."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "model",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(19)),
    )
    op.create_table(
        "model_alias",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("model", sa.String(90), nullable=False),
        sa.Column("changed_at", sa.Integer, nullable=False),
    )
    op.create_table(
        "model_notes",
        sa.Column("model", sa.String(90), primary_key=True),
        sa.Column("notes", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """Drops them."""
    for name in ("model_notes", "model_alias", "model"):
        op.drop_table(name)
