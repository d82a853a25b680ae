"""Kept numbers of images and objects, and indexes of names and splits of images."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Adds the table, with the numbers of the newest revisions, and the index."""
    op.create_table(
        "facet",
        sa.Column("dataset", sa.String(19), sa.ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("kind", sa.String(5), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("n_image", sa.Integer, nullable=False),
        sa.Column("n_object", sa.Integer, nullable=False),
    )
    # rows above the newest revision are of an import that was cut off, and are removed when it is repeated
    open_ = "{0}.last_rev IS NULL AND {0}.first_rev <= dataset.head_rev"
    for kind, table, name, n in (("split", "item", "split", "n_object"), ("class", "item_class", "name", "n")):
        op.execute(
            f"INSERT INTO facet SELECT {table}.dataset, '{kind}', {table}.{name}, count(*), sum({table}.{n}) "
            f"FROM {table} JOIN dataset ON dataset.id = {table}.dataset WHERE {open_.format(table)} "
            f"GROUP BY {table}.dataset, {table}.{name}"
        )
    for name, columns in (
        ("item_name", ["dataset", "ordinal", "name"]),
        ("item_split", ["dataset", "split", "ordinal"]),
    ):
        op.create_index(name, "item", columns, sqlite_where=sa.text("last_rev IS NULL"))
    op.drop_index("item_head", "item")


def downgrade() -> None:
    """Drops them."""
    op.create_index("item_head", "item", ["dataset", "ordinal"], sqlite_where=sa.text("last_rev IS NULL"))
    for name in ("item_name", "item_split"):
        op.drop_index(name, "item")
    op.drop_table("facet")
