"""What people say of jobs, which job another was made of, and the trash."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Adds the columns."""
    with op.batch_alter_table("job") as table:
        table.add_column(sa.Column("parent", sa.String(19)))
        table.add_column(sa.Column("relation", sa.String(8), nullable=False, server_default=""))
        table.add_column(sa.Column("notes", sa.Text, nullable=False, server_default=""))
        table.add_column(sa.Column("tags", sa.Text, nullable=False, server_default="[]"))
        table.add_column(sa.Column("trashed_at", sa.Integer))


def downgrade() -> None:
    """Removes them; deleted jobs are there again."""
    with op.batch_alter_table("job") as table:
        for name in ("parent", "relation", "notes", "tags", "trashed_at"):
            table.drop_column(name)
