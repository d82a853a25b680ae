"""Finds rows of images that ended between two revisions without a look at all others: of what versions differ in."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Adds the index."""
    op.create_index("item_ended", "item", ["dataset", "last_rev"], sqlite_where=sa.text("last_rev IS NOT NULL"))


def downgrade() -> None:
    """Removes it."""
    op.drop_index("item_ended", "item")
