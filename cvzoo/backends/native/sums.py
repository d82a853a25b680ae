"""Sums along axes by our own kernel, accumulated in float64 at memory bandwidth."""

import ctypes
import functools
import math
from typing import NamedTuple

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import RunningPlan, SumPlan, sum_plan
from cvzoo.backends.openmp import threads_now

_F32 = np.dtype(np.float32)
_Two = ctypes.c_void_p * 2


class _Case(NamedTuple):
    """The plan and its address; the result's size, its shape in memory order, and the transposition to x's axes."""

    plan: SumPlan
    address: int
    size: int
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None


@functools.lru_cache(4096)
def _case(shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...]) -> _Case | None:
    order = sorted(range(len(shape)), key=lambda axis: -abs(strides[axis]))
    kept = [axis for axis in order if axis not in axes]
    steps = [stride // 4 for stride in strides]
    plan = sum_plan([(shape[k], steps[k]) for k in kept], [(shape[k], steps[k]) for k in order if k in axes])
    if plan is None or any(stride % 4 for stride in strides):  # a field of a structured array, say
        return None
    kept_shape = tuple([shape[k] for k in kept])
    back = None if kept == sorted(kept) else tuple(np.argsort(kept).tolist())
    return _Case(plan, ctypes.addressof(plan), math.prod(kept_shape), kept_shape, back)


def sum_natively(x: np.ndarray, axes: tuple[int, ...], *, keepdims: bool) -> np.ndarray | None:
    """The sum of x (float32, not empty) along `axes`, each from 0, as of numpy.sum; None if NumPy must compute it.

    It has the memory format of x, and the same bits for any number of threads.
    """
    library = native()
    if library is None or not x.flags.aligned:
        return None
    case = _case(x.shape, x.strides, axes)
    if case is None:
        return None
    y = np.empty(case.shape, _F32)
    arrays = _Two(numpy_address(x), numpy_address(y))
    if library.kernels["sum"](case.address, arrays, threads_now()[0]):
        raise MemoryError
    if case.axes is not None:
        y = y.transpose(case.axes)
    if keepdims:
        return y.reshape([1 if axis in axes else n for axis, n in enumerate(x.shape)])
    return y if case.shape else y[()]


@functools.lru_cache(4096)
def _running_plan(shape: tuple[int, ...], strides: tuple[int, ...], axis: int) -> RunningPlan | None:
    order = sorted(range(len(shape)), key=lambda k: (-strides[k], shape[k]))
    sizes = [shape[k] for k in order]
    dense = [4 * math.prod(sizes[k + 1 :]) for k in range(len(order))]
    if any(strides[k] != step for k, step in zip(order, dense) if shape[k] != 1):
        return None
    position = order.index(axis)
    return RunningPlan(math.prod(sizes[:position]), shape[axis], math.prod(sizes[position + 1 :]))


def running_sum_natively(x: np.ndarray, axis: int) -> np.ndarray | None:
    """The running sums of x (float32, not empty) along `axis`, in its memory format; None if NumPy must."""
    library = native()
    plan = _running_plan(x.shape, x.strides, axis) if library is not None and x.flags.aligned else None
    if library is None or plan is None:
        return None
    y = np.empty_like(x)
    library.kernels["running_sum"](ctypes.addressof(plan), _Two(numpy_address(x), numpy_address(y)), threads_now()[0])
    return y
