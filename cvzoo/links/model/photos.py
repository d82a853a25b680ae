"""Photos as a user passes them, prepared and gathered into batches: what every predict loop begins with."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.images.read_image import read_image


class PreparedBatch(NamedTuple):
    """Neighbouring photos of one prepared shape.

    x: (B, C, H', W') float32, the network's input
    sizes: (H, W) of each photo as it was read
    sources: the photos as they were given
    """

    x: np.ndarray
    sizes: list[tuple[int, int]]
    sources: list[Any]


def prepared_batches(
    imgs: Iterable[Any], prepare: Callable[[np.ndarray], np.ndarray], *, batch_size: int
) -> Iterator[PreparedBatch]:
    """Batches of at most `batch_size` photos, in the order of `imgs`, read one by one as they are asked for.

    prepare: from a photo (3, H, W) float32 RGB in [0, 255] to (C, H', W') float32
    Raises what `check_photos` and `read_image` raise.
    """
    check_photos(imgs, batch_size)
    batch = PreparedBatch(np.empty(0), [], [])
    xs: list[np.ndarray] = []
    for source in imgs:
        img = read_image(source)
        x = prepare(img)
        if xs and x.shape != xs[0].shape:
            yield batch._replace(x=_joined(xs))
            batch, xs = PreparedBatch(np.empty(0), [], []), []
        xs.append(x)
        batch.sizes.append(img.shape[1:])
        batch.sources.append(source)
        if len(xs) == batch_size:  # before the next photo is read, which may fail
            yield batch._replace(x=_joined(xs))
            batch, xs = PreparedBatch(np.empty(0), [], []), []
    if xs:
        yield batch._replace(x=_joined(xs))


def _joined(xs: list[np.ndarray]) -> np.ndarray:
    """(B, ...), as several would lie; of a single photo no copy is made if it lies in some order without gaps."""
    (x, *others) = xs
    if others or x.ndim != 3:
        return np.stack(xs)
    if x.flags.c_contiguous:
        return x.reshape(1, *x.shape)
    last = x.transpose(1, 2, 0)
    if last.flags.c_contiguous:
        return last.reshape(1, *last.shape).transpose(0, 3, 1, 2)
    return np.stack(xs)


def check_photos(imgs: Any, batch_size: int) -> None:
    """Raises DtypeError or ShapeError if `imgs` is one photo or not an iterable, ValueRangeError for the batch size."""
    check_several(imgs, "predict")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueRangeError("batch_size must be a positive integer", got=repr(batch_size))


def check_several(imgs: Any, function: str) -> None:
    """Raises DtypeError or ShapeError, which name the function, if `imgs` is one photo or not an iterable."""
    what, hint = f"{function} wants several photos", f"{function}([photo])"
    if isinstance(imgs, str | bytes | bytearray | os.PathLike | Image.Image):
        raise DtypeError(what, got=type(imgs).__name__, hint=hint)
    if isinstance(imgs, np.ndarray) and imgs.ndim != 4:
        raise ShapeError(what, expected="a list, or (B, 3, H, W)", got=imgs.shape, hint=hint)
    if not isinstance(imgs, Iterable):
        raise DtypeError(f"{function} wants an iterable of photos", got=type(imgs).__name__)
