"""Arrays laid one after another."""

import ctypes
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.in_threads import in_threads
from cvzoo.backends.numpy.concat import concat as numpy_concat
from cvzoo.backends.onednn.memory import as_kernels_want, new_channels_last, new_dense
from cvzoo.backends.onednn.primitives import (
    DST,
    F32,
    Primitive,
    attributes,
    describe_image,
    local,
    primitive_descriptor,
    recall,
)

_FIRST_OF_MANY = 1024
_FEW = 1 << 14  # elements; below, NumPy is as fast
_MANY = 1 << 19  # elements that a thread copies at a time


def _make(shapes: tuple[tuple[int, ...], ...], axis: int, y_shape: Sequence[int]) -> Primitive | bool:
    sources = [describe_image(shape) for shape in shapes]
    target = describe_image(y_shape)
    addresses = (ctypes.c_void_p * len(sources))(*(source.address for source in sources))
    plan = primitive_descriptor("concat", target, len(sources), axis, addresses, attributes())
    slots = [(_FIRST_OF_MANY + k, source) for k, source in enumerate(sources)]
    return Primitive(plan, [(DST, target), *slots]) if plan else False


def concat(arrays: Sequence[np.ndarray], *, axis: int) -> np.ndarray:
    """As AbstractBackend.concat says."""
    if all(a.ndim == 4 and a.dtype is F32 and a.size for a in arrays) and sum(a.size for a in arrays) >= _FEW:
        shapes = tuple(a.shape for a in arrays)
        axis %= 4
        y_shape = list(shapes[0])
        y_shape[axis] = sum(shape[axis] for shape in shapes)
        key = ("concat", shapes, axis)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make, shapes, axis, y_shape)
        if run:
            y = new_channels_last(*y_shape)
            run(y, *[as_kernels_want(a) for a in arrays])
            return y
    if all(a.ndim == 3 and a.dtype is F32 and a.size for a in arrays) and sum(a.size for a in arrays) >= _MANY:
        return _concat_in_threads(arrays, axis % 3)
    return numpy_concat(arrays, axis=axis)


def _concat_in_threads(arrays: Sequence[np.ndarray], axis: int) -> np.ndarray:
    """What detectors' heads say of all anchors: up to 80 MB, which the library would copy through its own orders."""
    shape = list(arrays[0].shape)
    shape[axis] = sum(a.shape[axis] for a in arrays)
    y = new_dense(tuple(shape))
    parts, start = [], 0
    for a in arrays:
        target = np.moveaxis(y, axis, 0)[start : start + a.shape[axis]]
        source = np.moveaxis(a, axis, 0)
        step = max(_MANY // max(source[0].size, 1), 1)
        parts += [(target[k : k + step], source[k : k + step]) for k in range(0, len(source), step)]
        start += len(source)
    in_threads(parts, lambda part: np.copyto(*part))
    return y
