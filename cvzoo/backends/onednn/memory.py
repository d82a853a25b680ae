"""Allocation of arrays from the memory pool, and conversion of memory formats."""

import abc
import functools
import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from cvzoo.backends.float_types import filters_of_pack, scaled_filters
from cvzoo.backends.onednn.pool import aligned_memory, pool
from cvzoo.backends.onednn.primitives import (
    DST,
    F32,
    SRC,
    Handle,
    Primitive,
    attributes,
    dense_strides,
    describe,
    describe_image,
    layout_of,
    local,
    primitive_descriptor,
    recall,
    same_layout,
    size_of,
    strides_of,
    supported,
)

__all__ = ["channels_last", "empty", "reshaped"]


_BYTE = np.dtype(np.uint8)
_WORTHWHILE = 1 << 14  # elements; below, NumPy's copy is faster than a call


def _is_worthwhile(size: int) -> bool:
    """Whether a primitive copies this number of elements; while calls are recorded, any, so that it can be replayed."""
    return size >= _WORTHWHILE or (local.recorder is not None and size > 0)


def new_channels_last(b: int, c: int, h: int, w: int, dtype: np.dtype = F32) -> np.ndarray:
    """(B, C, H, W) of undefined values, channels-last."""
    size = dtype.itemsize
    return pool.take((b, c, h, w), (size * c * h * w, size, size * c * w, size * c), dtype, size * b * c * h * w)


def new_dense(shape: tuple[int, ...]) -> np.ndarray:
    """C-contiguous float32 of undefined values."""
    size = math.prod(shape)
    strides = []
    step = 4 * size
    for length in shape:
        step //= length
        strides.append(step)
    return pool.take(shape, strides, F32, 4 * size)


def new_vector(size: int) -> np.ndarray:
    """(size,) float32 of undefined values."""
    return pool.take((size,), (4,), F32, 4 * size)


def new_bytes(size: int) -> np.ndarray:
    """(size,) uint8 of undefined values."""
    return pool.take((size,), (1,), _BYTE, size)


def lasting_bytes(size: int) -> np.ndarray:
    """(size,) uint8 of undefined values, not from the pool: what is kept would separate its gaps."""
    memory, start = aligned_memory(size)
    return memory[start : start + size]


def new_like(x: np.ndarray) -> np.ndarray:
    """Undefined values in the shape and memory format of a dense x."""
    return pool.take(x.shape, x.strides, x.dtype, x.nbytes)


def new_bytes_like(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Undefined values of `dtype` (one byte) in the shape and memory format of a dense x."""
    return pool.take(x.shape, [stride // x.itemsize for stride in x.strides], dtype, x.size)


@functools.lru_cache(4096)
def _is_plain(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    reach = itemsize
    for stride, n in sorted(zip(strides, shape)):
        if n > 1 and (stride < reach or stride % itemsize):
            return False
        reach = stride * n if n > 1 else reach
    return True


def is_plain(x: np.ndarray) -> bool:
    """Whether oneDNN can describe the strides of x: positive multiples of the item size, without overlap.

    Fields of records, overlapping windows and every second pixel of an odd width are not plain.
    """
    return x.flags.c_contiguous or _is_plain(x.shape, x.strides, x.itemsize)


def is_dense(x: np.ndarray) -> bool:
    """Whether x is dense: in C order, channels-last or the transpose of a matrix."""
    flags = x.flags
    if flags.c_contiguous or flags.f_contiguous:
        return True
    return x.ndim == 4 and x.transpose(0, 2, 3, 1).flags.c_contiguous


def describe_dense(x: np.ndarray) -> Handle:
    """A memory descriptor of a dense x; where axes of size 1 make the format ambiguous, the common one is used.

    Strides that match no memory format must be rejected: kernels would infer other ones and write out of bounds.
    """
    if x.ndim == 4 and x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return describe_image(x.shape)
    return describe(x.shape, dense_strides(x.shape) if x.flags.c_contiguous else strides_of(x))


def empty(shape: Sequence[int], dtype: npt.DTypeLike = "float32") -> np.ndarray:
    """An array of undefined values, channels-last if it is 4-D."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        return np.empty(tuple(shape), dtype)
    if len(shape) != 4:
        steps = [dtype.itemsize * step for step in dense_strides(shape)]
        return pool.take(tuple(shape), steps, dtype, dtype.itemsize * math.prod(shape))
    b, c, h, w = shape
    size = dtype.itemsize
    strides = (size * c * h * w, size, size * c * w, size * c)
    return pool.take((b, c, h, w), strides, dtype, size * b * c * h * w)


def _make_reorder(x: np.ndarray) -> Primitive | bool:
    source = describe(x.shape, strides_of(x))
    target = describe_image(x.shape)
    descriptor = primitive_descriptor("reorder", source, target, attributes())
    return Primitive(descriptor, [(SRC, source), (DST, target)]) if descriptor else False


def channels_last(x: np.ndarray) -> np.ndarray:
    """x (B, C, H, W) itself if it is channels-last, else a channels-last copy."""
    if x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return x
    if x.dtype == F32 and _is_worthwhile(x.size) and is_plain(x):
        key = ("channels_last", x.shape, x.strides)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make_reorder, x)
        if run:
            y = new_channels_last(*x.shape)
            run(x, y)
            return y
    y = empty(x.shape, x.dtype)
    y[...] = x
    return y


