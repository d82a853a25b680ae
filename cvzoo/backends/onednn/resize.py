"""Resizing by oneDNN, and preprocessing of images that Pillow does not resize."""

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.abstract import Pair
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.image_plan import ImagePlan, Resampling
from cvzoo.backends.native.library import native
from cvzoo.backends.native.preparation import Taps, prepare_natively
from cvzoo.backends.numpy.resize import axis_matrix, axis_taps, prepare_image, prepare_on_host, resampled
from cvzoo.backends.numpy.resize import resize_2d as numpy_resize_2d
from cvzoo.backends.numpy.resize import resize_2d_grad as numpy_resize_2d_grad
from cvzoo.backends.onednn.matmul import matmul
from cvzoo.backends.onednn.memory import as_kernels_want, new_channels_last
from cvzoo.backends.onednn.primitives import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    F32,
    FORWARD_TRAINING,
    SRC,
    Primitive,
    attributes,
    describe_image,
    local,
    primitive_descriptor,
    recall,
)

__all__ = ["prepare_images", "resize_2d", "resize_2d_grad"]


_NEAREST, _LINEAR = 0x2FFF0, 0x2FFF1
# pixels: the library computes coordinates in float32, up to this size within 6e-6 pixels of x
_SMALL = 96
_FEW = 64  # pixels of an axis; with more, most elements of the weight matrix are 0, and NumPy is faster


def _algorithm(size: Pair, other: Pair, mode: str, align_corners: bool) -> int | None:
    """oneDNN's algorithm for resizing maps from `size` to `other`; None where its results differ from ours."""
    if mode == "nearest":
        # the library rounds coordinates, which we truncate; that is the same if each pixel becomes a block
        return _NEAREST if other[0] % size[0] == 0 and other[1] % size[1] == 0 else None
    if mode != "bilinear" or align_corners:
        return None
    is_near = all(a <= _SMALL or _is_power_of_two(max(a, b) / min(a, b)) for a, b in zip(size, other))
    return _LINEAR if is_near else None


def _is_power_of_two(ratio: float) -> bool:
    return math.frexp(ratio)[0] == 0.5


def _make(kind: int, x_shape: tuple[int, ...], y_shape: tuple[int, ...], is_grad: bool) -> Primitive | bool:
    source, target = (
        describe_image(x_shape),
        describe_image(y_shape),
    )
    plan = primitive_descriptor("resampling_forward", FORWARD_TRAINING, kind, None, source, target, attributes())
    if plan is None or not is_grad:
        return Primitive(plan, [(SRC, source), (DST, target)]) if plan else False
    plan = primitive_descriptor("resampling_backward", kind, None, source, target, plan, attributes())
    return Primitive(plan, [(DIFF_DST, target), (DIFF_SRC, source)]) if plan else False


@functools.lru_cache(256)
def _weights(n_in: int, n_out: int, align_corners: bool, antialias: bool) -> np.ndarray:
    """(1, n_out, n_in): interpolation weights of the input pixels of an axis for each output pixel."""
    return axis_matrix(n_in, n_out, "bilinear", align_corners, antialias, F32)[None]


def _by_products(x: np.ndarray, size: Pair, align_corners: bool, antialias: bool) -> np.ndarray:
    """Separable resizing by matrix products: columns first, then rows."""
    b, c, h, w = x.shape
    y = as_kernels_want(x).transpose(0, 2, 3, 1)
    if size[1] != w:
        y = matmul(_weights(w, size[1], align_corners, antialias), y.reshape(b * h, w, c))
    if size[0] != h:
        y = matmul(_weights(h, size[0], align_corners, antialias), y.reshape(b, h, size[1] * c))
    return y.reshape(b, *size, c).transpose(0, 3, 1, 2)


def _shrinks(size: Pair, other: Pair) -> bool:
    return other[0] < size[0] or other[1] < size[1]


def _suits_products(size: Pair, other: Pair, mode: str) -> bool:
    return mode == "bilinear" and max(size) <= _FEW and other != size


