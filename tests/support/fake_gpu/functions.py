"""CuPy's functions that cvzoo may use: each exists in CuPy, and does what CuPy documents."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fake_gpu.array import CudaArray, check_operand, launch
from fake_gpu.creation import (
    arange,
    array,
    asanyarray,
    asarray,
    ascontiguousarray,
    asnumpy,
    copy,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    get_array_module,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from fake_gpu.machine import machine
from fake_gpu.ufuncs import UFUNCS, words


# --- shapes ---------------------------------------------------------------------------------------------------------
def _viewing(name: str) -> Callable:
    call = getattr(np, name)

    def function(a: CudaArray, *args: Any, **kwargs: Any) -> Any:
        check = a if isinstance(a, CudaArray) else None
        if check is None:
            raise TypeError(f"{name}: an array of a device is wanted, got {type(a)}")
        made = call(a._host, *args, **kwargs)
        return [a._view(each) for each in made] if isinstance(made, list | tuple) else a._view(made)

    return function


def reshape(a: CudaArray, newshape: Any, order: str = "C", *, copy: Any = None) -> CudaArray:
    return a.reshape(newshape, order=order, copy=copy)


def ravel(a: CudaArray, order: str = "C") -> CudaArray:
    return a.ravel(order)


def broadcast_to(array: CudaArray, shape: Any) -> CudaArray:
    return array._view(np.lib.stride_tricks.as_strided(array._host, *_broadcast(array._host, shape)))


def _broadcast(host: np.ndarray, shape: Any) -> tuple:
    made = np.broadcast_to(host, shape)
    return made.shape, made.strides


def broadcast_arrays(*args: CudaArray) -> list[CudaArray]:
    shape = np.broadcast_shapes(*[each.shape for each in args])
    return [broadcast_to(each, shape) for each in args]


def atleast_1d(*arys: CudaArray) -> Any:
    made = [each if each.ndim else each.reshape((1,)) for each in arys]
    return made[0] if len(made) == 1 else made


def _joined(name: str, call: Callable, arrays: Sequence[CudaArray], out: Any = None, dtype: Any = None) -> CudaArray:
    arrays = list(arrays)
    for each in arrays:
        if not isinstance(each, CudaArray):
            raise TypeError("Only cupy arrays can be concatenated")

    def compute(*hosts: Any) -> Any:
        made = call(hosts)
        return made if dtype is None else made.astype(dtype)

    return launch(name, compute, arrays, out=out)


def concatenate(
    tup: Sequence[CudaArray], axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> CudaArray:
    return _joined("concatenate", lambda hosts: np.concatenate(hosts, axis), tup, out, dtype)


def stack(
    tup: Sequence[CudaArray], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> CudaArray:
    return _joined("stack", lambda hosts: np.stack(hosts, axis), tup, out, dtype)


def hstack(tup: Sequence[CudaArray], *, dtype: Any = None, casting: str = "same_kind") -> CudaArray:
    return _joined("concatenate", np.hstack, tup)


def vstack(tup: Sequence[CudaArray], *, dtype: Any = None, casting: str = "same_kind") -> CudaArray:
    return _joined("concatenate", np.vstack, tup)


def split(ary: CudaArray, indices_or_sections: Any, axis: int = 0) -> list[CudaArray]:
    return [ary._view(each) for each in np.split(ary._host, indices_or_sections, axis)]


def array_split(ary: CudaArray, indices_or_sections: Any, axis: int = 0) -> list[CudaArray]:
    return [ary._view(each) for each in np.array_split(ary._host, indices_or_sections, axis)]


def pad(array: CudaArray, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> CudaArray:
    return launch("pad", lambda a: np.pad(a, pad_width, mode, **kwargs), [array])


def tile(A: CudaArray, reps: Any) -> CudaArray:
    return launch("tile", lambda a: np.tile(a, reps), [A])


def repeat(a: CudaArray, repeats: Any, axis: Any = None) -> CudaArray:
    if isinstance(repeats, CudaArray):
        raise TypeError("repeats of a device's array are not supported")
    return launch("repeat", lambda x: np.repeat(x, repeats, axis), [a])


def roll(a: CudaArray, shift: Any, axis: Any = None) -> CudaArray:
    if isinstance(shift, CudaArray):
        shift = shift.get()
    return launch("roll", lambda x: np.roll(x, shift, axis), [a])


# --- choosing -------------------------------------------------------------------------------------------------------
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return nonzero(condition)
    if not isinstance(condition, CudaArray):
        condition = array(condition)

    def compute(c: Any, a: Any, b: Any) -> Any:
        made = np.where(c != 0 if c.dtype != bool else c, a, b)
        return made.astype(np.float32) if made.dtype.name == "bfloat16" else made  # CuPy's has no loop for it

    return launch("where", compute, [condition, x, y])


def take(a: CudaArray, indices: Any, axis: Any = None, out: Any = None) -> CudaArray:
    if not isinstance(indices, CudaArray | int | np.integer):
        indices = array(indices, dtype=int)
    return launch("take", lambda x, k: np.take(x, k, axis, mode="wrap"), [a, indices], out=out)


def take_along_axis(a: CudaArray, indices: CudaArray, axis: Any) -> CudaArray:
    if axis is None:
        a, axis = a.ravel(), 0
    n = a.shape[axis]
    return launch("take", lambda x, k: np.take_along_axis(x, np.mod(k.astype(np.int64), max(n, 1)), axis), [a, indices])


def put_along_axis(arr: CudaArray, indices: CudaArray, values: Any, axis: Any) -> None:
    if axis is None:
        arr, axis = arr.ravel(), 0
    n = arr.shape[axis]

    def compute(before: Any, k: Any, what: Any) -> Any:
        made = before.copy()
        np.put_along_axis(made, np.mod(k.astype(np.int64), max(n, 1)), what, axis)
        return made

    launch("scatter_update", compute, [arr, indices, values], out=arr)


def compress(condition: Any, a: CudaArray, axis: Any = None, out: Any = None) -> CudaArray:
    return take(a, nonzero(condition)[0], axis, out)


def _counting(name: str) -> Callable:
    call = getattr(np, name)

    def function(a: CudaArray, *args: Any, **kwargs: Any) -> Any:
        check_operand(a)
        machine().sync(name)
        made = call(a._host, *args, **kwargs)
        made = made if isinstance(made, tuple) else (made,)
        found = tuple(launch(name, lambda each=each: each, []) for each in made)
        return found if name in ("nonzero",) or len(found) > 1 else found[0]

    return function


nonzero = _counting("nonzero")


def bincount(x: CudaArray, weights: Any = None, minlength: Any = None) -> CudaArray:
    machine().sync("bincount")
    operands = [x] if weights is None else [x, weights]
    return launch("bincount", lambda k, w=None: np.bincount(k, w, minlength or 0), operands)


# --- sums and the like ----------------------------------------------------------------------------------------------
def _summing(name: str, takes_dtype: bool) -> Callable:
    call = getattr(np, name)

    def with_dtype(
        a: CudaArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> CudaArray:
        return launch(name, lambda x: call(x, axis=axis, dtype=dtype, keepdims=keepdims), [a], out=out)

    def without(a: CudaArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> CudaArray:
        return launch(name, lambda x: call(x, axis=axis, keepdims=keepdims), [a], out=out)

    return with_dtype if takes_dtype else without


def _deviating(name: str) -> Callable:
    call = getattr(np, name)

    def function(
        a: CudaArray, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0, keepdims: bool = False
    ) -> CudaArray:
        return launch(name, lambda x: call(x, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims), [a], out=out)

    return function


def _locating(name: str) -> Callable:
    call = getattr(np, name)

    def function(
        a: CudaArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> CudaArray:
        return launch(name, lambda x: call(x, axis=axis, keepdims=keepdims), [a], out=out)

    return function


def _running(name: str) -> Callable:
    call = getattr(np, name)

    def function(a: CudaArray, axis: Any = None, dtype: Any = None, out: Any = None) -> CudaArray:
        if a.dtype.name == "bfloat16":
            raise NotImplementedError("the fake does not know what CuPy makes of it")
        return launch(name, lambda x: call(x, axis=axis, dtype=dtype), [a], out=out)

    return function


def count_nonzero(a: CudaArray, axis: Any = None) -> CudaArray:
    return launch("count_nonzero", lambda x: np.count_nonzero(x, axis=axis), [a])


def _sortable(a: CudaArray) -> None:
    if a.dtype.name == "bfloat16":
        raise TypeError("Sorting arrays with dtype 'bfloat16' is not supported")


def sort(a: CudaArray, axis: Any = -1, kind: Any = None) -> CudaArray:
    _sortable(a)
    return launch("sort", lambda x: np.sort(x, axis, kind="stable"), [a])


def argsort(a: CudaArray, axis: Any = -1, kind: Any = None) -> CudaArray:
    _sortable(a)
    return launch("argsort", lambda x: np.argsort(x, axis, kind="stable"), [a])


def searchsorted(a: CudaArray, v: Any, side: str = "left", sorter: Any = None) -> CudaArray:
    if not isinstance(a, CudaArray):
        raise NotImplementedError("Only int or ndarray are supported for a")
    if not isinstance(v, CudaArray):
        raise NotImplementedError("Only int or ndarray are supported for v")
    return launch("searchsorted", lambda x, y: np.searchsorted(x, y, side), [a, v])


def clip(a: CudaArray, a_min: Any, a_max: Any, out: Any = None) -> CudaArray:
    operands = [a, *(each for each in (a_min, a_max) if each is not None)]

    def compute(x: Any, *ends: Any) -> Any:
        left = list(ends)
        low = None if a_min is None else left.pop(0)
        x = x.astype(np.float32) if x.dtype.name == "bfloat16" else x  # CuPy's has no loop for it
        return np.clip(x, low, left.pop(0) if left else None)

    return launch("clip", compute, operands, out=out)


def around(a: CudaArray, decimals: int = 0, out: Any = None) -> CudaArray:
    return launch("round", lambda x: np.round(x, decimals), [a], out=out)


def nan_to_num(x: CudaArray, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> CudaArray:
    return launch("nan_to_num", lambda a: np.nan_to_num(a, True, nan, posinf, neginf), [x], out=None if copy else x)


def copyto(dst: CudaArray, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    if where is not None:
        raise NotImplementedError("the fake copies all")
    if isinstance(src, np.ndarray):
        raise TypeError(f"Unsupported type {type(src)}")
    launch("copyto", lambda a: a, [src], out=dst, cast=casting)


def unravel_index(indices: CudaArray, dims: Any, order: str = "C") -> tuple:
    machine().sync("unravel_index")  # CuPy asks whether all are in bounds
    return tuple(
        launch("unravel_index", lambda k, axis=axis: np.unravel_index(k, dims)[axis], [indices])
        for axis in range(len(dims))
    )


def interp(x: CudaArray, xp: CudaArray, fp: CudaArray) -> CudaArray:
    return launch("interp", np.interp, [x, xp, fp])


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> CudaArray:
    return launch("allclose", lambda x, y: np.allclose(x, y, rtol, atol, equal_nan), [a, b])


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> CudaArray:
    return launch("array_equal", lambda x, y: np.array_equal(x, y, equal_nan), [a1, a2])


def diff(a: CudaArray, n: int = 1, axis: int = -1) -> CudaArray:
    return launch("diff", lambda x: np.diff(x, n, axis), [a])


def tril(m: CudaArray, k: int = 0) -> CudaArray:
    return launch("tril", lambda x: np.tril(x, k), [m])


def triu(m: CudaArray, k: int = 0) -> CudaArray:
    return launch("triu", lambda x: np.triu(x, k), [m])


def diag(v: CudaArray, k: int = 0) -> CudaArray:
    return launch("diag", lambda x: np.diag(x, k), [v])


def meshgrid(*xi: CudaArray, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> list[CudaArray]:
    return [
        launch("meshgrid", lambda *hosts, k=k: np.meshgrid(*hosts, indexing=indexing, sparse=sparse)[k], xi)
        for k in range(len(xi))
    ]


def _by_cublas(name: str) -> Callable:
    call = getattr(np, name)

    def function(a: CudaArray, b: CudaArray, out: Any = None) -> CudaArray:
        machine().refuse_in_capture(f"{name}: calls of cuBLAS by CuPy")

        def compute(x: Any, y: Any) -> Any:
            if x.dtype.name in ("bfloat16", "float16"):
                return call(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
            return call(x, y)

        return launch(name, compute, [a, b], out=out)

    return function


def einsum(subscripts: str, *operands: CudaArray) -> CudaArray:
    machine().refuse_in_capture("einsum: calls of cuBLAS by CuPy")
    return launch("einsum", lambda *hosts: np.einsum(subscripts, *hosts), operands)


def tensordot(a: CudaArray, b: CudaArray, axes: Any = 2) -> CudaArray:
    machine().refuse_in_capture("tensordot: calls of cuBLAS by CuPy")
    return launch("tensordot", lambda x, y: np.tensordot(x, y, axes), [a, b])


def may_share_memory(a: CudaArray, b: CudaArray, max_work: Any = None) -> bool:
    return np.may_share_memory(a._host, b._host)


def shares_memory(a: CudaArray, b: CudaArray, max_work: Any = None) -> bool:
    return np.may_share_memory(a._host, b._host)


def ndim(a: Any) -> int:
    return a.ndim if isinstance(a, CudaArray) else np.ndim(a)


def shape(a: Any) -> tuple:
    return a.shape if isinstance(a, CudaArray) else np.shape(a)


def size(a: Any, axis: Any = None) -> int:
    return (a.size if axis is None else a.shape[axis]) if isinstance(a, CudaArray) else np.size(a, axis)


FUNCTIONS: dict[str, Callable] = {
    **UFUNCS,
    **{
        name: _viewing(name)
        for name in ["expand_dims", "flip", "moveaxis", "rollaxis", "squeeze", "swapaxes", "transpose", "diagonal"]
    },
    **{name: _summing(name, True) for name in ("sum", "prod", "mean", "nansum")},
    **{name: _summing(name, False) for name in ("max", "min", "amax", "amin", "any", "all")},
    **{name: _deviating(name) for name in ("var", "std")},
    **{name: _locating(name) for name in ("argmax", "argmin")},
    **{name: _running(name) for name in ("cumsum", "cumprod")},
    **{name: _counting(name) for name in ("nonzero", "flatnonzero", "argwhere", "unique")},
    **{name: _by_cublas(name) for name in ("matmul", "dot")},
    "round": around,
    "permute_dims": _viewing("transpose"),
}
for _function in (
    *(empty, full, zeros, ones, empty_like, full_like, zeros_like, ones_like, array, asarray, asanyarray),
    *(ascontiguousarray, copy, arange, linspace, eye, from_dlpack, asnumpy, get_array_module, reshape, ravel),
    *(broadcast_to, broadcast_arrays, atleast_1d, concatenate, stack, hstack, vstack, split, array_split, pad, tile),
    *(repeat, roll, where, take, take_along_axis, put_along_axis, compress, bincount, count_nonzero, sort, argsort),
    *(searchsorted, clip, around, nan_to_num, copyto, unravel_index, interp, allclose, array_equal, diff, tril, triu),
    *(diag, meshgrid, einsum, tensordot, may_share_memory, shares_memory, ndim, shape, size),
):
    FUNCTIONS[_function.__name__] = _function

_SAME = (
    *words("e inf nan newaxis pi bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 intp"),
    *words("generic number integer floating signedinteger unsignedinteger inexact bool dtype finfo iinfo result_type"),
    *words("can_cast issubdtype promote_types isscalar broadcast_shapes"),
)
CONSTANTS = {name: getattr(np, name) for name in _SAME}
