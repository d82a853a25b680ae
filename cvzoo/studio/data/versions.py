"""Versions of data sets: a revision with a name, materialized in a folder that trainings read."""

import dataclasses
import functools
import json
from collections import Counter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Row, insert, select, update

from cvzoo.files.atomic_write import atomic_write
from cvzoo.studio.clock import Clock
from cvzoo.studio.data.datasets import Dataset, classes_at
from cvzoo.studio.data.edit import differences
from cvzoo.studio.data.items import Item, Items
from cvzoo.studio.data.rows import content_hash, content_of
from cvzoo.studio.database.engine import reading, writing
from cvzoo.studio.database.tables import DATASET, VERSION
from cvzoo.studio.ids import new_id
from cvzoo.studio.place import Place
from cvzoo.studio.problems import Problem, shown_name

_KINDS = ("added", "deleted", "moved", "renamed", "rewritten")
_SHAPES = ("box", "polygons", "rle", "points")
TRAINED = ("train", "val")  # splits that a training needs


@dataclasses.dataclass(frozen=True)
class Version:
    """A row of the table.

    content: SHA-256 of the images and annotations, "" while it is made
    state: "making", "ready" or "failed"; detail: why it failed
    data: the specification for `cvzoo train --data`; counts: as of Datasets.counts
    """

    id: str
    dataset: str
    rev: int
    name: str
    content: str
    state: str
    detail: str
    data: str
    counts: dict[str, Any]
    created_at: int

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class ImageDifference:
    """What differs between two versions of an image. Lists of objects: of each what the second, or the first, has.

    item: the image, of the second version if it is there; kind: "added", "deleted" or "changed"
    moved: with another box, polygon, mask or keypoints; renamed: of another class; rewritten: with another text
    """

    item: Item
    kind: str
    added: list[dict[str, Any]]
    deleted: list[dict[str, Any]]
    moved: list[tuple[dict[str, Any], dict[str, Any]]]
    renamed: list[tuple[dict[str, Any], dict[str, Any]]]
    rewritten: list[tuple[dict[str, Any], dict[str, Any]]]
    split: tuple[str, str] | None

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        tree = {name: getattr(self, name) for name in _OF_DIFFERENCE}  # asdict() copies values
        return {"ordinal": self.item.ordinal, "name": self.item.name, "sha256": self.item.sha256} | tree


_OF_DIFFERENCE = tuple(field.name for field in dataclasses.fields(ImageDifference) if field.name != "item")


class Versions:
    """The versions of all data sets. engine, clock: of the studio"""

    def __init__(self, engine: Engine, clock: Clock):
        self._engine, self._clock = engine, clock

    def get(self, version: str) -> Version | None:
        """The version; None if there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(select(VERSION).where(VERSION.c.id == version, _is_there())).first()
        return None if row is None else _version_of(row)

    def of(self, dataset: str) -> list[Version]:
        """The versions of a data set, the newest first."""
        return self._all(VERSION.c.dataset == dataset)

    def ready(self) -> list[Version]:
        """All versions that can be trained on, the newest first."""
        return self._all(VERSION.c.state == "ready")

    def same(self, dataset: Dataset, counts: dict[str, Any]) -> Version | None:
        """The version of the newest revision's content that is ready or being made; None if there is none.

        counts: of the newest revision, without which each image would be compared
        """
        plain = json.loads(json.dumps(counts))
        for each in self.of(dataset.id):
            if (
                each.state != "failed"
                and each.counts == plain
                and self._is_same(dataset.id, each.rev, dataset.head_rev)
            ):
                return each
        return None

    def _is_same(self, dataset: str, rev: int, other: int) -> bool:
        with reading(self._engine) as connection:
            if classes_at(connection, dataset, rev) != classes_at(connection, dataset, other):
                return False
            pairs = differences(connection, dataset, rev, other)
        return all(
            before is not None
            and after is not None
            and (before.name, before.split) == (after.name, after.split)
            and content_of(before.labels) == content_of(after.labels)
            for before, after in pairs
        )

    def create(self, dataset: Dataset, name: str, counts: dict[str, Any], user: str) -> Version:
        """A new version of the newest revision, which is to be materialized; its content's hash is known afterwards.

        Raises Problem 409 if another version of the data set has the name and did not fail, 422 if it cannot be shown.
        """
        version, name = new_id("ve"), shown_name(name)
        row = {"id": version, "dataset": dataset.id, "rev": dataset.head_rev, "name": name}
        others = (VERSION.c.dataset == dataset.id) & (VERSION.c.name == name) & (VERSION.c.state != "failed")
        more = {"content": "", "state": "making", "detail": "", "data": "", "counts": json.dumps(counts)}
        with writing(self._engine) as connection:
            if connection.execute(select(VERSION.c.id).where(others)).first() is not None:
                taken = {"name": "a version of this data set has this name"}
                raise Problem(409, f"there is a version {name} of this data set already", fields=taken)
            connection.execute(insert(VERSION).values(**row, **more, created_at=self._clock(), created_by=user))
        found = self.get(version)
        assert found is not None
        return found

    def content(self, dataset: str, rev: int, task: str) -> str:
        """SHA-256 of a revision's images, splits, classes and annotations, hexadecimal."""
        with reading(self._engine) as connection:
            rows = map(json.loads, Items(self._engine).lines(connection, dataset, rev))
            return content_hash(task, classes_at(connection, dataset, rev), rows)

    def difference(self, first: Version, second: Version) -> list[ImageDifference]:
        """What differs from the first version to the second, by image."""
        return _differences(self._engine, first.dataset, first.rev, second.rev)

    def summary(self, first: Version, second: Version) -> dict[str, Any]:
        """As `summary` has it, of what differs from the first version to the second."""
        return _summary(self._engine, first.dataset, first.rev, second.rev)

    def _all(self, condition: Any) -> list[Version]:
        query = select(VERSION).where(condition, _is_there()).order_by(VERSION.c.created_at.desc(), VERSION.c.id)
        with reading(self._engine) as connection:
            return [_version_of(row) for row in connection.execute(query)]


