"""The images of a data set at a revision: a page, one of them, its neighbors, and its history."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, func, select

from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import FINDING, ITEM, ITEM_CLASS, REVISION

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
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which images. class_name, split, finding: "" for any; text: a part of the name; edited: changed since import."""

    class_name: str = ""
    split: str = ""
    finding: str = ""
    text: str = ""
    edited: bool = False

    def query(self) -> dict[str, str]:
        """The parameters of an address, without those that are not set."""
        tree = {"class": self.class_name, "split": self.split, "finding": self.finding, "text": self.text}
        return {key: value for key, value in (tree | {"edited": "1" if self.edited else ""}).items() if value}


class Items:
    """The images of all data sets. engine: of the studio"""

    def __init__(self, engine: Engine):
        self._engine = engine

    def page(
        self, dataset: str, rev: int, wanted: Filter, *, after: int = -1, before: int | None = None, limit: int = 100
    ) -> list[Item]:
        """Images in the order of their numbers. after, before: the ordinal that the page follows, or precedes"""
        query = select(ITEM).where(valid_at(dataset, rev), *_conditions(dataset, rev, wanted)).limit(limit)
        if before is not None:
            query = query.where(ITEM.c.ordinal < before).order_by(ITEM.c.ordinal.desc())
        else:
            query = query.where(ITEM.c.ordinal > after).order_by(ITEM.c.ordinal)
        with reading(self._engine) as connection:
            found = [item_of(row) for row in connection.execute(query)]
        return found[::-1] if before is not None else found

    def get(self, dataset: str, ordinal: int, rev: int) -> Item | None:
        """One image; None if there is none at that revision."""
        with reading(self._engine) as connection:
            return item_at(connection, dataset, ordinal, rev)

    def count(self, dataset: str, rev: int, wanted: Filter) -> int:
        """How many images the filter leaves."""
        query = select(func.count()).select_from(ITEM).where(valid_at(dataset, rev), *_conditions(dataset, rev, wanted))
        with reading(self._engine) as connection:
            return int(connection.execute(query).scalar() or 0)

    def neighbors(self, dataset: str, ordinal: int, rev: int, wanted: Filter) -> tuple[int | None, int | None]:
        """The ordinals of the image before and of the one after, among those that the filter leaves."""
        conditions = (valid_at(dataset, rev), *_conditions(dataset, rev, wanted))
        column = ITEM.c.ordinal
        with reading(self._engine) as connection:
            before = connection.execute(
                select(column).where(*conditions, column < ordinal).order_by(column.desc()).limit(1)
            ).scalar()
            after = connection.execute(
                select(column).where(*conditions, column > ordinal).order_by(column).limit(1)
            ).scalar()
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


def _conditions(dataset: str, rev: int, wanted: Filter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.class_name:
        is_open = ITEM_CLASS.c.last_rev.is_(None) | (ITEM_CLASS.c.last_rev > rev)
        mine = (ITEM_CLASS.c.dataset == dataset) & (ITEM_CLASS.c.name == wanted.class_name) & is_open
        chosen = select(ITEM_CLASS.c.ordinal).where(mine, ITEM_CLASS.c.first_rev <= rev)
        found.append(ITEM.c.ordinal.in_(chosen))
    if wanted.split:
        found.append(ITEM.c.split == ("" if wanted.split == NO_SPLIT else wanted.split))
    if wanted.finding:
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & FINDING.c.ordinal.is_not(None)
        if wanted.finding != "any":
            mine &= FINDING.c.kind == wanted.finding
        found.append(ITEM.c.ordinal.in_(select(FINDING.c.ordinal).where(mine)))
    if wanted.text:
        found.append(ITEM.c.name.contains(wanted.text, autoescape=True))
    if wanted.edited:
        found.append(ITEM.c.first_rev > 1)
    return found
