"""The images of a data set at a revision: a page, one of them, its neighbors, and its history."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Engine, FromClause, Row, Select, func, select

from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import DATASET, FACET, FINDING, ITEM, ITEM_CLASS, REVISION

FacetKind: TypeAlias = Literal["split", "class"]
NO_SPLIT = "-"  # of a filter: images without a split


@dataclasses.dataclass(frozen=True)
class Item:
    """An image of a data set, valid from first_rev on, until before last_rev.

    ordinal: its number in the data set, which never changes; height, width: 0 if it cannot be decoded
    labels: its annotated objects; extra: other fields of its layout
    """

    ordinal: int
    first_rev: int
    last_rev: int | None
    name: str
    sha256: str
    height: int
    width: int
    split: str
    n_object: int
    labels: list[dict[str, Any]]
    extra: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # asdict() copies values


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which images.

    classes: all of them are in the image; split, finding: "" for any; text: a part of the name
    edited: changed since the import
    """

    classes: tuple[str, ...] = ()
    split: str = ""
    finding: str = ""
    text: str = ""
    edited: bool = False

    def query(self) -> list[tuple[str, str]]:
        """The parameters of an address, without those that are not set."""
        more = [("split", self.split), ("finding", self.finding), ("text", self.text)]
        found = [("class", name) for name in self.classes] + more + [("edited", "1" if self.edited else "")]
        return [(key, value) for key, value in found if value]


class Items:
    """The images of all data sets. engine: of the studio"""

    def __init__(self, engine: Engine):
        self._engine = engine

    def page(
        self, dataset: str, rev: int, wanted: Filter, *, after: int = -1, before: int | None = None, limit: int = 100
    ) -> list[Item]:
        """Images in the order of their numbers. after, before: the ordinal that the page follows, or precedes"""
        with reading(self._engine) as connection:
            query, column = _chosen(connection, dataset, rev, wanted, *ITEM.c)
            if before is not None:
                query = query.where(column < before).order_by(column.desc())
            else:
                query = query.where(column > after).order_by(column)
            found = [item_of(row) for row in connection.execute(query.limit(limit))]
        return found[::-1] if before is not None else found

    def get(self, dataset: str, ordinal: int, rev: int) -> Item | None:
        """One image; None if there is none at that revision."""
        with reading(self._engine) as connection:
            return item_at(connection, dataset, ordinal, rev)

    def count(self, dataset: str, rev: int, wanted: Filter) -> int:
        """How many images the filter leaves."""
        with reading(self._engine) as connection:
            known = _counted(connection, dataset, wanted) if _is_newest(connection, dataset, rev) else None
            if known is not None:
                return known
            query, _ = _chosen(connection, dataset, rev, wanted, func.count())
            return int(connection.execute(query).scalar() or 0)

    def ordinals(self, dataset: str, rev: int, wanted: Filter) -> list[int]:
        """The ordinals of all images that the filter leaves."""
        with reading(self._engine) as connection:
            query, column = _chosen(connection, dataset, rev, wanted, ITEM.c.ordinal)
            return [int(row.ordinal) for row in connection.execute(query.order_by(column))]

    def neighbors(self, dataset: str, ordinal: int, rev: int, wanted: Filter) -> tuple[int | None, int | None]:
        """The ordinals of the image before and of the one after, among those that the filter leaves."""
        with reading(self._engine) as connection:
            query, column = _chosen(connection, dataset, rev, wanted, ITEM.c.ordinal)
            query = query.limit(1)
            before = connection.execute(query.where(column < ordinal).order_by(column.desc())).scalar()
            after = connection.execute(query.where(column > ordinal).order_by(column)).scalar()
        return before, after

    def history(self, dataset: str, ordinal: int) -> list[tuple[Item, str, int]]:
        """(the image, kind of the revision that made it so, when), the newest first."""
        query = (
            select(ITEM, REVISION.c.kind, REVISION.c.at)
            .join(REVISION, (REVISION.c.dataset == ITEM.c.dataset) & (REVISION.c.rev == ITEM.c.first_rev))
            .where(ITEM.c.dataset == dataset, ITEM.c.ordinal == ordinal)
            .order_by(ITEM.c.first_rev.desc())
            .limit(500)
        )
        with reading(self._engine) as connection:
            return [(item_of(row), row.kind, row.at) for row in connection.execute(query)]

    def rows(self, connection: Connection, dataset: str, rev: int) -> Iterator[Item]:
        """All images of a revision in order, a few at a time in memory."""
        query = select(ITEM).where(valid_at(dataset, rev)).order_by(ITEM.c.ordinal)
        for row in connection.execute(query.execution_options(yield_per=500)):
            yield item_of(row)


