"""Reading the XML files of Pascal VOC."""

import math
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

import numpy as np

from cvzoo.datasets.text_files import read_bytes
from cvzoo.errors.exceptions import DatasetError

_CORNERS = ("ymin", "xmin", "ymax", "xmax")


class VOCObjects(NamedTuple):
    """The objects of one file, in its order.

    bbox: (R, 4) float32, y_min x_min y_max x_max; names: R of str; difficult: (R,) bool
    """

    bbox: np.ndarray
    names: tuple
    difficult: np.ndarray


def read_voc_objects(path, *, one_based):
    """The objects of an annotation file.

    one_based: the first pixel of a photo is called 1: 1 is taken off all four coordinates, as ChainerCV and most
        detectors trained on VOC have it (the last pixel of a box then lies just outside of it)
    Raises DatasetError that names the file and the object.
    """
    data = read_bytes(path)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the last two: an encoding nobody knows
        raise DatasetError(f"{path}: not well-formed XML", got=error) from error
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


def label_of(names, numbers, path):
    """(R,) int32, the labels of the names. Raises DatasetError that names the file and the class nobody knows."""
    try:
        return np.array([numbers[name] for name in names], dtype=np.int32)
    except KeyError as error:
        raise DatasetError(
            f"{path}: unknown class", expected=", ".join(list(numbers)[:30]), got=error.args[0]
        ) from error


def _number(text, path, number, corner):
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise DatasetError(f"{path}: object {number} has no proper {corner}", expected="a number", got=text)
    return value
