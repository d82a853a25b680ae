"""Reader and writer of detections in YOLO's format, with one text file per image."""

import math
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import BoxRecords, place_of
from cvzoo.files.atomic_write import atomic_write
from cvzoo.geometry.formats import from_cxcywh, from_normalized, to_cxcywh, to_normalized
from cvzoo.typing.aliases import FilePath, Size

_EXPECTED = "CLASS X_CENTER Y_CENTER WIDTH HEIGHT SCORE, in fractions of the image size"


def read_yolo_results(folder: FilePath, label_names: Sequence[str], sizes: Mapping[str, Size]) -> BoxRecords:
    """The detections of a folder of text files, one per image, each line `class x_center y_center width height score`.

    folder: searched recursively; a file has the name of its image, and an image without detections may have none
    label_names: the class of each number; sizes: (H, W) by all accepted spellings of an image's name
    Raises FileFormatError if there is no text file, ValueRangeError that names the line of an invalid value.
    """
    folder = pathlib.Path(folder)
    paths = sorted(folder.rglob("*.txt"))
    if not paths:
        raise FileFormatError(f"{folder}: no results", expected="one text file per image, or comp4_det_test_CLASS.txt")
    images, labels, scores, boxes, origin = [], [], [], [np.zeros((0, 4))], []
    for path in paths:
        name = path.relative_to(folder).with_suffix("").as_posix()
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path} is not UTF-8 text") from error
        rows = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = f"{path.name}, line {number}"
                label, *box, score = _numbers(line, where, len(label_names))
                rows.append(box)
                images.append(name)
                labels.append(label_names[int(label)])
                scores.append(score)
                origin.append(where)
        if rows:
            places = {spelling: place for place, spelling in enumerate(sizes)}
            size = list(sizes.values())[place_of(places, name, "photo", path.name)]
            boxes.append(from_normalized(from_cxcywh(np.array(rows, np.float64)), size))
    return BoxRecords(images, labels, np.array(scores, np.float64), np.concatenate(boxes), origin)


def write_yolo_results(
    folder: FilePath, records: BoxRecords, label_names: Sequence[str], sizes: Mapping[str, Size]
) -> None:
    """Writes the text files that `read_yolo_results` reads, also those of images without detections.

    folder: exists; label_names: in the order of their numbers; sizes: (H, W) of each image by its file name
    Raises OSError.
    """
    numbers = {name: number for number, name in enumerate(label_names)}
    lines: dict[str, list[str]] = {name: [] for name in sizes}
    for image, label, score, bb in zip(records.image, records.label, records.score.tolist(), records.bbox):
        fractions = to_cxcywh(to_normalized(bb[None], sizes[image]))[0].tolist()
        lines[image].append(" ".join((str(numbers[label]), *map(repr, fractions), repr(score))))
    for image, rows in lines.items():
        path = (pathlib.Path(folder) / image).with_suffix(".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write("".join(f"{row}\n" for row in rows).encode("utf-8"))


def _numbers(line: str, where: str, n_class: int) -> list[float]:
    try:
        values = [float(word) for word in line.split()]
    except ValueError:
        values = []
    if len(values) == 5:
        raise ValueRangeError(f"{where} has no score", expected=_EXPECTED, got=line.strip()[:120])
    if len(values) != 6 or not all(map(math.isfinite, values)):
        raise ValueRangeError(f"{where} is malformed", expected=_EXPECTED, got=line.strip()[:120])
    if values[0] != int(values[0]) or not 0 <= values[0] < n_class:
        raise ValueRangeError(f"{where}: unknown class number", expected=f"0 .. {n_class - 1}", got=line.split()[0])
    return values
