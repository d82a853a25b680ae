"""Tags of images, how far their annotation is, and who does it."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0006"
_NEWEST = "last_rev IS NULL"


def upgrade() -> None:
    """Adds the columns, their indexes, and their kept numbers."""
    op.add_column("item", sa.Column("tags", sa.Text, nullable=False, server_default=""))
    op.add_column("item", sa.Column("stage", sa.String(8), nullable=False, server_default="todo"))
    op.add_column("item", sa.Column("assignee", sa.String(80), nullable=False, server_default=""))
    for name in ("stage", "assignee"):
        columns = ["dataset", name, "ordinal"]
        op.create_index(f"item_{name}", "item", columns, sqlite_where=sa.text(_NEWEST))
    tagged = sa.text(f"{_NEWEST} AND tags != ''")
    op.create_index("item_tagged", "item", ["dataset", "ordinal", "tags"], sqlite_where=tagged)
    for kind, column in (("stage", "stage"), ("user", "assignee")):
        op.execute(
            f"INSERT INTO facet SELECT item.dataset, '{kind}', item.{column}, count(*), sum(item.n_object) "
            f"FROM item JOIN dataset ON dataset.id = item.dataset WHERE item.{_NEWEST} "
            f"AND item.first_rev <= dataset.head_rev GROUP BY item.dataset, item.{column}"
        )


def downgrade() -> None:
    """Drops them."""
    op.execute("DELETE FROM facet WHERE kind IN ('tag', 'stage', 'user')")
    for name in ("stage", "assignee", "tagged"):
        op.drop_index(f"item_{name}", "item")
    for name in ("tags", "stage", "assignee"):
        op.drop_column("item", name)
