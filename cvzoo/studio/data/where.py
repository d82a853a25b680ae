"""Which images of a data set, and in which order: the filter and the sort of a page as a query."""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import ColumnElement, Connection, FromClause, Select, func, or_, select

from cvzoo.studio.database.tables import DATASET, FACET, FINDING, ITEM, ITEM_CLASS, SUGGESTION

FacetKind: TypeAlias = Literal["split", "class", "tag", "stage", "user"]
Stage: TypeAlias = Literal["todo", "done", "accepted", "back"]
Sort: TypeAlias = Literal["", "name", "-objects", "objects", "-size", "size", "-findings", "-errors"]
STAGES: tuple[Stage, ...] = get_args(Stage)
NONE = "-"  # of a filter: images without a split, or of no assignee
OPEN = "open"  # of a filter: images that are to be annotated
RANGE = r"^(\d{1,6}(-\d{0,6})?|-\d{1,6})?$"
_RANGE = re.compile(r"(\d*)(-?)(\d*)")


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which images, and their order.

    classes: all of them are in the image; split, finding, tag: "" for any; text: a part of the name
    edited: changed since the import
    stage: one of STAGES, or OPEN; assignee: the name of a user
    n_object, side: as "3", "2-5", "4-" or "-4": of the number of objects, and of the longer side in pixels
    errors: number of errors by ordinal, of an evaluation: only images with errors; evaluation: how it was named
    is_proposed: with open proposals
    """

    classes: tuple[str, ...] = ()
    split: str = ""
    finding: str = ""
    text: str = ""
    edited: bool = False
    tag: str = ""
    stage: str = ""
    assignee: str = ""
    n_object: str = ""
    side: str = ""
    sort: Sort = ""
    evaluation: str = ""
    errors: Mapping[int, int] | None = None
    is_proposed: bool = False

    def query(self) -> list[tuple[str, str]]:
        """The parameters of an address, without those that are not set."""
        more = [("split", self.split), ("finding", self.finding), ("text", self.text), ("tag", self.tag)]
        more += [("stage", self.stage), ("assignee", self.assignee), ("n", self.n_object), ("size", self.side)]
        more += [("verdict", self.evaluation), ("sort", self.sort), ("proposed", "1" if self.is_proposed else "")]
        found = [("class", name) for name in self.classes] + more + [("edited", "1" if self.edited else "")]
        return [(key, value) for key, value in found if value]


def counted(connection: Connection, dataset: str, wanted: Filter) -> int | None:
    """The number of images of the newest revision, if it is kept; None if they must be counted."""
    looked_at = (wanted.finding, wanted.text, wanted.edited, wanted.n_object, wanted.side, wanted.is_proposed)
    kept = [("class", name) for name in wanted.classes] + [
        *([("split", "" if wanted.split == NONE else wanted.split)] if wanted.split else []),
        *([("tag", wanted.tag)] if wanted.tag else []),
        *([("stage", wanted.stage)] if wanted.stage else []),
        *([("user", "" if wanted.assignee == NONE else wanted.assignee)] if wanted.assignee else []),
    ]
    if any(looked_at) or wanted.errors is not None or len(kept) > 1 or wanted.stage == OPEN:
        return None
    if not kept:
        (splits,) = facets_of(connection, dataset, "split")
        return sum(n for n, _ in splits.values())
    ((kind, name),) = kept
    mine = (FACET.c.dataset == dataset) & (FACET.c.kind == kind) & (FACET.c.name == name)
    return int(connection.execute(select(FACET.c.n_image).where(mine)).scalar() or 0)


def facets_of(connection: Connection, dataset: str, *kinds: FacetKind) -> list[dict[str, tuple[int, int]]]:
    """Of each kind (images, objects) of each split, class ... that has images."""
    mine = (FACET.c.dataset == dataset) & FACET.c.kind.in_(kinds) & (FACET.c.n_image > 0)
    query = select(FACET.c.kind, FACET.c.name, FACET.c.n_image, FACET.c.n_object).where(mine)
    found: dict[str, dict[str, tuple[int, int]]] = {kind: {} for kind in kinds}
    for kind, name, n_image, n_object in connection.execute(query):
        found[kind][name] = n_image, n_object
    return list(found.values())


def is_newest(connection: Connection, dataset: str, rev: int) -> bool:
    """Whether the revision is the newest, of which the rows without an end are; not while the set is imported."""
    head = connection.execute(select(DATASET.c.head_rev).where(DATASET.c.id == dataset)).scalar()
    return bool(head) and head == rev


def chosen(
    connection: Connection, dataset: str, rev: int, wanted: Filter, *columns: Any, counts_only: bool = False
) -> tuple[Select[Any], ColumnElement[int]]:
    """(the query of the images that the filter leaves, in no order, the column of their ordinals).

    It starts with the rows of a class, of which there is an index by ordinal, if the filter has one.
    counts_only: whether the columns are none of the images', whose table is then left out if the filter allows it
    """
    newest = is_newest(connection, dataset, rev)

    def valid(table: FromClause) -> ColumnElement[bool]:
        is_open = table.c.last_rev.is_(None)  # the condition of the indexes
        return is_open if newest else (table.c.first_rev <= rev) & (is_open | (table.c.last_rev > rev))

    source: FromClause | None = ITEM
    column: ColumnElement[int] = ITEM.c.ordinal
    conditions = [ITEM.c.dataset == dataset, valid(ITEM), *_of_rows(dataset, wanted)]
    if counts_only and wanted.classes and len(conditions) == 2:
        source, conditions = None, []  # rows of classes are valid as long as those of their images
    names = list(dict.fromkeys(wanted.classes))
    if len(names) > 1:  # the rarest one comes last, whose rows are gone through
        (known,) = facets_of(connection, dataset, "class")
        names.sort(key=lambda name: -known.get(name, (0, 0))[0])
    for i, name in enumerate(names):
        rows = ITEM_CLASS.alias(f"class_{i}")
        conditions += [rows.c.dataset == dataset, rows.c.name == name, valid(rows)]
        # "+ 0", as SQLite would carry a condition such as `ordinal > ?` over to the other table, and use it instead
        source = rows if source is None else rows.join(source, column == rows.c.ordinal + 0)
        column = rows.c.ordinal
    assert source is not None
    query: Any = select(*columns).select_from(source).where(*conditions)  # how many columns: more than a type can tell
    return query, column


def _of_rows(dataset: str, wanted: Filter) -> list[ColumnElement[bool]]:
    """The conditions that the rows of the images fulfil, but for those of classes."""
    found: list[ColumnElement[bool]] = []
    for value, where in ((wanted.split, ITEM.c.split), (wanted.assignee, ITEM.c.assignee)):
        if value:
            found.append(where == ("" if value == NONE else value))
    if wanted.stage == OPEN:
        found.append(ITEM.c.stage.in_(("todo", "back")))
    elif wanted.stage:
        found.append(ITEM.c.stage == wanted.stage)
    if wanted.tag:  # the text is a list as JSON; of images without tags it is empty, and not in the index
        found += [ITEM.c.tags != "", func.instr(ITEM.c.tags, json.dumps(wanted.tag)) > 0]
    if wanted.finding:
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & FINDING.c.ordinal.is_not(None)
        if wanted.finding != "any":
            mine &= FINDING.c.kind == wanted.finding
        found.append(ITEM.c.ordinal.in_(select(FINDING.c.ordinal).where(mine)))
    if wanted.text:
        found.append(ITEM.c.name.contains(wanted.text, autoescape=True))
    if wanted.edited:
        found.append(ITEM.c.first_rev > 1)
    if wanted.is_proposed:
        mine = (SUGGESTION.c.dataset == dataset) & (SUGGESTION.c.state == "open")
        found.append(ITEM.c.ordinal.in_(select(SUGGESTION.c.ordinal).where(mine)))
    longer = func.max(ITEM.c.height, ITEM.c.width)  # of two values, which is the larger one in SQLite
    found += [*_in_range(wanted.n_object, ITEM.c.n_object), *_in_range(wanted.side, longer)]
    if wanted.errors is not None:
        found.append(ITEM.c.ordinal.in_(list(wanted.errors)))
    return found


def _in_range(text: str, value: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    match = _RANGE.fullmatch(text)
    if not text or match is None:
        return []
    low, dash, high = match.groups()
    if not dash:
        return [value == int(low)]
    found = []
    if low:
        found.append(value >= int(low))
    if high:
        found.append(value <= int(high))
    return found


def page_of(
    query: Select[Any],
    column: ColumnElement[int],
    wanted: Filter,
    dataset: str,
    rev: int,
    *,
    after: int | None,
    before: int | None,
) -> Select[Any]:
    """The query in the filter's order, or backwards, from behind an image on.

    after, before: the ordinal of the image; None for the beginning; the order is backwards if `before` is given
    """
    key, is_descending = _key_of(wanted, dataset)
    start = before if before is not None else after
    is_backwards = before is not None
    if key is None:
        if start is not None:
            query = query.where(column < start if is_backwards else column > start)
        return query.order_by(column.desc() if is_backwards else column)
    if start is not None:
        is_open = ITEM.c.last_rev.is_(None) | (ITEM.c.last_rev > rev)
        there = (ITEM.c.dataset == dataset) & (ITEM.c.ordinal == start) & (ITEM.c.first_rev <= rev) & is_open
        own = select(key).where(there).correlate(None).scalar_subquery()
        is_later = key < own if is_descending is not is_backwards else key > own
        same = column < start if is_backwards else column > start
        query = query.where(or_(is_later, (key == own) & same))
    return query.order_by(
        key.desc() if is_descending is not is_backwards else key, column.desc() if is_backwards else column
    )


def _key_of(wanted: Filter, dataset: str) -> tuple[ColumnElement[Any] | None, bool]:
    """(what images are sorted by, whether the largest comes first); None: their number."""
    name = wanted.sort.removeprefix("-")
    if name == "findings":
        mine = (FINDING.c.dataset == dataset) & (FINDING.c.state == "open") & (FINDING.c.ordinal == ITEM.c.ordinal)
        return select(func.count()).select_from(FINDING).where(mine).correlate(ITEM).scalar_subquery(), True
    known = {"name": ITEM.c.name, "objects": ITEM.c.n_object, "size": ITEM.c.height * ITEM.c.width}
    return known.get(name), wanted.sort.startswith("-")
