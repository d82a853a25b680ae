"""The images of a data set at a revision: a page, one of them, its neighbors, and its history."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, Select, func, select

from cvzoo.studio.data.rows import item_line
from cvzoo.studio.data.where import Filter, chosen, counted, is_newest, page_of
from cvzoo.studio.database.engine import reading
from cvzoo.studio.database.tables import ITEM, REVISION
from cvzoo.studio.jobs.json_file import load_json

_quoted = json.encoder.encode_basestring_ascii  # of a text as `json.dumps`, which takes five times as long
_OF_LINE = ("ordinal", "name", "sha256", "height", "width", "split", "labels", "extra")


@dataclasses.dataclass(frozen=True)
class Item:
    """An image of a data set, valid from first_rev on, until before last_rev.

    ordinal: its number in the data set, which never changes; height, width: 0 if it cannot be decoded
    labels: its annotated objects; extra: other fields of its layout
    tags: sorted; stage: how far its annotation is; assignee: the name of the user who does it, or ""
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
    tags: list[str] = dataclasses.field(default_factory=list)
    stage: str = "todo"
    assignee: str = ""

    @property
    def content(self) -> tuple[Any, ...]:
        """What versions have of it."""
        return self.labels, self.split, self.name

    @property
    def work(self) -> tuple[Any, ...]:
        """What only the studio has of it."""
        return self.tags, self.stage, self.assignee

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # asdict() copies values


_NAMES = tuple(field.name for field in dataclasses.fields(Item))
COLUMNS = tuple(ITEM.c[name] for name in _NAMES)  # of a query whose rows are images


class Items:
    """The images of all data sets. engine: of the studio"""

    def __init__(self, engine: Engine):
        self._engine = engine

    def page(
        self, dataset: str, rev: int, wanted: Filter, *, after: int = -1, before: int | None = None, limit: int = 100
    ) -> list[Item]:
        """Images in the filter's order. after, before: the ordinal that the page follows, or precedes"""
        return [item_of(row) for row in self._page(dataset, rev, wanted, after, before, limit)]

    def page_text(
        self, dataset: str, rev: int, wanted: Filter, *, after: int = -1, limit: int = 100
    ) -> tuple[str, int | None]:
        """(a list of `Item.to_json` of each image of `page` as JSON, the ordinal that the next page follows, if any).

        The objects are not parsed, as they are stored as JSON.
        """
        rows = self._page(dataset, rev, wanted, after, None, limit)
        return f"[{', '.join(map(item_text, rows))}]", rows[-1].ordinal if len(rows) == limit else None

    def _page(
        self, dataset: str, rev: int, wanted: Filter, after: int, before: int | None, limit: int
    ) -> Sequence[Row[Any]]:
        with reading(self._engine) as connection:
            start = None if after < 0 else after
            if wanted.errors is not None and wanted.sort == "-errors":
                ordinals = _around(self._by_errors(connection, dataset, rev, wanted), start, before, limit)
                rows = [connection.execute(_at(dataset, ordinal, rev)).first() for ordinal in ordinals]
                return [row for row in rows if row is not None]
            query, column = chosen(connection, dataset, rev, wanted, *COLUMNS)
            query = page_of(query, column, wanted, dataset, rev, after=start, before=before)
            found = connection.execute(query.limit(limit)).all()
        return found[::-1] if before is not None else found

    def _by_errors(self, connection: Connection, dataset: str, rev: int, wanted: Filter) -> list[int]:
        """The ordinals of the images, those with the most errors of the evaluation first."""
        query, column = chosen(connection, dataset, rev, wanted, ITEM.c.ordinal)
        found = [int(row.ordinal) for row in connection.execute(query.order_by(column))]
        errors = wanted.errors or {}
        return sorted(found, key=lambda ordinal: -errors[ordinal])

    def get(self, dataset: str, ordinal: int, rev: int) -> Item | None:
        """One image; None if there is none at that revision."""
        with reading(self._engine) as connection:
            return item_at(connection, dataset, ordinal, rev)

    def count(self, dataset: str, rev: int, wanted: Filter) -> int:
        """How many images the filter leaves."""
        with reading(self._engine) as connection:
            known = counted(connection, dataset, wanted) if is_newest(connection, dataset, rev) else None
            if known is not None:
                return known
            query, _ = chosen(connection, dataset, rev, wanted, func.count(), counts_only=True)
            return int(connection.execute(query).scalar() or 0)

    def ordinals(self, dataset: str, rev: int, wanted: Filter) -> list[int]:
        """The ordinals of all images that the filter leaves."""
        with reading(self._engine) as connection:
            query, column = chosen(connection, dataset, rev, wanted, ITEM.c.ordinal)
            return [int(row.ordinal) for row in connection.execute(query.order_by(column))]

    def neighbors(self, dataset: str, ordinal: int, rev: int, wanted: Filter) -> tuple[int | None, int | None]:
        """The ordinals of the image before and of the one after, among those that the filter leaves."""
        with reading(self._engine) as connection:
            if wanted.errors is not None and wanted.sort == "-errors":
                order = self._by_errors(connection, dataset, rev, wanted)
                before, after = _around(order, None, ordinal, 1), _around(order, ordinal, None, 1)
                return before[0] if before else None, after[0] if after else None
            found = []
            for start, end in ((None, ordinal), (ordinal, None)):
                query, column = chosen(connection, dataset, rev, wanted, ITEM.c.ordinal)
                query = page_of(query, column, wanted, dataset, rev, after=start, before=end)
                found.append(connection.execute(query.limit(1)).scalar())
        return found[0], found[1]

    def history(self, dataset: str, ordinal: int) -> list[tuple[Item, str, int]]:
        """(the image, kind of the revision that made it so, when), the newest first."""
        query = (
            select(*COLUMNS, REVISION.c.kind, REVISION.c.at)
            .join(REVISION, (REVISION.c.dataset == ITEM.c.dataset) & (REVISION.c.rev == ITEM.c.first_rev))
            .where(ITEM.c.dataset == dataset, ITEM.c.ordinal == ordinal)
            .order_by(ITEM.c.first_rev.desc())
            .limit(500)
        )
        with reading(self._engine) as connection:
            return [(item_of(row), row.kind, row.at) for row in connection.execute(query)]

    def lines(
        self, connection: Connection, dataset: str, rev: int, among: Select[tuple[int | None]] | None = None
    ) -> Iterator[str]:
        """As `item_line` has them, all images of a revision in order; nothing is parsed, a few are in memory.

        among: a query of ordinals, other images than which are left out
        """
        columns = [ITEM.c[name] for name in _OF_LINE]
        query = select(*columns).where(valid_at(dataset, rev)).order_by(ITEM.c.ordinal)
        if among is not None:
            query = query.where(ITEM.c.ordinal.in_(among))
        for row in connection.execute(query.execution_options(yield_per=500)):
            yield item_line(*row)

    def rows(self, connection: Connection, dataset: str, rev: int) -> Iterator[Item]:
        """All images of a revision in order, a few at a time in memory."""
        query = select(*COLUMNS).where(valid_at(dataset, rev)).order_by(ITEM.c.ordinal)
        for row in connection.execute(query.execution_options(yield_per=500)):
            yield item_of(row)


