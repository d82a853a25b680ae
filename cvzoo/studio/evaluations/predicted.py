"""The predictions of a job on many images: those of a class with the highest scores first, and how many are right."""

import dataclasses
import functools
import pathlib
from collections import Counter
from typing import Any

from cvzoo.studio.jobs.rows import Row, all_rows
from cvzoo.studio.jobs.run_record import number
from cvzoo.studio.jobs.spec import PREDICTED

_SIDES = ("y_min", "x_min", "y_max", "x_max")


@dataclasses.dataclass(frozen=True)
class Predicted:
    """What was predicted on an image.

    index: of its line; image: its path; kind: "objects", "classes" of a whole image, or "maps"
    found: [{"name", "score"}], the highest score first, of "maps" the classes in it; boxes of objects have sides
    label: of a classified image the name of its folder, if it is a class
    """

    index: int
    image: str
    height: int
    width: int
    kind: str
    found: list[dict[str, Any]]
    label: str = ""

    def score(self, name: str) -> float:
        """The highest score of a class, "" for any; -1 without one, 0 of label maps, which have none."""
        scores = [each["score"] or 0.0 for each in self.found if name in ("", each["name"])]
        return max(scores, default=-1.0)

    def to_json(self) -> dict[str, Any]:
        """For the REST interface."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Predictions:
    """All images. classes: (name, images with it), the most frequent first; of classifiers as the best class"""

    rows: list[Predicted]
    classes: list[tuple[str, int]]

    def of_class(self, name: str) -> list[Predicted]:
        """The images with a class, those with the highest score first; "": all, in their order."""
        if not name:
            return self.rows
        found = [row for row in self.rows if any(each["name"] == name for each in _shown(row))]
        return sorted(found, key=lambda row: -row.score(name))

    @property
    def labelled(self) -> list[Predicted]:
        """The classified images whose class their folder tells."""
        return [row for row in self.rows if row.label and row.found]

    @property
    def accuracy(self) -> float | None:
        """How many of the labelled ones have their label as the best class."""
        known = self.labelled
        return sum(row.found[0]["name"] == row.label for row in known) / len(known) if known else None

    @property
    def confusion(self) -> tuple[list[str], list[list[int]]]:
        """(class names, numbers by label and by best class) of the labelled ones."""
        counts = Counter((row.label, row.found[0]["name"]) for row in self.labelled)
        names = sorted({name for pair in counts for name in pair})
        return names, [[counts[label, best] for best in names] for label in names]


def read_predictions(folder: pathlib.Path) -> Predictions:
    """The predictions in the folder of a job, as far as it has come."""
    path = folder / PREDICTED["jsonl"]
    try:
        found = path.stat()
    except OSError:
        return Predictions([], [])
    return _read(str(path), found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=4)  # a page asks for each of its images
def _read(path: str, changed: int, size: int) -> Predictions:
    """The predictions of a file, read once as long as it does not change."""
    lines, _ = all_rows(pathlib.Path(path))
    rows = [_row(i, line) for i, line in enumerate(lines) if isinstance(line.get("photo"), str)]
    names = {each["name"] for row in rows if row.kind == "classes" for each in row.found}
    rows = [_with_label(row, names) for row in rows]
    counts = Counter(name for row in rows for name in {each["name"] for each in _shown(row)})
    return Predictions(rows, sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _shown(row: Predicted) -> list[dict[str, Any]]:
    return row.found[:1] if row.kind == "classes" else row.found


def _with_label(row: Predicted, names: set[str]) -> Predicted:
    folder = pathlib.PurePath(row.image).parent.name
    return dataclasses.replace(row, label=folder) if row.kind == "classes" and folder in names else row


def _row(index: int, line: Row) -> Predicted:
    size = [number(line.get(side)) or 0 for side in ("height", "width")]
    key = "objects" if isinstance(line.get("objects"), list) else "classes"
    trees = [each for each in line.get(key) or () if isinstance(each, dict)]
    found: list[dict[str, Any]] = []
    for each in trees:
        name = each.get("name")
        tree: dict[str, Any] = {
            "name": str(each.get("label")) if name is None else str(name),
            "score": number(each.get("score")),
        }
        sides = {side: number(each.get(side)) for side in _SIDES}
        found.append(tree | sides if None not in sides.values() else tree)
    kind = "objects" if key == "objects" else "classes" if any(each["score"] is not None for each in found) else "maps"
    found.sort(key=lambda each: -(each["score"] or 0.0))
    return Predicted(index, line["photo"], int(size[0]), int(size[1]), kind, found)
