"""Launching of element-wise kernels, which are compiled at first use."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cuda.elementwise_source import FUNCTIONS, ElementwiseKernel, kernel_source
from cvzoo.backends.cuda.layout import collapsed, like, repeated_strides
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule
from cvzoo.typing.aliases import Array

FLOATS = ("float32", "float64", "float16", "bfloat16")
_THREADS = 256
_WIDEST = 32  # bytes of an array per thread: two loads of 16


_ArrayLayout = tuple[np.dtype, tuple[int, ...], tuple[int, ...]]  # dtype, shape, strides in bytes


class _Launch(NamedTuple):
    """The kernel and its launch parameters for arrays of certain dtypes and memory formats."""

    module: KernelModule
    name: str
    grid: tuple[int, int, int]
    sizes: tuple[np.generic, ...]
    number_type: type


@functools.lru_cache(4096)
def module_of(kernel: ElementwiseKernel) -> KernelModule:
    """The compiled kernel, alone in its module."""
    return KernelModule.from_source(kernel.name, FUNCTIONS + kernel_source(kernel))


def _width(
    steps: Sequence[str], itemsizes: Sequence[int], rows: Sequence[Sequence[int]], inner: int, align: int
) -> int:
    """The vector width in elements, which all packed arrays are aligned to."""
    packed = [size for size, step in zip(itemsizes, steps) if step == "packed"]
    width = 16 // min(packed)
    while width > 1:
        fits = all(width * size <= min(align, _WIDEST) for size in packed)
        whole = len(rows[0]) == 1 or inner % width == 0
        even = all(s % width == 0 for each, step in zip(rows, steps) if step == "packed" for s in each[:-1])
        if fits and whole and even:
            return width
        width //= 2
    return 1


@functools.lru_cache(8192)
def _launch_of(
    name: str, body: str, n_number: int, shape: tuple[int, ...], layouts: tuple[_ArrayLayout, ...], align: int
) -> _Launch:
    """The launch for the layouts of the result and of each input; align: a power of two that divides all addresses."""
    dtypes = tuple([dtype.name for dtype, _, _ in layouts])
    itemsizes = tuple([dtype.itemsize for dtype, _, _ in layouts])
    strides = tuple([repeated_strides(own, strides, dtype.itemsize, shape) for dtype, own, strides in layouts])
    sizes, rows = collapsed(shape, strides)
    count = 1
    for size in sizes:
        count *= size
    steps = tuple(["packed" if each[-1] == 1 else "one" if each[-1] == 0 else "far" for each in rows])
    width = 1
    if count == 1:  # a single element is packed
        steps = ("packed", *["one"] * (len(rows) - 1))
        rows = ((1,),) * len(rows)
    elif steps[0] == "packed" and "far" not in steps:  # a strided operand would need a load per element anyway
        width = _width(steps, itemsizes, rows, sizes[-1], align)
    kernel = ElementwiseKernel(
        name=f"each_{name}",  # not the name of a function of CUDA C
        body=body,
        inputs=dtypes[1:],
        output=dtypes[0],
        steps=steps,
        n_axis=len(sizes),
        n_number=n_number,
        width=width,
        wide_index=count >= 1 << 31,  # 64-bit divisions of indices are slow
        double="float64" in dtypes,
    )
    index = np.int64 if kernel.wide_index else np.int32
    extra: list[np.signedinteger] = [np.int64(count)]
    if len(sizes) > 1:
        extra += [index(size) for size in sizes[1:]]
        extra += [np.int64(stride) for each in rows for stride in each]
    elif "far" in steps:
        extra += [np.int64(each[0]) for each in rows]
    grid = (-(-count // (width * _THREADS)), 1, 1)
    return _Launch(module_of(kernel), kernel.name, grid, tuple(extra), np.float64 if kernel.double else np.float32)


def elementwise(
    name: str,
    body: str,
    inputs: Sequence[Array],
    *,
    numbers: Sequence[float] = (),
    dtype: npt.DTypeLike | None = None,
    order: Array | None = None,
    out: Array | None = None,
) -> Array:
    """y of the inputs' shape after broadcasting, in one launch.

    name: the kernel's name in profiles, after "each_"; body: as in ElementwiseKernel
    inputs: arrays on one device, of dtypes that have a C type
    numbers: n0, n1, ... of `body`
    dtype: y's; None: the first input's if it has 16 bits, else the inputs' promoted dtype
    order: the input of y's shape whose memory format y gets; None: the first of that shape
    out: y itself; it may be one of the inputs
    """
    shape = inputs[0].shape
    for each in inputs[1:]:
        if each.shape != shape:
            shape = np.broadcast_shapes(*[each.shape for each in inputs])
            break
    if out is None:
        if dtype is None:
            dtype = first = inputs[0].dtype
            if first.itemsize != 2 and any(each.dtype != first for each in inputs):
                dtype = np.result_type(*[each.dtype for each in inputs])
        out = _allocate(inputs, shape, dtype, order)
    if not out.size:
        return out
    arrays = (out, *inputs)
    bits = 64  # the lowest bit set in any address is their common alignment
    for each in arrays:
        bits |= device_address(each)
    layouts = tuple([(each.dtype, each.shape, each.strides) for each in arrays])
    launch = _launch_of(name, body, len(numbers), shape, layouts, bits & -bits)
    number_type = launch.number_type
    launch.module.launch(
        launch.name,
        launch.grid,
        (_THREADS, 1, 1),
        (*arrays, *launch.sizes, *[number_type(number) for number in numbers]),
    )
    return out


def _allocate(inputs: Sequence[Array], shape: tuple[int, ...], dtype: npt.DTypeLike, order: Array | None) -> Array:
    xp = cupy()
    if order is None:
        order = next((each for each in inputs if each.shape == shape), None)
    if order is not None:
        return like(xp, order, np.dtype(dtype))
    if len(shape) == 4:
        b, c, h, w = shape
        return xp.empty((b, h, w, c), dtype).transpose(0, 3, 1, 2)
    return xp.empty(shape, dtype)


@functools.lru_cache(64)
def _is_float(dtype: np.dtype) -> bool:
    return dtype.name in FLOATS  # cached, since NumPy makes the name anew each time


def are_floats(*arrays: Array) -> bool:
    """Whether all have floating dtypes that the kernels support."""
    return all(map(_is_float, [each.dtype for each in arrays]))