def valid_at(dataset: str, rev: int) -> ColumnElement[bool]:
    """The condition that a row is of this revision."""
    is_open = ITEM.c.last_rev.is_(None) | (ITEM.c.last_rev > rev)
    condition: ColumnElement[bool] = (ITEM.c.dataset == dataset) & (ITEM.c.first_rev <= rev) & is_open
    return condition


def item_at(connection: Connection, dataset: str, ordinal: int, rev: int) -> Item | None:
    """One image at a revision."""
    row = connection.execute(_at(dataset, ordinal, rev)).first()
    return None if row is None else item_of(row)


def _at(dataset: str, ordinal: int, rev: int) -> Select[Any]:
    return select(*COLUMNS).where(valid_at(dataset, rev), ITEM.c.ordinal == ordinal)


def item_of(row: Sequence[Any], parsed: dict[str, Any] | None = None) -> Item:
    """The image of a row, which begins with COLUMNS. parsed: objects by their text, of rows that often have the same"""
    values = dict(zip(_NAMES, row))
    labels = None if parsed is None else parsed.get(values["labels"])
    if labels is None:
        labels = load_json(values["labels"])
        if parsed is not None:
            parsed[values["labels"]] = labels
    values["labels"] = labels
    for name in ("extra", "tags"):
        values[name] = load_json(values[name]) if values[name] else []
    return Item(**values)


def item_text(row: Sequence[Any]) -> str:
    """`Item.to_json` of a row's image as JSON in ASCII."""
    ordinal, first, last, name, sha256, height, width, split, n_object, labels, extra, tags, stage, assignee = row
    return (
        f'{{"ordinal": {ordinal}, "first_rev": {first}, "last_rev": {"null" if last is None else last}, '
        f'"name": {_quoted(name)}, "sha256": "{sha256}", "height": {height}, "width": {width}, '
        f'"split": {_quoted(split)}, "n_object": {n_object}, "labels": {labels}, "extra": {extra or "[]"}, '
        f'"tags": {tags or "[]"}, "stage": {_quoted(stage)}, "assignee": {_quoted(assignee)}}}'
    )


def tags_text(tags: Sequence[str]) -> str:
    """The tags as they are stored."""
    return json.dumps(list(tags)) if tags else ""


def _around(order: list[int], after: int | None, before: int | None, limit: int) -> list[int]:
    """The part of a list behind `after`, or in front of `before`; what is not in the list is at its beginning."""
    if before is not None:
        end = order.index(before) if before in order else 0
        return order[max(end - limit, 0) : end]
    start = order.index(after) + 1 if after is not None and after in order else 0
    return order[start : start + limit]
