"""Arrays that come photo by photo, checked and joined into columns."""

import dataclasses
import itertools

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs

_END = object()
MAX_LABEL = 1 << 20
"""No label is as high: there is an array with a place for every class."""


@dataclasses.dataclass(frozen=True, eq=False)
class Instances:
    """What was found or what is there on several photos, one row an instance, photo after photo.

    offsets: (B + 1,) int64, photo b has the rows offsets[b]:offsets[b + 1]
    label: (N,) int64; shape: B arrays or run-length masks as they came; score: (N,) float64, ones for objects
    """

    offsets: np.ndarray
    label: np.ndarray
    shape: list
    score: np.ndarray

    @property
    def photo(self) -> np.ndarray:
        """(N,) int64, the photo of each row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def place(self, row) -> str:
        """Words that say where a row came from."""
        photo = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return f"instance {row - int(self.offsets[photo])} of photo {photo}"


def photos_in_step(iterables):
    """Yields what a dictionary's iterables give, one tuple a photo. Raises ShapeError if one ends before another."""
    for n, values in enumerate(itertools.zip_longest(*iterables.values(), fillvalue=_END)):
        ended = [name for name, value in zip(iterables, values) if value is _END]
        if ended:
            raise ShapeError(f"{', '.join(ended)} ended after {n} photos, the others go on", expected="equal lengths")
        yield values


def same_length(iterables):
    """Lists of what a dictionary's iterables give, in its order. Raises ShapeError if one ends before another."""
    columns = [[] for _ in iterables]
    for values in photos_in_step(iterables):
        for column, value in zip(columns, values):
            column.append(value)
    return columns


def as_array(value, name) -> np.ndarray:
    """The value as an array; what has a shape already (run-length masks) as it is. ShapeError if it is no array."""
    if isinstance(value, np.ndarray | RLEs):
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        array = None
    if array is None or array.ndim == 0:
        raise ShapeError(f"{name}: no array", expected="one row an instance", got=repr(value)[:80])
    return array


def join_instances(shapes, labels, scores=None, *, name) -> Instances:
    """The instances of several photos as columns.

    shapes: B arrays of any rank or run-length masks; labels: B of (R,) int; scores: B of (R,) float; None for objects
    name: 'pred' or 'gt', for errors
    Raises ShapeError, DtypeError or ValueRangeError with the photo's index if lengths differ, a label is negative or
    no integer, a score is NaN.
    """
    lengths = [len(as_array(shape, f"{name} instances of photo {photo}")) for photo, shape in enumerate(shapes)]
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


def join_flags(flags, lengths, name) -> np.ndarray:
    """(N,) bool from B arrays of flags. Raises ShapeError, DtypeError with the photo's index if one does not fit."""
    return _column(flags, lengths, "biu", bool, name, "flags")


def join_bboxes(instances: Instances, name) -> np.ndarray:
    """(N, 4) float64 from the boxes of instances.

    Raises ShapeError, DtypeError or ValueRangeError with the photo's index if a box is no four numbers, NaN, infinite
    or inverted.
    """
    parts = [np.empty((0, 4))]
    for photo, bbox in enumerate(instances.shape):
        bbox = as_array(bbox, f"{name} of photo {photo}")
        if bbox.size == 0:
            continue
        if bbox.dtype.kind not in "fiu":
            raise DtypeError(f"{name} of photo {photo} must hold real numbers", got=bbox.dtype)
        if bbox.ndim != 2 or bbox.shape[1] != 4:
            raise ShapeError(f"{name} of photo {photo} must be (R, 4): y_min, x_min, y_max, x_max", got=bbox.shape)
        parts.append(bbox)
    bbox = np.concatenate(parts).astype(np.float64, copy=False)
    wrong = ~(np.isfinite(bbox).all(axis=1) & (bbox[:, 2:] >= bbox[:, :2]).all(axis=1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueRangeError(
            f"{name}: {instances.place(row)} is no box",
            expected="finite y_min <= y_max, x_min <= x_max",
            got=bbox[row].tolist(),
        )
    return bbox


def _column(arrays, lengths, kinds, dtype, name, wanted):
    parts = [np.empty(0, dtype)]
    for photo, (array, length) in enumerate(zip(arrays, lengths)):
        array = as_array(array, f"{name} of photo {photo}")
        if array.shape != (length,):
            raise ShapeError(f"{name} of photo {photo} do not match its instances", expected=(length,), got=array.shape)
        if length == 0:
            continue
        if array.dtype.kind not in kinds:
            raise DtypeError(f"{name} of photo {photo} must be {wanted}", got=array.dtype)
        parts.append(array.astype(dtype, copy=False))
    return np.concatenate(parts)
