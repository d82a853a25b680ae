"""Memory layout: axes of arrays that broadcast merged, rows along an axis and the threads that compute them."""

import functools
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cupy.library import Cupy, cupy
from cvzoo.backends.gpu_kernels import suffix
from cvzoo.typing.aliases import Array

Sizes = tuple[int, ...]


def order_of(shape: Sizes, strides: Sizes) -> Sizes:
    """The axes from the slowest to the fastest in memory; repeated axes and those of size 1 are ambiguous.

    Where strides are ambiguous, four axes are taken as channels-last, others as row-major.
    """
    order = [0, 2, 3, 1] if len(shape) == 4 else list(range(len(shape)))
    # only axes with meaningful strides are sorted; the others stay where the default order has them
    ordered = [axis for axis in order if strides[axis] and shape[axis] != 1]
    ordered.sort(key=lambda axis: -abs(strides[axis]))
    rest = iter(ordered)
    return tuple([next(rest) if strides[axis] and shape[axis] != 1 else axis for axis in order])


@functools.lru_cache(4096)
def dense_strides(shape: Sizes, strides: Sizes) -> Sizes:
    """Strides, in elements, of a contiguous array with the memory order of `strides`."""
    result = [0] * len(shape)
    step = 1
    for axis in reversed(order_of(shape, strides)):
        result[axis] = step
        step *= shape[axis]
    return tuple(result)


@functools.lru_cache(4096)
def collapsed(shape: Sizes, strides: tuple[Sizes, ...]) -> tuple[Sizes, tuple[Sizes, ...]]:
    """Sizes, and strides of each array, after merging axes where possible.

    shape: after broadcasting; no size is 0
    strides: for each array, one per axis, 0 where it is repeated; axes are in the memory order of the first array
    There is at least one axis: a single element is one axis of size 1.
    """
    axes = [axis for axis in order_of(shape, strides[0]) if shape[axis] != 1]
    if not axes:
        return (1,), tuple([(0,)] * len(strides))
    sizes = [shape[axes[0]]]
    steps = [[each[axes[0]]] for each in strides]
    for axis in axes[1:]:
        size = shape[axis]
        if all(merged[-1] == each[axis] * size for merged, each in zip(steps, strides)):
            sizes[-1] *= size
            for merged, each in zip(steps, strides):
                merged[-1] = each[axis]
        else:
            sizes.append(size)
            for merged, each in zip(steps, strides):
                merged.append(each[axis])
    return tuple(sizes), tuple([tuple(merged) for merged in steps])


def element_strides(array: Array, shape: Sizes) -> Sizes:
    """The strides of `array` in elements, 0 on the axes where it is repeated to `shape`."""
    return repeated_strides(array.shape, array.strides, array.itemsize, shape)