@in_float32
def resize_2d(x: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """See `AbstractBackend.resize_2d`."""
    if x.dtype == F32 and x.size and not (antialias and _shrinks(x.shape[2:], size)):
        kind = _algorithm(x.shape[2:], size, mode, align_corners)
        if kind is not None:
            y_shape = (*x.shape[:2], *size)
            key = ("resize", kind, x.shape, y_shape)
            run = local.young.get(key)
            if run is None:
                run = recall(key, _make, kind, x.shape, y_shape, False)
            if run:
                y = new_channels_last(x.shape[0], x.shape[1], *size)
                run(as_kernels_want(x), y)
                return y
    if x.dtype == F32 and x.size and _suits_products(x.shape[2:], size, mode):
        return _by_products(x, size, align_corners, antialias)
    return numpy_resize_2d(x, size, mode=mode, align_corners=align_corners, antialias=antialias)


@in_float32
def resize_2d_grad(gy: np.ndarray, size: Pair, *, mode: str, align_corners: bool, antialias: bool) -> np.ndarray:
    """See `AbstractBackend.resize_2d_grad`."""
    if gy.dtype == F32 and gy.size and not (antialias and _shrinks(size, gy.shape[2:])):
        kind = _algorithm(size, gy.shape[2:], mode, align_corners)
        if kind is not None:
            x_shape = (*gy.shape[:2], *size)
            key = ("resize_grad", kind, x_shape, gy.shape)
            run = local.young.get(key)
            if run is None:
                run = recall(key, _make, kind, x_shape, gy.shape, True)
            if run:
                gx = new_channels_last(gy.shape[0], gy.shape[1], *size)
                run(as_kernels_want(gy), gx)
                return gx
    return numpy_resize_2d_grad(gy, size, mode=mode, align_corners=align_corners, antialias=antialias)


@functools.lru_cache(256)
def _rows(n_in: int, n_out: int, antialias: bool) -> Taps:
    """(T, n_out) int32 and float32: input rows of each row, their weights."""
    index, weights = axis_taps(n_in, n_out, "bilinear", False, antialias)
    return np.ascontiguousarray(index.T, np.int32), np.ascontiguousarray(weights.T, np.float32)


@functools.lru_cache(256)
def _columns(n_in: int, n_out: int, antialias: bool) -> Taps:
    """(T, 3 n_out) int32 and float32: values of an input row for each value of a row, their weights."""
    index, weights = _rows(n_in, n_out, antialias)
    index = index[:, :, None] * 3 + np.arange(3, dtype=np.int32)
    return index.reshape(len(index), -1), np.repeat(weights, 3, axis=1)


def _prepare(image: np.ndarray, plan: ImagePlan, inside: np.ndarray) -> None:
    """As `prepare_image`, with the same bits, by our own kernel where there is one."""
    size, antialias = image.shape[1:], plan.how is Resampling.ANTIALIASED
    resizes = size != plan.resized and (antialias or plan.how is Resampling.BILINEAR)
    if resizes and not (antialias and _shrinks(size, plan.resized)):
        resizes = _algorithm(size, plan.resized, "bilinear", False) is None
    resizes = resizes and not _suits_products(size, plan.resized, "bilinear")
    if native() is None or not image.size or (plan.before and not resizes):
        return prepare_image(image, plan, inside, resize_2d)
    if not resizes:
        return prepare_natively(resampled(image, plan.resized, plan.how, resize_2d), plan, inside, None, None)
    rows = None if size[0] == plan.resized[0] else _rows(size[0], plan.resized[0], antialias)
    columns = None if size[1] == plan.resized[1] else _columns(size[1], plan.resized[1], antialias)
    return prepare_natively(image, plan, inside, rows, columns)


def prepare_images(
    images: Sequence[np.ndarray], plans: Sequence[ImagePlan], *, dtype: npt.DTypeLike = np.float32, channels: int = 3
) -> np.ndarray:
    return prepare_on_host(images, plans, dtype, channels, _prepare)
