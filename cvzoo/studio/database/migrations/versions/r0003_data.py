"""Uploads, data sets with their revisions, versions and findings, and tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "upload",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("offset", sa.Integer, nullable=False),
        sa.Column("touched_at", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(19)),
    )
    op.create_table(
        "dataset",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("name", sa.String(120), nullable=False, unique=True),
        sa.Column("task", sa.String(12), nullable=False),
        sa.Column("layout", sa.String(12), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("head_rev", sa.Integer, nullable=False),
        sa.Column("checked_rev", sa.Integer, nullable=False),
        sa.Column("changed_at", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(19)),
    )
    op.create_table(
        "revision",
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("rev", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("message", sa.String(400), nullable=False),
        sa.Column("n_changed", sa.Integer, nullable=False),
        sa.Column("classes", sa.Text, nullable=False),
        sa.Column("edit_id", sa.String(40)),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("user", sa.String(19)),
        sa.UniqueConstraint("dataset", "edit_id", name="revision_edit"),
    )
    op.create_table(
        "item",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
        sa.Column("ordinal", sa.Integer, nullable=False),
        sa.Column("first_rev", sa.Integer, nullable=False),
        sa.Column("last_rev", sa.Integer),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("split", sa.String(40), nullable=False),
        sa.Column("n_object", sa.Integer, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.Column("extra", sa.Text, nullable=False),
    )
    op.create_table(
        "item_class",
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("ordinal", sa.Integer, primary_key=True),
        sa.Column("first_rev", sa.Integer, primary_key=True),
        sa.Column("last_rev", sa.Integer),
        sa.Column("n", sa.Integer, nullable=False),
    )
    op.create_table(
        "version",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
        sa.Column("rev", sa.Integer, nullable=False),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(19)),
    )
    op.create_table(
        "finding",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("origin", sa.String(8), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("severity", sa.String(8), nullable=False),
        sa.Column("meaning", sa.Text, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer),
        sa.Column("object", sa.String(40)),
        sa.Column("others", sa.Text, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("reason", sa.String(400), nullable=False),
        sa.Column("by", sa.String(19)),
        sa.Column("at", sa.Integer, nullable=False),
        sa.UniqueConstraint("dataset", "digest", name="finding_digest"),
    )
    op.create_table(
        "task",
        sa.Column("id", sa.String(19), primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), nullable=False),
        sa.Column("rev", sa.Integer, nullable=False),
        sa.Column("subject", sa.String(19), nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("n_try", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Integer, nullable=False),
    )
    op.create_index("item_ordinal", "item", ["dataset", "ordinal", "first_rev"], unique=True)
    op.create_index("item_head", "item", ["dataset", "ordinal"], sqlite_where=sa.text("last_rev IS NULL"))
    op.create_index("version_dataset", "version", ["dataset", "created_at"])
    op.create_index("finding_image", "finding", ["dataset", "ordinal"])
    op.create_index("task_state", "task", ["state", "created_at"])


def downgrade() -> None:
    """Drops the tables."""
    for name in ("task", "finding", "version", "item_class", "item", "revision", "dataset", "upload"):
        op.drop_table(name)
