"""Roles, passwords and states of users."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Adds the columns; who was administrator is it by role."""
    with op.batch_alter_table("user") as table:
        table.add_column(sa.Column("role", sa.String(14), nullable=False, server_default="viewer"))
        table.add_column(sa.Column("is_active", sa.Boolean, nullable=False, server_default=sa.true()))
        table.add_column(sa.Column("password", sa.LargeBinary(48)))
    op.execute("UPDATE user SET role = 'administrator' WHERE is_admin")
    with op.batch_alter_table("user") as table:
        table.drop_column("is_admin")


def downgrade() -> None:
    """Drops the columns."""
    with op.batch_alter_table("user") as table:
        table.add_column(sa.Column("is_admin", sa.Boolean, nullable=False, server_default=sa.false()))
    op.execute("UPDATE user SET is_admin = 1 WHERE role = 'administrator'")
    with op.batch_alter_table("user") as table:
        for name in ("role", "is_active", "password"):
            table.drop_column(name)
