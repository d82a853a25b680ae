"""Reader of detections in the format of VOC's development kit, with one file per class."""

import pathlib
import re
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.files.atomic_write import atomic_write
from cvzoo.typing.aliases import FilePath

_FIRST_PIXEL = np.array([1, 1, 0, 0])  # from half-open boxes from 0 to pixels from 1, the last one included
_NAME = re.compile(r"(?:.*?_)?det_(?:(?:test|train|val|trainval)_)?(.+)\.txt")


def voc_results_files(path: FilePath) -> list[pathlib.Path]:
    """The `comp4_det_SPLIT_CLASS.txt` files that a path means: itself, or those in it. Raises FileFormatError."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return [path]
    files = sorted(each for each in path.glob("*.txt") if _NAME.fullmatch(each.name) and each.is_file())
    if not files:
        raise FileFormatError(f"{path}: no results", expected="comp4_det_test_CLASS.txt, one file a class")
    return files


def read_voc_results(paths: Sequence[FilePath]) -> BoxRecords:
    """The detections of VOC results files; the class is in the file name.

    paths: files `comp4_det_SPLIT_CLASS.txt`; each line: image's name, score, x_min, y_min, x_max, y_max, in whole or
        broken pixels, counted from 1, the last pixel belonging to the box. Here 1 is taken from the least sides.
    Raises FileFormatError for a name without a class, ValueRangeError that names the line of an invalid value.

    Source: the development kit of Pascal VOC 2007 and 2012 (section on detection results).
    """
    images, labels, numbers, origin = [], [], [], []
    for path in map(pathlib.Path, paths):
        match = _NAME.fullmatch(path.name)
        if not match:
            raise FileFormatError(
                f"{path} has no class in its name", expected="a name such as comp4_det_test_CLASS.txt"
            )
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path} is not UTF-8 text") from error
        for number, line in enumerate(lines, 1):
            words = line.split()
            if words:
                where = f"{path.name}, line {number}"
                images.append(words[0])
                labels.append(match[1])
                numbers.append(_numbers(words, where))
                origin.append(where)
    table = np.array(numbers, np.float64).reshape(-1, 5)
    bbox = table[:, [2, 1, 4, 3]]
    bbox[:, :2] -= 1
    return BoxRecords(images, labels, table[:, 0].copy(), bbox, origin)


def is_voc_result(path: FilePath) -> bool:
    """Whether the name of a file is that of VOC's results, `comp4_det_SPLIT_CLASS.txt`."""
    return _NAME.fullmatch(pathlib.Path(path).name) is not None


def write_voc_results(folder: FilePath, records: BoxRecords, label_names: Sequence[str], *, split: str) -> None:
    """Writes one file `comp4_det_SPLIT_CLASS.txt` per class, as `read_voc_results` reads them.

    folder: exists; records: the names of images must not contain blanks; split: "test", "val" ...
    Raises ValueRangeError for a name of an image or class that the format cannot hold, OSError.
    """
    lines: dict[str, list[str]] = {name: [] for name in label_names}
    for image, label, score, bb in zip(records.image, records.label, records.score.tolist(), records.bbox):
        stem = pathlib.PurePosixPath(image).with_suffix("").as_posix()
        if stem.split() != [stem]:
            raise ValueRangeError("VOC's results cannot hold an image name with blanks", got=image)
        y_min, x_min, y_max, x_max = (bb + _FIRST_PIXEL).tolist()
        lines[label].append(f"{stem} {score!r} {x_min!r} {y_min!r} {x_max!r} {y_max!r}\n")
    for label, rows in lines.items():
        if "/" in label:
            raise ValueRangeError("VOC's results cannot hold a class name with a slash", got=label)
        with atomic_write(pathlib.Path(folder) / f"comp4_det_{split}_{label}.txt") as file:
            file.write("".join(rows).encode("utf-8"))


def _numbers(words: Sequence[str], where: str) -> list[float]:
    try:
        values = [float(word) for word in words[1:]]
    except ValueError:
        values = []
    if len(values) != 5:
        raise ValueRangeError(
            f"{where} is malformed", expected="IMAGE SCORE X_MIN Y_MIN X_MAX Y_MAX", got=" ".join(words)[:120]
        )
    return values