def _is_view(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> bool:
    """Whether an array with these strides can be viewed in a new shape of the same size."""
    old = [(n, step) for n, step in zip(shape, strides) if n != 1]
    sizes = [n for n in new if n != 1]
    while old:
        n, step = old.pop()  # from the innermost axis outwards: join axes until the sizes agree
        m = sizes.pop()
        while n != m:
            if m < n:
                m *= sizes.pop()
            else:
                outer, outer_step = old.pop()
                if outer_step != n * step:
                    return False
                n *= outer
    return True


def _make_copy(x: np.ndarray) -> Primitive | bool:
    source, target = describe(x.shape, strides_of(x)), describe(x.shape, dense_strides(x.shape))
    descriptor = primitive_descriptor("reorder", source, target, attributes())
    return Primitive(descriptor, [(SRC, source), (DST, target)]) if descriptor else False


def reshaped(x: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """See `AbstractBackend.reshaped`."""
    if x.flags.c_contiguous or x.dtype != F32 or not _is_worthwhile(x.size) or not is_plain(x) or x.ndim > 12:
        return x.reshape(shape)
    if -1 in shape:
        rest = -math.prod(shape)
        shape = [x.size // max(rest, 1) if n == -1 else n for n in shape]
    if math.prod(shape) != x.size or _is_view(x.shape, x.strides, shape):
        return x.reshape(shape)
    key = ("copy", x.shape, x.strides)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_copy, x)
    if not run:
        return x.reshape(shape)
    y = new_dense(x.shape)
    run(x, y)
    return y.reshape(shape)


def as_kernels_want(x: np.ndarray) -> np.ndarray:
    """x (B, C, H, W) itself if its strides are exactly those of a dense channels-last array, else channels_last(x)."""
    _, c, h, w = x.shape
    if x.strides == (4 * c * h * w, 4, 4 * c * w, 4 * c):
        return x
    return channels_last(x)


def with_plain_strides(w: np.ndarray) -> np.ndarray:
    """w itself, or a contiguous copy if its strides cannot be described."""
    return w if w.flags.c_contiguous or is_plain(w) else np.ascontiguousarray(w)


def vector(values: np.ndarray) -> np.ndarray:
    """values (O,) as contiguous float32."""
    return values if values.dtype == F32 and values.strides == (4,) else np.ascontiguousarray(values, F32)


class AbstractCachedWeights(abc.ABC):
    """Weights in the memory format that a kernel reads, cached with their parameter.

    layout: the name of the format in the cache; None: that of the parameter itself, nothing is cached
    """

    __slots__ = ("layout",)
    layout: Hashable

    @abc.abstractmethod
    def make(self, w: np.ndarray) -> np.ndarray:
        """The weights in the kernel's format."""

    def __call__(self, w: np.ndarray, pack: dict | None) -> np.ndarray:
        """The weights in the kernel's format, from the cache `pack` if it has them."""
        if pack is None:
            return self.make(w)
        if self.layout is None:
            return self.make(filters_of_pack(w, pack))
        made = pack.get(self.layout)
        if made is None:
            scale = getattr(pack, "scale", None)
            made = pack[self.layout] = self.make(w if scale is None else scaled_filters(w, scale))
        return made


class PackedWeights(AbstractCachedWeights):
    """Weights reordered to the memory format that a primitive has chosen."""

    __slots__ = ("_reorder", "_size")

    def __init__(self, plain: Handle, chosen: int, *, name: str = ""):
        """plain: descriptor of the weights before reordering; name: distinguishes formats beyond the layout"""
        self._size = size_of(chosen)
        self._reorder: Primitive | None = None
        self.layout = None
        if not same_layout(plain.address, chosen):
            # the size tells whether a correction stands behind the weights, which is not part of their order
            self.layout = (name, self._size, layout_of(chosen))
            self._reorder = Primitive(
                supported(primitive_descriptor("reorder", plain, chosen, attributes())), [(SRC, plain), (DST, chosen)]
            )

    def make(self, w: np.ndarray) -> np.ndarray:
        """The weights reordered, or w itself."""
        if self._reorder is None:
            return w
        packed = lasting_bytes(self._size)
        self._reorder(w, packed)
        return packed
