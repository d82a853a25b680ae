"""Guessed classes of photos from a plain CSV file."""

import csv
import dataclasses
import os
import pathlib
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import place_of

_PHOTO = ("photo", "image", "image_id", "file_name", "filename", "img", "image_name")
_LABEL = ("label", "class", "category", "name", "class_name", "label_name", "prediction", "predicted", "class_id")
_SCORE = ("score", "confidence", "conf", "probability", "prob")


@dataclasses.dataclass(frozen=True, eq=False)
class ClassRecords:
    """Guesses in the order of their file, one row each.

    photo, label: (N,) lists of str, as the file spells them; score: (N,) float64; origin: (N,) list of str, for errors
    """

    photo: list[str]
    label: list[str]
    score: np.ndarray
    origin: list[str]

    def probs(self, photos: Mapping[str, int], labels: Mapping[str, int], shape: tuple[int, int]) -> np.ndarray:
        """(B, L) float64: the score of each guess, -1 where nothing was guessed.

        photos, labels: every spelling that is understood -> its place; shape: B photos, L classes
        Raises ValueRangeError that names the record of what is unknown or guessed twice, or a photo without a guess.
        """
        found = np.full(shape, -1.0)
        for photo, label, score, where in zip(self.photo, self.label, self.score, self.origin):
            place = place_of(photos, photo, "photo", where), place_of(labels, label, "class", where)
            if found[place] >= 0:
                raise ValueRangeError(f"{where}: this photo's class was guessed before", got=(photo, label))
            found[place] = score
        silent = (found < 0).all(axis=1)
        if silent.any():
            name = next(name for name, place in photos.items() if place == int(np.argmax(silent)))
            raise ValueRangeError(f"no class is guessed for {int(silent.sum())} of {shape[0]} photos, first {name}")
        return found


def read_class_results(path: str | os.PathLike) -> ClassRecords:
    """The guesses of a CSV file, a line each; the first line names the columns.

    Columns, in any order, others are left out: photo (or image, file_name), label (or class, prediction), and perhaps
    score (or prob, confidence), 0 or more; without scores a photo's first guess counts as the surest. A photo may have
    a line for each of several classes.
    Raises FileFormatError if a column is missing, ValueRangeError that names the line of what is no score.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: no text in UTF-8") from error
    first = text.split("\n", 1)[0]
    rows = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count), strict=True)
    photos, labels, scores, origin = [], [], [], []
    seen: dict[str, int] = {}
    try:
        heads = [head.strip().lower() for head in next(rows, [])]
        photo, label = (_column(path, heads, names) for names in (_PHOTO, _LABEL))
        score = _column(path, heads, _SCORE) if set(heads) & set(_SCORE) else None
        for row in rows:
            where = f"{path.name}, line {rows.line_num}"
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(heads):
                raise ValueRangeError(f"{where}: {len(row)} columns", expected=f"{len(heads)}: {first.strip()}")
            photos.append(row[photo].strip())
            labels.append(row[label].strip())
            seen[photos[-1]] = seen.get(photos[-1], 0) + 1
            scores.append(1 / seen[photos[-1]] if score is None else _score(row[score], where))
            origin.append(where)
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {rows.line_num}: {error}") from error
    return ClassRecords(photos, labels, np.array(scores, np.float64), origin)


def _column(path, heads, names):
    found = [i for i, head in enumerate(heads) if head in names]
    if len(found) != 1:
        raise FileFormatError(
            f"{path}: {'no column' if not found else 'several columns'} for the {names[0]}",
            expected="a first line that names the columns, such as photo,label,score",
            got=",".join(heads)[:200],
        )
    return found[0]


def _score(text, where):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueRangeError(f"{where}: score", expected="a number, 0 or more", got=repr(text)[:60])
    return value
