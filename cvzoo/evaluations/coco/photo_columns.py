"""Photos' arrays, a list with an array for each, put one behind the other; what cannot be names its photo."""

import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.photos import MAX_LABEL, as_array

# Photos that are matched together: enough to spread the cost of a call, few enough to hold their masks
_PHOTOS = 256


def photos_at_a_time(columns: Iterable[Iterable | None], names: Iterable[str]) -> Iterator[list[list | None]]:
    """Blocks of photos: each column's next photos, None for a column that is None.

    Raises ValueRangeError if one column ends before another.
    """
    columns, names = list(columns), list(names)
    given = [i for i, column in enumerate(columns) if column is not None]
    end = object()
    photos = itertools.zip_longest(*(columns[i] for i in given), fillvalue=end)
    done = 0
    while block := list(itertools.islice(photos, _PHOTOS)):
        for n, photo in enumerate(block):
            short = [names[i] for i, value in zip(given, photo) if value is end]
            if short:
                raise ValueRangeError(f"{' and '.join(short)} end after {done + n} photos, others go on")
        done += len(block)
        filled = iter(zip(*block))
        yield [list(next(filled)) if column is not None else None for column in columns]


def concatenated(parts, name, shape, first, dtype=np.float64):
    """All photos' arrays of one kind one after another, and how many rows each photo has.

    parts: a list of arrays (R, *shape); first: the number of the first photo, for errors
    """
    arrays = [as_array(part, f"{name} of photo {first + i}") for i, part in enumerate(parts)]
    kinds = {"i": "iu", "f": "fiu", "b": "biu"}[np.dtype(dtype).kind]
    for i, array in enumerate(arrays):
        if array.size and array.dtype.kind not in kinds:
            raise DtypeError(f"{name} of photo {first + i}", expected=np.dtype(dtype).name, got=array.dtype)
        if not array.size and array.ndim <= 1:
            arrays[i] = array = array.reshape(0, *(max(length, 0) for length in shape))
        if array.ndim != len(shape) + 1 or any(want not in (-1, got) for got, want in zip(array.shape[1:], shape)):
            wanted = "(R" + "".join(f", {'any' if n == -1 else n}" for n in shape) + ")"
            raise ShapeError(f"{name} of photo {first + i}", expected=wanted, got=array.shape)
    length = np.array([len(array) for array in arrays], np.int64)
    arrays = [array for array in arrays if len(array)] or arrays[:1] or [np.zeros((0, *(max(n, 0) for n in shape)))]
    return np.concatenate(arrays).astype(dtype), length


def same_lengths(name, length, others, first):
    """Raise ShapeError unless other columns have as many photos, and as many rows for every photo."""
    for other_name, other in others.items():
        if len(other) != len(length):
            raise ShapeError(f"{name} and {other_name} have different numbers of photos", got=(len(length), len(other)))
        if (other != length).any():
            i = int(np.argmax(other != length))
            raise ShapeError(f"{other_name} of photo {first + i}: rows", expected=int(length[i]), got=int(other[i]))


def same_photos(n_found, n_objects):
    """Raise ShapeError unless predictions and objects are of equally many photos."""
    if len(n_found) != len(n_objects):
        raise ShapeError(
            "predictions and objects are of different numbers of photos", got=(len(n_found), len(n_objects))
        )


def refuse_photo(name, values, length, wrong, expected, first):
    """Raise ValueRangeError that names the photo of the first row that is wrong, if any is.

    values, wrong: all photos' rows; length: how many rows each photo has
    """
    wrong = wrong.reshape(len(wrong), -1).any(axis=1) if len(wrong) else wrong
    if wrong.any():
        row = int(np.argmax(wrong))
        i = int(np.searchsorted(np.cumsum(length), row, side="right"))
        row_of_photo = row - int(length[:i].sum())
        raise ValueRangeError(
            f"{name} of photo {first + i}, row {row_of_photo}", expected=expected, got=values[row].tolist()
        )


def labels_of(parts, name, first):
    """All photos' labels, (N,) int64, and how many each photo has; ValueRangeError if one is negative."""
    labels, length = concatenated(parts, name, (), first, np.int64)
    refuse_photo(name, labels, length, (labels < 0) | (labels >= MAX_LABEL), f"0 .. {MAX_LABEL - 1}", first)
    return labels, length


def scores_of(parts, name, first):
    """All photos' scores, (N,) float64, and how many each photo has; ValueRangeError if one is NaN or infinite."""
    scores, length = concatenated(parts, name, (), first)
    refuse_photo(name, scores, length, ~np.isfinite(scores), "finite", first)
    return scores, length


def areas_of(parts, name, first):
    """All photos' areas, (N,) float64, and how many each photo has; ValueRangeError if one is not finite or below 0."""
    areas, length = scores_of(parts, name, first)
    refuse_photo(name, areas, length, areas < 0, "0 or more", first)
    return areas, length


def boxes_of(parts, name, first):
    """All photos' boxes, (N, 4) float64, and how many each photo has; ValueRangeError if one cannot be."""
    bbox, length = concatenated(parts, name, (4,), first)
    refuse_photo(name, bbox, length, ~np.isfinite(bbox), "finite", first)
    refuse_photo(name, bbox, length, bbox[:, 2:] < bbox[:, :2], "y_min x_min y_max x_max, none inverted", first)
    return bbox, length


def rounded_xywh(bbox, decimals):
    """(N, 4) float64: x, y, width, height, rounded to so many decimals (None: not at all).

    bbox: (N, 4) float64: y_min, x_min, y_max, x_max
    """
    y_min, x_min, y_max, x_max = bbox.T
    xywh = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)
    return xywh if decimals is None else np.round(xywh, decimals)