def repeated_strides(own: Sizes, strides: Sizes, itemsize: int, shape: Sizes) -> Sizes:
    """`element_strides` of an array of shape `own`, from its strides in bytes."""
    if own == shape:
        return tuple([stride // itemsize for stride in strides])
    lead = len(shape) - len(own)
    return (0,) * lead + tuple([0 if n == 1 else stride // itemsize for n, stride in zip(own, strides)])


@functools.lru_cache(4096)
def _axes_of(shape: Sizes, strides: Sizes) -> tuple[Sizes, Sizes] | None:
    """The memory order of the axes, and its inverse; None if it is the identity."""
    order = order_of(shape, strides)
    if order == tuple(range(len(shape))):
        return None
    back = [0] * len(order)
    for position, axis in enumerate(order):
        back[axis] = position
    return order, tuple(back)


def like(xp: Cupy, x: Array, dtype: np.dtype) -> Array:
    """A contiguous array of undefined values in x's shape and memory format."""
    axes = _axes_of(x.shape, x.strides)
    if axes is None:
        return xp.empty(x.shape, dtype)
    order, back = axes
    return xp.empty(tuple([x.shape[axis] for axis in order]), dtype).transpose(back)


def is_dense(x: Array) -> bool:
    """Whether x is contiguous, in any order of axes."""
    return x.flags.c_contiguous or element_strides(x, x.shape) == dense_strides(x.shape, x.strides) or not x.size


def as_dense(xp: Cupy, x: Array) -> Array:
    """x itself if it is contiguous in any order of axes, else a contiguous copy in the same order."""
    return x if is_dense(x) else copied(like(xp, x, x.dtype), x)


def same_order(xp: Cupy, x: Array, other: Array) -> Array:
    """x itself if it has the memory format of `other`, a contiguous array of its shape; else a copy that has."""
    return x if x.strides == other.strides else copied(like(xp, other, x.dtype), x)


def copied(y: Array, x: Array) -> Array:
    """y, after x is copied into it."""
    y[...] = x
    return y


def pixel_rows(x: Array) -> Array:
    """(B, ..., C), C-contiguous, from x (B, C, ...): a view if x is channels-last, else a copy."""
    rows = x.transpose(0, 2, 3, 1) if x.ndim == 4 else x.transpose(0, *range(2, x.ndim), 1)
    return rows if rows.flags.c_contiguous else cupy().ascontiguousarray(rows)


def new_rows(x: Array) -> Array:
    """(B, ..., C) of undefined values for an array like x (B, C, ...)."""
    return cupy().empty((x.shape[0], *x.shape[2:], x.shape[1]), x.dtype)


def as_channels(rows: Array) -> Array:
    """(B, C, ...) from (B, ..., C): with 4 axes a channels-last view, else C-contiguous."""
    if rows.ndim == 4:
        return rows.transpose(0, 3, 1, 2)
    if rows.ndim == 2:
        return rows
    return cupy().ascontiguousarray(rows.transpose(0, -1, *range(1, rows.ndim - 1)))


def can_vectorize(channels: int, *arrays: Array | None) -> np.int32:
    """1 if kernels may load 8 channels at once, aligned to 16 bytes, else 0; an array may be None."""
    if channels % 8:  # rows would begin at unaligned addresses
        return np.int32(0)
    return np.int32(all(a is None or device_address(a) % 16 == 0 for a in arrays))


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which kernels sum values of a floating dtype: float64 for float64, else float32."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def lanes_for(channels: int) -> int:
    """Number of threads along the channels in a block, with eight channels each: a power of two up to 8."""
    lanes = 1
    while lanes < 8 and lanes * 8 < channels:
        lanes *= 2
    return lanes


def as_vector(v: Array, dtype: np.dtype) -> Array:
    """v as a contiguous array of that dtype, itself if it is one."""
    if v.dtype == dtype and v.flags.c_contiguous:
        return v
    return cupy().ascontiguousarray(v, dtype)


_THREADS = 256
_LONG = 1024  # elements; longer rows are computed by a block, since a warp would be alone with one


class Rows(NamedTuple):
    """count rows of `length` elements with the stride `inner`, see kernels/softmax.cu."""

    count: int  # type: ignore[assignment]  # overrides tuple.count
    length: int
    inner: int
    team: str

    @property
    def grid(self) -> tuple[int, int, int]:
        """For `block` threads."""
        rows_per_block = {"block": 1, "warp": _THREADS // 32, "thread": _THREADS}[self.team]
        return (-(-self.count // rows_per_block), 1, 1)

    @property
    def block(self) -> tuple[int, int, int]:
        return (_THREADS, 1, 1)

    def kernel(self, name: str, dtype: np.dtype) -> str:
        """The full name of the kernel for this team and dtype."""
        return f"{name}_{self.team}_{suffix(dtype)}"


def rows_along(x: Array, axis: int) -> Rows:
    """Contiguous x as rows along `axis`."""
    axis %= x.ndim
    order = order_of(x.shape, x.strides)
    length = x.shape[axis]
    inner = 1
    for other in order[order.index(axis) + 1 :]:
        inner *= x.shape[other]
    return make_rows(x.size // length, length, inner)


def make_rows(count: int, length: int, inner: int) -> Rows:
    """Rows with contiguous elements are computed by a warp or a block each, others by a thread."""
    return Rows(count, length, inner, "thread" if inner > 1 else "block" if length >= _LONG else "warp")
