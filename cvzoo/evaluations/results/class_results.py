"""Reader of classification results in CSV files."""

import csv
import dataclasses
import io
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import place_of
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, FilePath

_PHOTO = ("photo", "image", "image_id", "file_name", "filename", "img", "image_name")
_LABEL = ("label", "class", "category", "name", "class_name", "label_name", "prediction", "predicted", "class_id")
_SCORE = ("score", "confidence", "conf", "probability", "prob")


@dataclasses.dataclass(frozen=True, eq=False)
class ClassRecords:
    """Class predictions in the order of their file, one row each.

    photo, label: (N,) lists of str, as in the file; score: (N,) float64; origin: (N,) list of str, for errors
    """

    image: list[str]
    label: list[str]
    score: Array
    origin: list[str]

    def probs(self, images: Mapping[str, int], labels: Mapping[str, int], shape: tuple[int, int]) -> Array:
        """(B, L) float64: the score of each prediction, -1 for classes without a prediction.

        photos, labels: index by every accepted name; shape: B images, L classes
        Raises ValueRangeError that names the record of an unknown or repeated prediction, or an image without any.
        """
        probs = np.full(shape, -1.0)
        for image, label, score, where in zip(self.image, self.label, self.score, self.origin):
            place = place_of(images, image, "photo", where), place_of(labels, label, "class", where)
            if probs[place] >= 0:
                raise ValueRangeError(f"{where}: this image's class was predicted before", got=(image, label))
            probs[place] = score
        silent = (probs < 0).all(axis=1)
        if silent.any():
            name = next(name for name, place in images.items() if place == int(np.argmax(silent)))
            raise ValueRangeError(
                f"no class is predicted for {int(silent.sum())} of {counted(shape[0], 'image')}, first {name}"
            )
        return probs


def read_class_results(path: FilePath) -> ClassRecords:
    """The predictions of a CSV file, one per line; the first line has the names of the columns.

    Columns, in any order, others are ignored: `photo` (or image, file_name), label (or class, prediction), and
    optionally score (or prob, confidence), 0 or more; without scores, the predictions of an image are in descending
    order. An image may have several lines, for different classes.
    Raises FileFormatError if a column is missing, ValueRangeError that names the line of an invalid score.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not UTF-8 text") from error
    first = text.split("\n", 1)[0]
    rows = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count), strict=True)
    images, labels, scores, origin = [], [], [], []
    seen: dict[str, int] = {}
    try:
        heads = [head.strip().lower() for head in next(rows, [])]
        image, label = (_column(path, heads, names) for names in (_PHOTO, _LABEL))
        score = _column(path, heads, _SCORE) if set(heads) & set(_SCORE) else None
        for row in rows:
            where = f"{path.name}, line {rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(heads):
                raise ValueRangeError(
                    f"{where} has {counted(len(row), 'column')}", expected=f"{len(heads)}: {first.strip()}"
                )
            images.append(row[image].strip())
            labels.append(row[label].strip())
            seen[images[-1]] = seen.get(images[-1], 0) + 1
            scores.append(1 / seen[images[-1]] if score is None else _score(row[score], where))
            origin.append(where)
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {rows.line_num}: {error}") from error
    return ClassRecords(images, labels, np.array(scores, np.float64), origin)


def write_class_results(path: FilePath, images: Sequence[str], label_names: Sequence[str], probs: Array) -> None:
    """Writes a CSV file that `read_class_results` reads: one line per image and class, `photo,label,score`.

    photos: B names of images; label_names: L names; probs: (B, L) float, 0 or more
    Raises OSError. The file is written atomically, with as many digits as give the same numbers back.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("photo", "label", "score"))
    for image, row in zip(images, probs.tolist()):
        rows.writerows((image, name, value) for name, value in zip(label_names, row))
    with atomic_write(path) as file:
        file.write(text.getvalue().encode("utf-8"))


def _column(path: pathlib.Path, heads: Sequence[str], names: Sequence[str]) -> int:
    columns = [i for i, head in enumerate(heads) if head in names]
    if len(columns) != 1:
        raise FileFormatError(
            f"{path}: {'no column' if not columns else 'several columns'} for the {names[0]}",
            expected="a first line that names the columns, such as image,label,score",
            got=",".join(heads)[:200],
        )
    return columns[0]


def _score(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueRangeError(f"{where}: the score must be a number, 0 or more", got=repr(text)[:60])
    return value
