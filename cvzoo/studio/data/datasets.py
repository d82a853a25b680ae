"""Data sets, and their revisions."""

import dataclasses
import itertools
import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from cvzoo.studio.clock import Clock
from cvzoo.studio.data.where import STAGES, facets_of
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import DATASET, REVISION
from cvzoo.studio.etag import require_seen
from cvzoo.studio.ids import new_id
from cvzoo.studio.problems import Problem, shown_name

_ABOUT = ("name", "licence", "notes")


@dataclasses.dataclass(frozen=True)
class Dataset:
    """A row of the table; times are milliseconds since 1970.

    task: "boxes" or "classes", "" while it is imported; layout: that it was read from
    state: "importing", "ready" or "failed"; detail: why it failed
    source: what it was imported from, and what only its layout has; colors: of classes, as "#e6194b", if chosen
    trashed_at: when it was deleted, None if it was not; trashed_name: its name then, as `name` is free for others
    head_rev: the newest revision, 0 while it is imported; checked_rev: the last one that was checked
    """

    id: str
    name: str
    task: str
    layout: str
    state: str
    detail: str
    source: dict[str, Any]
    colors: dict[str, str]
    licence: str
    notes: str
    trashed_at: int | None
    trashed_name: str
    head_rev: int
    checked_rev: int
    changed_at: int
    created_at: int
    created_by: str | None

    @property
    def about(self) -> dict[str, str]:
        """What people say of it."""
        return {name: getattr(self, name) for name in _ABOUT}

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self) | {"source": {k: v for k, v in self.source.items() if k != "extra"}}


@dataclasses.dataclass(frozen=True)
class Revision:
    """One change of a data set. classes: all names if it changed them, else ()"""

    rev: int
    kind: str
    message: str
    n_changed: int
    at: int


