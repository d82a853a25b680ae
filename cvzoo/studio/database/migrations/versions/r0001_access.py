"""Users, one-time links, sessions, tokens and the audit."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Creates the tables."""

    op.create_table(
        "user",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("name", sa.String(80), unique=True, nullable=False),
        sa.Column("is_admin", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
    )
    op.create_table(
        "ticket",
        sa.Column("digest", sa.LargeBinary(32), primary_key=True),
        sa.Column("user", sa.String(19), sa.ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
        sa.Column("expires_at", sa.Integer, nullable=False),
        sa.Column("used_at", sa.Integer),
    )
    op.create_table(
        "session",
        sa.Column("digest", sa.LargeBinary(32), primary_key=True),
        sa.Column("user", sa.String(19), sa.ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.Integer, nullable=False),
        sa.Column("seen_at", sa.Integer, nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("browser", sa.String(200), nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("digest", sa.LargeBinary(32), unique=True, nullable=False),
        sa.Column("user", sa.String(19), sa.ForeignKey("user.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("scope", sa.String(10), nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.Integer, nullable=False),
        sa.Column("used_at", sa.Integer),
        sa.Column("revoked_at", sa.Integer),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("user", sa.String(19)),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("object", sa.String(80), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
    op.create_index("audit_at", "audit", ["at"])


def downgrade() -> None:
    """Drops the tables."""
    for name in ("audit", "token", "session", "ticket", "user"):
        op.drop_table(name)
