"""Images' arrays, a list with an array for each, put one behind the other; what cannot be names its image."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.instances import MAX_LABEL, as_array
from cvzoo.typing.aliases import Array, ArrayLike

# Images that are matched together: enough to amortize the cost of a call, few enough to limit the memory of masks
_PHOTOS = 256


def batches_of_images(columns: Iterable[Iterable | None], names: Iterable[str]) -> Iterator[list[Any]]:
    """Batches of images: the next elements of each column, None for a column that is None.

    Raises ValueRangeError if the columns differ in length.
    """
    columns, names = list(columns), list(names)
    given = [i for i, column in enumerate(columns) if column is not None]
    iterables = [column for column in columns if column is not None]
    end = object()
    images = itertools.zip_longest(*iterables, fillvalue=end)
    done = 0
    while block := list(itertools.islice(images, _PHOTOS)):
        for n, image in enumerate(block):
            short = [names[i] for i, value in zip(given, image) if value is end]
            if short:
                raise ValueRangeError(f"{' and '.join(short)} end after {done + n} images, others do not")
        done += len(block)
        filled = iter(zip(*block))
        yield [list(next(filled)) if column is not None else None for column in columns]


def concatenated(
    parts: Iterable[ArrayLike], name: str, shape: Sequence[int], first: int, dtype: npt.DTypeLike = np.float64
) -> tuple[Array, Array]:
    """The concatenated arrays of all images, and the number of rows of each image.

    parts: a list of arrays (R, *shape); first: the index of the first image, for errors
    """
    arrays = [as_array(part, f"{name} of image {first + i}") for i, part in enumerate(parts)]
    kinds = {"i": "iu", "f": "fiu", "b": "biu"}[np.dtype(dtype).kind]
    for i, array in enumerate(arrays):
        if array.size and array.dtype.kind not in kinds:
            raise DtypeError(
                f"{name} of image {first + i} has the wrong dtype", expected=np.dtype(dtype).name, got=array.dtype
            )
        if not array.size and array.ndim <= 1:
            arrays[i] = array = array.reshape(0, *(max(length, 0) for length in shape))
        if array.ndim != len(shape) + 1 or any(want not in (-1, got) for got, want in zip(array.shape[1:], shape)):
            wanted = "(R" + "".join(f", {'any' if n == -1 else n}" for n in shape) + ")"
            raise ShapeError(f"{name} of image {first + i} has the wrong shape", expected=wanted, got=array.shape)
    length = np.array([len(array) for array in arrays], np.int64)
    arrays = [array for array in arrays if len(array)] or arrays[:1] or [np.zeros((0, *(max(n, 0) for n in shape)))]
    return np.concatenate(arrays).astype(dtype), length


def same_lengths(name: str, length: Array, others: Mapping[str, Array], first: int) -> None:
    """Raises ShapeError unless other columns have the same number of images, and of rows for every image."""
    for other_name, other in others.items():
        if len(other) != len(length):
            raise ShapeError(f"{name} and {other_name} have different numbers of images", got=(len(length), len(other)))
        if (other != length).any():
            i = int(np.argmax(other != length))
            raise ShapeError(
                f"{other_name} of image {first + i} has the wrong number of rows",
                expected=int(length[i]),
                got=int(other[i]),
            )


def check_same_images(n_found: Array, n_objects: Array) -> None:
    """Raises ShapeError unless predictions and objects have the same number of images."""
    if len(n_found) != len(n_objects):
        raise ShapeError("predictions and objects have different numbers of images", got=(len(n_found), len(n_objects)))


def refuse_image(name: str, values: Array, length: Array, wrong: Array, expected: str, first: int) -> None:
    """Raises ValueRangeError that names the image of the first wrong row, if any.

    values, wrong: rows of all images; length: number of rows of each image
    """
    wrong = np.any(wrong.reshape(len(wrong), -1), axis=1) if len(wrong) else wrong
    if wrong.any():
        row = int(np.argmax(wrong))
        i = int(np.searchsorted(np.cumsum(length), row, side="right"))
        row_of_image = row - int(length[:i].sum())
        raise ValueRangeError(
            f"{name} of image {first + i}, row {row_of_image}, is invalid", expected=expected, got=values[row].tolist()
        )


def labels_of(parts: Iterable[ArrayLike], name: str, first: int) -> tuple[Array, Array]:
    """The labels of all images, (N,) int64, and their number per image; ValueRangeError if one is negative."""
    labels, length = concatenated(parts, name, (), first, np.int64)
    refuse_image(name, labels, length, (labels < 0) | (labels >= MAX_LABEL), f"0 .. {MAX_LABEL - 1}", first)
    return labels, length


def scores_of(parts: Iterable[ArrayLike], name: str, first: int) -> tuple[Array, Array]:
    """The scores of all images, (N,) float64, and their number per image; ValueRangeError if one is not finite."""
    scores, length = concatenated(parts, name, (), first)
    refuse_image(name, scores, length, ~np.isfinite(scores), "finite", first)
    return scores, length


def areas_of(parts: Iterable[ArrayLike], name: str, first: int) -> tuple[Array, Array]:
    """The areas of all images, (N,) float64, and their number per image; ValueRangeError unless finite and >= 0."""
    areas, length = scores_of(parts, name, first)
    refuse_image(name, areas, length, areas < 0, "0 or more", first)
    return areas, length


def boxes_of(parts: Iterable[ArrayLike], name: str, first: int) -> tuple[Array, Array]:
    """The boxes of all images, (N, 4) float64, and their number per image; ValueRangeError if one is invalid."""
    bbox, length = concatenated(parts, name, (4,), first)
    refuse_image(name, bbox, length, ~np.isfinite(bbox), "finite", first)
    refuse_image(name, bbox, length, bbox[:, 2:] < bbox[:, :2], "y_min x_min y_max x_max, none inverted", first)
    return bbox, length


def rounded_xywh(bbox: Array, decimals: int | None) -> Array:
    """(N, 4) float64: x, y, width, height, rounded to the number of decimals (None: not rounded).

    bbox: (N, 4) float64: y_min, x_min, y_max, x_max
    """
    y_min, x_min, y_max, x_max = bbox.T
    xywh = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)
    return xywh if decimals is None else np.round(xywh, decimals)
