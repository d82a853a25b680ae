"""Masks from COCO's segmentation formats: polygons, uncompressed RLE and compressed RLE strings."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from cvzoo.errors.exceptions import CvzooError, ValueRangeError
from cvzoo.evaluations.coco.json_records import Length
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array, ArrayLike


class RLERecord(msgspec.Struct, gc=False):
    """A run-length encoded mask: its (H, W), and a compressed string or a list of the lengths of runs."""

    size: tuple[Length, Length]
    counts: str | list[int]


def masks_of(segmentations: list, sizes: Array, name: str, first: int) -> RLEs:
    """The masks of records, RLEs.

    segmentations: RLERecords, or lists of polygons, each a list of x, y, x, y ...
    sizes: (n, 2) float64, (H, W) of the images, NaN where unknown; used by polygons
    name, first: what the records are called in errors, and the index of the first
    Raises ValueRangeError with the index of the first record with an invalid mask.
    """
    encoded: list[int] = []
    polygons: list[int] = []
    for i, segmentation in enumerate(segmentations):
        (polygons if isinstance(segmentation, list) else encoded).append(i)
    parts = []
    if encoded:
        chosen = [segmentations[i] for i in encoded]
        runs, shapes = [each.counts for each in chosen], [each.size for each in chosen]
        parts.append(masks_of_counts(runs, shapes, name, first + np.array(encoded)))
    if polygons:
        parts.append(
            _rasterised([segmentations[i] for i in polygons], sizes[polygons], name, first + np.array(polygons))
        )
    return parts[0] if len(parts) == 1 else RLEs.concatenate(parts)[np.argsort(np.array(encoded + polygons, np.int64))]


def masks_of_counts(counts: list, sizes: ArrayLike, name: str, index: Sequence[int] | Array) -> RLEs:
    """The masks of uncompressed or compressed RLE, RLEs.

    counts: compressed strings, or lists of runs; sizes: (n, 2) int, (H, W) of each
    name, index: name of the records and index of each one, for errors
    Raises ValueRangeError with the index of the first record with an invalid mask.
    """
    sizes = np.asarray(sizes, np.int64).reshape(-1, 2)
    return _or_the_first_at_fault(
        lambda rows: _masks_of_counts(counts[rows], sizes[rows]), len(counts), lambda row: f"{name}[{index[row]}]"
    )


def _masks_of_counts(counts: list[Any], sizes: Array) -> RLEs:
    strings = [i for i, each in enumerate(counts) if isinstance(each, str)]
    if len(strings) == len(counts):
        return RLEs.from_strings(counts, sizes)
    lists = [i for i, each in enumerate(counts) if not isinstance(each, str)]
    parts = (
        RLEs.from_strings([counts[i] for i in strings], sizes[strings]),
        RLEs.from_counts([counts[i] for i in lists], sizes[lists]),
    )
    return RLEs.concatenate(parts)[np.argsort(np.array(strings + lists, np.int64))]


def _rasterised(polygons: Sequence[Sequence[Sequence[float]]], sizes: Array, name: str, index: Array) -> RLEs:
    unknown = np.isnan(sizes).any(axis=1)
    if unknown.any():
        raise ValueRangeError(
            f"{name}[{index[np.argmax(unknown)]}].segmentation is a polygon in an image of unknown size",
            expected="an image with a width and a height",
        )
    sizes = sizes.astype(np.int64)
    return _or_the_first_at_fault(
        lambda rows: polygons_to_rle(polygons[rows], sizes[rows]), len(polygons), lambda row: f"{name}[{index[row]}]"
    )


def _or_the_first_at_fault(make: Callable[[slice], RLEs], n: int, record: Callable[[int], str]) -> RLEs:
    """make(slice(n)), the masks of all records at once; if that fails, raises the error of the first malformed record.

    record: the name of a row
    """
    try:
        return make(slice(n))
    except CvzooError:
        # bisection: records are valid or not one by one, and decoding all of them singly would be slow
        low, high = 0, n
        while high - low > 1:
            middle = (low + high) // 2
            try:
                make(slice(low, middle))
                low = middle
            except CvzooError:
                high = middle
        try:
            return make(slice(low, high))
        except CvzooError as error:
            # the mask was decoded alone, as number 0: the error's index is dropped
            message = str(error).replace(" 0", "", 1)
            raise ValueRangeError(f"{record(low)}.segmentation is malformed: {message}") from error


def rectangles(bbox: Array, sizes: np.ndarray) -> RLEs:
    """Boxes as masks: the polygons of their four corners, rasterized as in pycocotools.

    bbox: (N, 4) float64: x, y, width, height; sizes: (N, 2) int64, (H, W) of each image
    """
    x, y, width, height = bbox.T
    corners = np.stack((x, y, x, y + height, x + width, y + height, x + width, y), axis=1)
    return polygons_to_rle([[each] for each in corners], sizes)
