"""CuPy's functions that make new arrays."""

import builtins
from typing import Any

import numpy as np

from fake_gpu.array import CudaArray, empty_like_host, from_host, launch
from fake_gpu.machine import machine


def empty(shape: Any, dtype: Any = float, order: str = "C") -> CudaArray:
    return CudaArray(shape, dtype, order=order)


def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> CudaArray:
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, CudaArray) else np.array(fill_value).dtype
    made = CudaArray(shape, dtype, order=order)
    made.fill(fill_value)
    return made


def zeros(shape: Any, dtype: Any = float, order: str = "C") -> CudaArray:
    return full(shape, 0, dtype, order)


def ones(shape: Any, dtype: Any = float, order: str = "C") -> CudaArray:
    return full(shape, 1, dtype, order)


def empty_like(
    prototype: CudaArray, dtype: Any = None, order: str = "K", subok: None = None, shape: Any = None
) -> CudaArray:
    if not isinstance(prototype, CudaArray):
        raise TypeError(f"the fake makes arrays like those of a device, not like {type(prototype)}")
    dtype = prototype.dtype if dtype is None else dtype
    if shape is not None:
        return CudaArray(shape, dtype)
    return empty_like_host(prototype._host, dtype, order)


def full_like(
    a: CudaArray, fill_value: Any, dtype: Any = None, order: str = "K", subok: None = None, shape: Any = None
) -> CudaArray:
    made = empty_like(a, dtype, order, None, shape)
    made.fill(fill_value)
    return made


def zeros_like(a: CudaArray, dtype: Any = None, order: str = "K", subok: None = None, shape: Any = None) -> CudaArray:
    return full_like(a, 0, dtype, order, None, shape)


def ones_like(a: CudaArray, dtype: Any = None, order: str = "K", subok: None = None, shape: Any = None) -> CudaArray:
    return full_like(a, 1, dtype, order, None, shape)


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> CudaArray:
    if isinstance(obj, CudaArray):
        if obj.device.id != machine().here.device:
            made = obj.copy(order="C" if order in ("K", "A", None) else order).astype(dtype or obj.dtype, copy=False)
        else:
            made = obj.astype(dtype or obj.dtype, order=order or "K", copy=bool(copy))
    elif isinstance(obj, list | tuple) and obj and all(isinstance(each, CudaArray) for each in obj):
        from fake_gpu.functions import stack

        made = stack([each if dtype is None else each.astype(dtype) for each in obj])
    else:
        keep = "F" if order == "F" or (order in ("K", "A") and isinstance(obj, np.ndarray) and obj.flags.fnc) else "C"
        made = from_host(np.array(obj, dtype=dtype, order=keep))
        if blocking:
            machine().sync("array")
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> CudaArray:
    return array(a, dtype, False, order or "K", blocking=blocking)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> CudaArray:
    return array(a, dtype, False, order or "K", blocking=blocking)


def ascontiguousarray(a: Any, dtype: Any = None) -> CudaArray:
    made = asarray(a, dtype)
    made = made if made.ndim else made.reshape((1,))
    return made if made.flags.c_contiguous else made.copy()


def copy(a: CudaArray, order: str = "K") -> CudaArray:
    return a.copy(order=order)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> CudaArray:
    for each in (start, stop, step):
        if isinstance(each, CudaArray):
            raise NotImplementedError("the fake counts from numbers of the host")
    made = np.arange(start, dtype=dtype) if stop is None else np.arange(start, stop, step, dtype)
    return launch("arange", lambda: made, [])


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> CudaArray:
    made = np.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)
    return launch("linspace", lambda: made, [])


def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float, order: str = "C") -> CudaArray:
    made = np.eye(N, M, k, dtype)
    return launch("eye", lambda: made, [])


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> CudaArray:
    from fake_gpu.array import unowned

    if isinstance(array, np.ndarray):
        raise ValueError("CPU arrays cannot be directly imported to CuPy.")
    return unowned(np.from_dlpack(array))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    if isinstance(a, CudaArray):
        return a.get(stream=stream, order=order, out=out, blocking=blocking)
    return np.asarray(a, order=order)


def get_array_module(*args: Any) -> Any:
    import sys

    return sys.modules["cupy"] if builtins.any(isinstance(each, CudaArray) for each in args) else np
