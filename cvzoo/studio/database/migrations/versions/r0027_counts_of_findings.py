"""Findings are counted in an index."""

from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Adds the index."""
    op.create_index("finding_kind", "finding", ["dataset", "severity", "state", "kind"])


def downgrade() -> None:
    """Removes it."""
    op.drop_index("finding_kind", "finding")