def write_note(connection: Connection, place: Place, version: str, data: str) -> None:
    """Writes what is needed to find the version and its data set again if the database is lost.

    data: the specification of its folder. Raises OSError.
    """
    query = select(VERSION, DATASET.c.name.label("dataset_name")).join(DATASET).where(VERSION.c.id == version)
    row = connection.execute(query).one()
    tree = {"dataset": row.dataset, "dataset_name": row.dataset_name, "name": row.name, "created_at": row.created_at}
    with atomic_write(place.version_note(version)) as file:
        file.write(json.dumps(tree | {"kind": data.partition(":")[0]}).encode())


def finish_version(connection: Connection, version: str, state: str, detail: str, data: str, content: str = "") -> None:
    """The version is "ready" or "failed"."""
    values = {"state": state, "detail": detail[:2000], "data": data, "content": content}
    connection.execute(update(VERSION).where(VERSION.c.id == version).values(**values))


def summary(found: list[ImageDifference]) -> dict[str, Any]:
    """The numbers of images and of objects of each kind of difference, and of objects by class."""
    images = Counter(each.kind for each in found)
    objects = {kind: sum(len(getattr(each, kind)) for each in found) for kind in _KINDS}
    classes: dict[str, Counter[str]] = {}
    for each in found:
        for kind in ("added", "deleted"):
            for tree in getattr(each, kind):
                classes.setdefault(tree["class"], Counter())[kind] += 1
        for kind in _KINDS[2:]:
            for _, after in getattr(each, kind):
                classes.setdefault(after["class"], Counter())[kind] += 1
    n_split = sum(each.split is not None for each in found)
    return {
        "images": dict(images),
        "objects": objects,
        "n_split": n_split,
        "classes": {k: dict(v) for k, v in sorted(classes.items())},
    }


def _differences(engine: Engine, dataset: str, first: int, second: int) -> list[ImageDifference]:
    with reading(engine) as connection:
        pairs = differences(connection, dataset, first, second)
    return [
        _difference(before, after)
        for before, after in pairs
        if before is None or after is None or before.content != after.content
    ]


@functools.lru_cache(maxsize=256)  # revisions do not change, and comparing 100,000 images takes seconds
def _summary(engine: Engine, dataset: str, first: int, second: int) -> dict[str, Any]:
    return summary(_differences(engine, dataset, first, second))


def _difference(before: Item | None, after: Item | None) -> ImageDifference:
    if before is None or after is None:
        item = after or before
        assert item is not None
        kind = "added" if before is None else "deleted"
        objects = {"added": item.labels if kind == "added" else [], "deleted": item.labels if kind == "deleted" else []}
        return ImageDifference(item, kind, objects["added"], objects["deleted"], [], [], [], None)
    split = None if before.split == after.split else (before.split, after.split)
    if before.labels == after.labels:  # mostly one list, which is compared in no time
        return ImageDifference(after, "changed", [], [], [], [], [], split)
    old = {each["id"]: each for each in before.labels}
    new = {each["id"]: each for each in after.labels}
    both = [(old[key], new[key]) for key in old if key in new and old[key] != new[key]]  # most are the same
    return ImageDifference(
        after,
        "changed",
        [each for key, each in new.items() if key not in old],
        [each for key, each in old.items() if key not in new],
        [(a, b) for a, b in both if any(a.get(key) != b.get(key) for key in _SHAPES)],
        [(a, b) for a, b in both if a["class"] != b["class"]],
        [(a, b) for a, b in both if a.get("extra", {}).get("text") != b.get("extra", {}).get("text")],
        split,
    )


def _is_there() -> ColumnElement[bool]:
    """The condition that the version's data set was not deleted."""
    return VERSION.c.dataset.in_(select(DATASET.c.id).where(DATASET.c.trashed_at.is_(None)))


def _version_of(row: Row[Any]) -> Version:
    tree = {field.name: getattr(row, field.name) for field in dataclasses.fields(Version)}
    return Version(**tree | {"counts": json.loads(tree["counts"])})