def facets_of(connection: Connection, dataset: str, kind: FacetKind) -> dict[str, tuple[int, int]]:
    """(images, objects) of each split or class that has images."""
    mine = (FACET.c.dataset == dataset) & (FACET.c.kind == kind) & (FACET.c.n_image > 0)
    query = select(FACET.c.name, FACET.c.n_image, FACET.c.n_object).where(mine)
    return {row.name: (row.n_image, row.n_object) for row in connection.execute(query)}


def valid_at(dataset: str, rev: int) -> ColumnElement[bool]:
    """The condition that a row is of this revision."""
    is_open = ITEM.c.last_rev.is_(None) | (ITEM.c.last_rev > rev)
    condition: ColumnElement[bool] = (ITEM.c.dataset == dataset) & (ITEM.c.first_rev <= rev) & is_open
    return condition


def item_at(connection: Connection, dataset: str, ordinal: int, rev: int) -> Item | None:
    """One image at a revision."""
    row = connection.execute(select(ITEM).where(valid_at(dataset, rev), ITEM.c.ordinal == ordinal)).first()
    return None if row is None else item_of(row)


def item_of(row: Row[Any]) -> Item:
    """The image of a row."""
    tree = {field.name: getattr(row, field.name) for field in dataclasses.fields(Item)}
    return Item(**tree | {"labels": json.loads(tree["labels"]), "extra": json.loads(tree["extra"])})


def _is_newest(connection: Connection, dataset: str, rev: int) -> bool:
    """Whether the revision is the newest, of which the rows without an end are; not while the set is imported."""
    head = connection.execute(select(DATASET.c.head_rev).where(DATASET.c.id == dataset)).scalar()
    return bool(head) and head == rev


def _counted(connection: Connection, dataset: str, wanted: Filter) -> int | None:
    """The number of images of the newest revision, if it is kept; None if they must be counted."""
    if wanted.finding or wanted.text or wanted.edited or len(wanted.classes) + bool(wanted.split) > 1:
        return None
    if wanted.classes:
        return facets_of(connection, dataset, "class").get(wanted.classes[0], (0, 0))[0]
    splits = facets_of(connection, dataset, "split")
    if wanted.split:
        return splits.get("" if wanted.split == NO_SPLIT else wanted.split, (0, 0))[0]
    return sum(n for n, _ in splits.values())


def _chosen(
    connection: Connection, dataset: str, rev: int, wanted: Filter, *columns: Any
) -> tuple[Select[Any], ColumnElement[int]]:
    """(the query of the images that the filter leaves, the column of their ordinals, by which they are in order).

    It starts with the rows of a class, of which there is an index by ordinal, if the filter has one.
    """
    newest = _is_newest(connection, dataset, rev)

    def valid(table: FromClause) -> ColumnElement[bool]:
        is_open = table.c.last_rev.is_(None)  # the condition of the indexes
        return is_open if newest else (table.c.first_rev <= rev) & (is_open | (table.c.last_rev > rev))

    source: FromClause = ITEM
    column: ColumnElement[int] = ITEM.c.ordinal
    conditions = [ITEM.c.dataset == dataset, valid(ITEM)]
    names = list(dict.fromkeys(wanted.classes))
    if len(names) > 1:  # the rarest one comes last, whose rows are gone through
        known = facets_of(connection, dataset, "class")
        names.sort(key=lambda name: -known.get(name, (0, 0))[0])
    for i, name in enumerate(names):
        rows = ITEM_CLASS.alias(f"class_{i}")
        conditions += [rows.c.dataset == dataset, rows.c.name == name, valid(rows)]
        # "+ 0", as SQLite would carry a condition such as `ordinal > ?` over to the other table, and use it instead
        source = rows.join(source, column == rows.c.ordinal + 0)
        column = rows.c.ordinal
    if wanted.split:
        conditions.append(ITEM.c.split == ("" if wanted.split == NO_SPLIT else wanted.split))
    if wanted.finding:
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & FINDING.c.ordinal.is_not(None)
        if wanted.finding != "any":
            mine &= FINDING.c.kind == wanted.finding
        conditions.append(ITEM.c.ordinal.in_(select(FINDING.c.ordinal).where(mine)))
    if wanted.text:
        conditions.append(ITEM.c.name.contains(wanted.text, autoescape=True))
    if wanted.edited:
        conditions.append(ITEM.c.first_rev > 1)
    query: Any = select(*columns).select_from(source).where(*conditions)  # how many columns: more than a type can tell
    return query, column
