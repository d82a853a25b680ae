"""Masks from the ways in which COCO writes them: polygons, lists of runs, compressed strings."""

import msgspec
import numpy as np

from cvzoo.errors.exceptions import CvzooError, ValueRangeError
from cvzoo.evaluations.coco.json_records import Length
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs


class RLERecord(msgspec.Struct, gc=False):
    """A run-length encoded mask: its (H, W), and a compressed string or a list of runs."""

    size: tuple[Length, Length]
    counts: str | list[int]


def masks_of(segmentations: list, sizes: np.ndarray, name: str, first: int) -> RLEs:
    """The masks of records, RLEs.

    segmentations: RLERecords, or lists of polygons, each a list of x, y, x, y ...
    sizes: (n, 2) float64, (H, W) of the photos, NaN where unknown; used by polygons
    name, first: what the records are called in errors, and the index of the first
    Raises ValueRangeError with the index of the first record whose mask makes no sense.
    """
    encoded, polygons = [], []
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


def masks_of_counts(counts: list, sizes, name: str, index) -> RLEs:
    """The masks of run lengths, RLEs.

    counts: compressed strings, or lists of runs; sizes: (n, 2) int, (H, W) of each
    name, index: what the records are called in errors, and the index of each
    Raises ValueRangeError with the index of the first record whose mask makes no sense.
    """
    sizes = np.asarray(sizes, np.int64).reshape(-1, 2)
    return _or_the_first_at_fault(
        lambda rows: _masks_of_counts(counts[rows], sizes[rows]), len(counts), lambda row: f"{name}[{index[row]}]"
    )


def _masks_of_counts(counts, sizes):
    strings = [i for i, each in enumerate(counts) if isinstance(each, str)]
    if len(strings) == len(counts):
        return RLEs.from_strings(counts, sizes)
    lists = [i for i, each in enumerate(counts) if not isinstance(each, str)]
    parts = (
        RLEs.from_strings([counts[i] for i in strings], sizes[strings]),
        RLEs.from_counts([counts[i] for i in lists], sizes[lists]),
    )
    return RLEs.concatenate(parts)[np.argsort(np.array(strings + lists, np.int64))]


def _rasterised(polygons, sizes, name, index):
    unknown = np.isnan(sizes).any(axis=1)
    if unknown.any():
        raise ValueRangeError(
            f"{name}[{index[np.argmax(unknown)]}].segmentation", expected="a photo that has a width and a height"
        )
    sizes = sizes.astype(np.int64)
    return _or_the_first_at_fault(
        lambda rows: polygons_to_rle(polygons[rows], sizes[rows]), len(polygons), lambda row: f"{name}[{index[row]}]"
    )


def _or_the_first_at_fault(make, n, record):
    """make(slice(n)), which makes all masks at once; if it fails, the error of the first mask that does so alone.

    record: gives a row's name
    """
    try:
        return make(slice(n))
    except CvzooError:
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
            # alone the mask is number 0 of one
            raise ValueRangeError(f"{record(low)}.segmentation: {str(error).replace(' 0', '', 1)}") from error


def rectangles(bbox: np.ndarray, sizes: np.ndarray) -> RLEs:
    """Boxes drawn as masks, as pycocotools draws the polygon of their four corners.

    bbox: (N, 4) float64: x, y, width, height; sizes: (N, 2) int64, (H, W) of each photo
    """
    x, y, width, height = bbox.T
    corners = np.stack((x, y, x, y + height, x + width, y + height, x + width, y), axis=1)
    return polygons_to_rle([[each] for each in corners], sizes)
