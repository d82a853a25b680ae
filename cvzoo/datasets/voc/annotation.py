"""Reads the XML files of Pascal VOC."""

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import BBox, FilePath, Flags, Label

_CORNERS = ("ymin", "xmin", "ymax", "xmax")


class VOCObjects(NamedTuple):
    """The objects of one file, in the file's order.

    bbox: (R, 4) float32, y_min x_min y_max x_max; names: R of str; difficult: (R,) bool
    """

    bbox: BBox
    names: tuple[str, ...]
    difficult: Flags


def read_voc_objects(path: FilePath, *, one_based: bool) -> VOCObjects:
    """The objects of an annotation file.

    one_based: coordinates are 1-based: 1 is subtracted from all four, as in ChainerCV and for most detectors trained on
        VOC (the last pixel of a box is then just outside of it)
    Raises DatasetError that names the file and the object.
    """
    data = read_bytes(path)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the last two are of unknown encodings
        raise DatasetError(f"{path} is not well-formed XML", got=error) from error
    corners, names, difficult = [], [], []
    for number, element in enumerate(root.iterfind("object")):
        name = (element.findtext("name") or "").strip()
        box = element.find("bndbox")
        if not name or box is None:
            raise DatasetError(f"{path}: object {number} has no {'bndbox' if name else 'name'}")
        corners.append([_number(box.findtext(corner), path, number, corner) for corner in _CORNERS])
        names.append(name)
        difficult.append((element.findtext("difficult") or "0").strip() == "1")
    bbox = np.array(corners, dtype=np.float32).reshape(-1, 4)
    return VOCObjects(bbox - np.float32(one_based), tuple(names), np.array(difficult, dtype=bool))


def label_of(names: Sequence[str], numbers: Mapping[str, int], path: FilePath) -> Label:
    """(R,) int32, the labels of the names. Raises DatasetError that names the file and the unknown class."""
    try:
        return np.array([numbers[name] for name in names], dtype=np.int32)
    except KeyError as error:
        raise DatasetError(
            f"{path}: unknown class name", expected=", ".join(list(numbers)[:30]), got=error.args[0]
        ) from error


def _number(text: str | None, path: FilePath, number: int, corner: str) -> float:
    try:
        value = math.nan if text is None else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DatasetError(f"{path}: object {number} has no valid {corner}", expected="a number", got=text)
    return value
