"""Instances of many images, checked and concatenated into arrays."""

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Array, ArrayLike

_END = object()
MAX_LABEL = 1 << 20  # a larger one is a mistake: arrays have a row per class
"""Exclusive limit of labels: there are arrays indexed by class."""


@dataclasses.dataclass(frozen=True, eq=False)
class Instances:
    """Detections or ground-truth objects of several images, one row per instance, image after image.

    offsets: (B + 1,) int64, image b has the rows offsets[b]:offsets[b + 1]
    label: (N,) int64; shape: the B arrays or RLEs as given; score: (N,) float64, ones for objects
    """

    offsets: Array
    label: Array
    shape: Sequence[ArrayLike | RLEs]
    score: Array

    @property
    def image(self) -> Array:
        """(N,) int64, the index of each row's image."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def place(self, row: int) -> str:
        """The origin of a row in words, for errors."""
        image = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"instance {row - int(self.offsets[image])} of image {image}"


def zip_images(iterables: Mapping[str, Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields one tuple per image from a dictionary of iterables. Raises ShapeError if their lengths differ."""
    for n, values in enumerate(itertools.zip_longest(*iterables.values(), fillvalue=_END)):
        ended = [name for name, value in zip(iterables, values) if value is _END]
        if ended:
            raise ShapeError(
                f"{', '.join(ended)} ended after {counted(n, 'image')}, the others did not", expected="equal lengths"
            )
        yield values


def same_length(iterables: Mapping[str, Iterable[Any]]) -> list[list[Any]]:
    """Lists of a dictionary's iterables, in its order. Raises ShapeError if their lengths differ."""
    columns: list[list[Any]] = [[] for _ in iterables]
    for values in zip_images(iterables):
        for column, value in zip(columns, values):
            column.append(value)
    return columns


def as_array(value: ArrayLike | RLEs, name: str) -> Array | Any:  # Any stands for RLEs
    """The value as an array; RLEs are returned as they are. Raises ShapeError if it cannot be an array."""
    if isinstance(value, np.ndarray | RLEs):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        array = None
    if array is None or array.ndim == 0:
        raise ShapeError(f"{name} must be an array", expected="one row per instance", got=repr(value)[:80])
    return array


def join_instances(
    shapes: Sequence[ArrayLike | RLEs],
    labels: Sequence[ArrayLike],
    scores: Sequence[ArrayLike] | None = None,
    *,
    name: str,
) -> Instances:
    """The concatenated instances of several images.

    shapes: B arrays of any rank or RLEs; labels: B of (R,) int; scores: B of (R,) float; None for objects
    name: 'pred' or 'gt', for errors
    Raises ShapeError, DtypeError or ValueRangeError with the image's index if lengths differ, a label is negative or
    not an integer, or a score is NaN.
    """
    lengths = [len(as_array(shape, f"{name} instances of image {image}")) for image, shape in enumerate(shapes)]
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    label = _column(labels, lengths, "iu", np.int64, f"{name}_labels", "integers")
    score = np.ones(len(label))
    if scores is not None:
        score = _column(scores, lengths, "fiu", np.float64, f"{name}_scores", "real numbers")
    instances = Instances(offsets, label, shapes, score)
    if (label < 0).any():
        row = int(np.argmax(label < 0))
        raise ValueRangeError(f"{name}_labels: {instances.place(row)} has a negative class", got=int(label[row]))
    if (label >= MAX_LABEL).any():
        row = int(np.argmax(label >= MAX_LABEL))
        raise ValueRangeError(f"{name}_labels: {instances.place(row)} has an implausible class", got=int(label[row]))
    if np.isnan(score).any():
        raise ValueRangeError(f"{name}_scores: {instances.place(int(np.argmax(np.isnan(score))))} is NaN")
    return instances


def join_flags(flags: Sequence[ArrayLike], lengths: Iterable[int], name: str) -> Array:
    """(N,) bool from B arrays of flags. Raises ShapeError or DtypeError with the image's index if one is malformed."""
    return _column(flags, lengths, "biu", bool, name, "flags")


def join_bboxes(instances: Instances, name: str) -> Array:
    """(N, 4) float64 from the boxes of instances.

    Raises ShapeError, DtypeError or ValueRangeError with the image's index if a box does not have four real numbers,
    or is NaN, infinite or inverted.
    """
    parts = [np.empty((0, 4))]
    for image, bbox in enumerate(instances.shape):
        bbox = as_array(bbox, f"{name} of image {image}")
        # of any shape and dtype: an image without boxes may have an empty list
        if bbox.size == 0:
            continue
        if bbox.dtype.kind not in "fiu":
            raise DtypeError(f"{name} of image {image} must hold real numbers", got=bbox.dtype)
        if bbox.ndim != 2 or bbox.shape[1] != 4:
            raise ShapeError(f"{name} of image {image} must be (R, 4): y_min, x_min, y_max, x_max", got=bbox.shape)
        parts.append(bbox)
    bbox = np.concatenate(parts).astype(np.float64, copy=False)
    wrong = ~(np.isfinite(bbox).all(axis=1) & (bbox[:, 2:] >= bbox[:, :2]).all(axis=1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueRangeError(
            f"{name}: {instances.place(row)} is not a valid box",
            expected="finite y_min <= y_max, x_min <= x_max",
            got=bbox[row].tolist(),
        )
    return bbox


def _column(
    arrays: Iterable[ArrayLike], lengths: Iterable[int], kinds: str, dtype: npt.DTypeLike, name: str, wanted: str
) -> Array:
    parts = [np.empty(0, dtype)]
    for image, (array, length) in enumerate(zip(arrays, lengths)):
        array = as_array(array, f"{name} of image {image}")
        if array.shape != (length,):
            raise ShapeError(f"{name} of image {image} do not match its instances", expected=(length,), got=array.shape)
        # an empty list has float64, whatever it would have held
        if length == 0:
            continue
        if array.dtype.kind not in kinds:
            raise DtypeError(f"{name} of image {image} must be {wanted}", got=array.dtype)
        parts.append(array.astype(dtype, copy=False))
    return np.concatenate(parts)
