"""Reader of detections in CSV files with a header line."""

import csv
import io
import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import FilePath

_PHOTO = ("photo", "image", "image_id", "file_name", "filename", "img", "image_name")
_LABEL = ("label", "class", "category", "category_id", "name", "class_name", "label_name", "class_id")
_SCORE = ("score", "confidence", "conf", "probability", "prob")
# spellings of the four numbers of a box -> its sides
_CORNERS = (("y_min", "x_min", "y_max", "x_max"), ("ymin", "xmin", "ymax", "xmax"), ("y1", "x1", "y2", "x2"))
_SIZES = (("y", "x", "height", "width"), ("y", "x", "h", "w"), ("top", "left", "height", "width"))
_EXAMPLE = "photo,label,score,y_min,x_min,y_max,x_max"


def read_csv_results(path: FilePath) -> BoxRecords:
    """The detections of a CSV file, a line each; the first line names the columns.

    Columns, in any order, others are left out: image (or image, image_id, file_name), label (or class, category,
    category_id, name), score (or confidence), and y_min x_min y_max x_max (or ymin ..., y1 x1 y2 x2) or x y width
    height, all in pixels, 0-based. Commas, semicolons and tabs separate.
    Raises FileFormatError if a column is missing, ValueRangeError that names the line of an invalid number.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path} is not UTF-8 text") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(text.splitlines(), delimiter=delimiter, strict=True)
    images, labels, numbers, origin = [], [], [], []
    try:
        heads = [head.strip().lower() for head in next(rows, [])]
        image, label, score = (_column(path, heads, names) for names in (_PHOTO, _LABEL, _SCORE))
        sides, sized = _sides(path, heads)
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
            numbers.append([_number(row[i], heads[i], where) for i in (score, *sides)])
            origin.append(where)
    except csv.Error as error:
        raise FileFormatError(f"{path}, line {rows.line_num}: {error}") from error
    table = np.array(numbers, np.float64).reshape(-1, 5)
    bbox = table[:, 1:].copy()
    if sized:
        bbox[:, 2:] += bbox[:, :2]
    return BoxRecords(images, labels, table[:, 0].copy(), bbox, origin)


def write_csv_results(path: FilePath, records: BoxRecords) -> None:
    """Writes a CSV file that `read_csv_results` reads, with as many digits as give the same numbers back.

    Raises OSError. The file is written atomically.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_EXAMPLE.split(","))
    rows.writerows(
        (image, label, score, *bb)
        for image, label, score, bb in zip(records.image, records.label, records.score.tolist(), records.bbox.tolist())
    )
    with atomic_write(path) as file:
        file.write(text.getvalue().encode("utf-8"))


def _column(path: pathlib.Path, heads: Sequence[str], names: Sequence[str]) -> int:
    columns = [i for i, head in enumerate(heads) if head in names]
    if len(columns) != 1:
        raise FileFormatError(
            f"{path}: {'no column' if not columns else 'several columns'} for the {names[0]}",
            expected=f"a first line that names the columns, such as {_EXAMPLE}",
            got=",".join(heads)[:200],
        )
    return columns[0]


def _sides(path: pathlib.Path, heads: Sequence[str]) -> tuple[list[int], bool]:
    for sized, spellings in ((False, _CORNERS), (True, _SIZES)):
        for names in spellings:
            if all(name in heads for name in names):
                return [heads.index(name) for name in names], sized
    raise FileFormatError(
        f"{path}: no columns for the box",
        expected="y_min,x_min,y_max,x_max or x,y,width,height",
        got=",".join(heads)[:200],
    )


def _number(text: str, head: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueRangeError(f"{where}: {head} must be a number", got=repr(text)[:60]) from None