class Datasets:
    """The data sets of a studio. engine, clock: of the studio"""

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock

    def create(self, name: str, source: dict[str, Any], user: str | None) -> Dataset:
        """A new data set that is to be imported. Raises Problem 409 if the name is taken, 422 if it cannot be shown."""
        name, now = shown_name(name), self._clock()
        row = {"id": new_id("ds"), "name": name, "task": "", "layout": "", "state": "importing"}
        more = {"detail": "", "source": json.dumps(source), "head_rev": 0, "checked_rev": 0, "changed_at": now}
        try:
            with writing(self._engine) as connection:
                connection.execute(insert(DATASET).values(**row, **more, created_at=now, created_by=user))
        except IntegrityError:
            raise Problem(409, f"there is a data set {name} already", fields={"name": "this name is taken"}) from None
        return self._known(row["id"])

    def get(self, dataset: str) -> Dataset | None:
        """The data set; None if there is none, or it was deleted."""
        with reading(self._engine) as connection:
            mine = (DATASET.c.id == dataset) & DATASET.c.trashed_at.is_(None)
            row = connection.execute(select(DATASET).where(mine)).first()
        return None if row is None else _dataset_of(row)

    def all(self) -> list[Dataset]:
        """All data sets, the newest first."""
        query = select(DATASET).order_by(DATASET.c.created_at.desc(), DATASET.c.id)
        return self._found(query.where(DATASET.c.trashed_at.is_(None)))

    def trashed(self) -> list[Dataset]:
        """Deleted data sets that can be restored, the last one first."""
        query = select(DATASET).order_by(DATASET.c.trashed_at.desc(), DATASET.c.id)
        return self._found(query.where(DATASET.c.trashed_at.is_not(None)))

    def _found(self, query: Select[Any]) -> list[Dataset]:
        with reading(self._engine) as connection:
            return [_dataset_of(row) for row in connection.execute(query)]

    def change(
        self,
        dataset: str,
        *,
        name: str | None = None,
        licence: str | None = None,
        notes: str | None = None,
        seen: str = "",
    ) -> None:
        """Another name, licence, or notes; None stays.

        Raises Problem 409 if the name is taken, 412 as `require_seen`, 422 if the name is none.
        """
        given = {"licence": licence, "notes": notes, "name": None if name is None else shown_name(name)}
        values = {key: value.strip() for key, value in given.items() if value is not None}
        if not values:
            return
        try:
            with writing(self._engine) as connection:
                mine = DATASET.c.id == dataset
                for row in connection.execute(select(*(DATASET.c[key] for key in _ABOUT)).where(mine)).all():
                    require_seen(seen, dict(row._mapping), values)
                connection.execute(update(DATASET).where(mine).values(**values))
        except IntegrityError:
            raise Problem(
                409, f"there is a data set {values['name']} already", fields={"name": "this name is taken"}
            ) from None

    def trash(self, dataset: str) -> None:
        """Deletes it so that it can be restored; its name is free."""
        values = {"trashed_at": self._clock(), "trashed_name": DATASET.c.name, "name": DATASET.c.id}
        mine = (DATASET.c.id == dataset) & DATASET.c.trashed_at.is_(None)
        with writing(self._engine) as connection:
            connection.execute(update(DATASET).where(mine).values(**values))

    def restore(self, dataset: str) -> bool:
        """Takes a deleted data set back, with a number after its name if another one has it; False if it is gone."""
        with writing(self._engine) as connection:
            mine = (DATASET.c.id == dataset) & DATASET.c.trashed_at.is_not(None)
            name = connection.execute(select(DATASET.c.trashed_name).where(mine)).scalar()
            if name is None:
                return False
            taken = set(connection.scalars(select(DATASET.c.name)))
            free = next(each for each in itertools.chain([name], _numbered(name)) if each not in taken)
            # it is checked again, as it may have been deleted before
            values = {"trashed_at": None, "trashed_name": "", "name": free, "checked_rev": 0}
            connection.execute(update(DATASET).where(mine).values(**values))
        return True

    def purge(self, dataset: str) -> bool:
        """Whether the rows of a deleted data set were removed; False if it was restored meanwhile.

        The images stay in the store, and materialized versions in their folders.
        """
        mine = (DATASET.c.id == dataset) & DATASET.c.trashed_at.is_not(None)
        with writing(self._engine) as connection:
            return connection.execute(delete(DATASET).where(mine)).rowcount == 1

    def fail(self, dataset: str, detail: str) -> None:
        """The import failed."""
        with writing(self._engine) as connection:
            values = {"state": "failed", "detail": detail[:2000], "changed_at": self._clock()}
            connection.execute(update(DATASET).where(DATASET.c.id == dataset).values(**values))

    def classes(self, dataset: str, rev: int) -> list[str]:
        """The classes at a revision, in the order of their labels."""
        with reading(self._engine) as connection:
            return classes_at(connection, dataset, rev)

    def revisions(self, dataset: str, before: int | None, limit: int) -> list[Revision]:
        """Revisions, the newest first. before: only those before this one"""
        query = select(REVISION).where(REVISION.c.dataset == dataset).order_by(REVISION.c.rev.desc()).limit(limit)
        if before is not None:
            query = query.where(REVISION.c.rev < before)
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        return [Revision(row.rev, row.kind, row.message, row.n_changed, row.at) for row in rows]

    def counts(self, dataset: str) -> dict[str, Any]:
        """Of the newest revision: n_image, n_object, and lists of (name, n_image, n_object) by class and by split."""
        with reading(self._engine) as connection:
            head = connection.execute(select(DATASET.c.head_rev).where(DATASET.c.id == dataset)).scalar() or 0
            names = classes_at(connection, dataset, head)
            splits, used = facets_of(connection, dataset, "split", "class")
        n_image, n_object = (sum(each[i] for each in splits.values()) for i in (0, 1))
        by_class = [(name, *used.get(name, (0, 0))) for name in names]
        by_split = sorted(((name, *each) for name, each in splits.items()), key=lambda row: split_rank(row[0]))
        return {"n_image": n_image, "n_object": n_object, "classes": by_class, "splits": by_split}

    def work(self, dataset: str) -> dict[str, list[tuple[str, int]]]:
        """The numbers of images of the newest revision: "tags", "stages" in order, and "assignees", "" for none."""
        with reading(self._engine) as connection:
            tags, stages, users = facets_of(connection, dataset, "tag", "stage", "user")
        return {
            "tags": sorted((name, n) for name, (n, _) in tags.items()),
            "stages": [(name, stages.get(name, (0, 0))[0]) for name in STAGES],
            "assignees": sorted((name, n) for name, (n, _) in users.items()),
        }

    def _known(self, dataset: str) -> Dataset:
        found = self.get(dataset)
        assert found is not None
        return found


def classes_at(connection: Connection, dataset: str, rev: int) -> list[str]:
    """The classes at a revision."""
    mine = (REVISION.c.dataset == dataset) & (REVISION.c.rev <= rev) & (REVISION.c.classes != "")
    query = select(REVISION.c.classes).where(mine).order_by(REVISION.c.rev.desc()).limit(1)
    names: list[str] = json.loads(connection.execute(query).scalar() or "[]")
    return names


def _numbered(name: str) -> Iterator[str]:
    return (f"{name[:110]} {number}" for number in itertools.count(2))


def split_rank(split: str) -> tuple[int, str]:
    """By what splits are sorted: train, val and test, others by name, and none."""
    known = ("train", "val", "test")
    return (known.index(split), "") if split in known else (len(known) + (split == ""), split)


def _dataset_of(row: Row[Any]) -> Dataset:
    tree = dict(row._mapping)
    return Dataset(**tree | {name: json.loads(tree[name]) for name in ("source", "colors")})
