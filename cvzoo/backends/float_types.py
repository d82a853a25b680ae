"""Floating dtypes including bfloat16, and a decorator that extends float32 kernels to 16-bit floats.

ml_dtypes provides `bfloat16` as a NumPy dtype of kind "V", so that `dtype.kind == "f"` misses it; use these functions.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import BackendError, ConfigError
from cvzoo.typing.aliases import Array

_FLOAT32 = np.dtype(np.float32)
_FLOAT16 = np.dtype(np.float16)
_FEW = 1 << 15  # elements that stay in the cache
_FULL = ("float32", "float64", "tf32")
_MIXED = ("mixed_bf16", "mixed_fp16")


@functools.cache
def bfloat16() -> np.dtype:
    """The dtype bfloat16, the upper 16 bits of a float32. Raises BackendError if ml_dtypes is not installed."""
    try:
        from ml_dtypes import bfloat16 as scalar
    except ImportError as error:
        raise BackendError(f"bfloat16 needs ml_dtypes ({error})", hint="pip install ml_dtypes") from None
    return np.dtype(scalar)


def scaled_filters(w: Array, scale: Array) -> Array:
    """w (O, ...) with each filter multiplied by scale (O,), in float64, so that it is rounded once; in C order."""
    if not isinstance(w, np.ndarray):
        return (w * scale.reshape(-1, *[1] * (w.ndim - 1))).astype(w.dtype)
    y = np.empty(w.shape, w.dtype)
    factors = scale.reshape(-1, *[1] * (w.ndim - 1))
    n = max(_FEW // max(math.prod(w.shape[1:]), 1), 1)
    for k in range(0, len(w), n):  # a few filters at a time: no product of all of them in float64
        y[k : k + n] = w[k : k + n] * factors[k : k + n]
    return y


def filters_of_pack(w: Array, pack: dict | None) -> Array:
    """w as kernels' formats are made of it: multiplied by the `scale` of the cache `pack`, if that has one.

    For kernels without a format of their own: the product is cached.
    """
    scale = getattr(pack, "scale", None)
    if pack is None or scale is None:
        return w
    product = pack.get("scaled")
    if product is None:
        product = pack["scaled"] = scaled_filters(w, scale)
    return product


def is_bfloat16(dtype: np.dtype) -> bool:
    """Whether a NumPy dtype is bfloat16, without importing ml_dtypes."""
    return dtype.kind == "V" and dtype.type.__name__ == "bfloat16"


def is_float(dtype: np.dtype) -> bool:
    """Whether a NumPy dtype is a floating one, which may have gradients."""
    return dtype.kind == "f" or is_bfloat16(dtype)


def is_half(dtype: np.dtype) -> bool:
    """Whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and is_float(dtype)


def product_dtype() -> np.dtype | None:
    """The 16-bit dtype of convolutions and matrix products in mixed precision by config.dtype; None for their own.

    Raises ConfigError if the environment's CVZOO_DTYPE is no dtype.
    """
    mode = switches.dtype
    if mode in _FULL:
        return None
    if mode == "mixed_bf16":
        return bfloat16()
    if mode == "mixed_fp16":
        return _FLOAT16
    raise ConfigError(  # `using_config` checks its argument, the environment is checked only here
        "the environment's CVZOO_DTYPE has no such value", expected=" or ".join((*_FULL, *_MIXED)), got=repr(mode)
    )


def widened(array: Array) -> Array:
    """`array` in float32 if it has 16 bits, else itself; in the same memory format."""
    return array.astype(_FLOAT32, order="K") if is_half(array.dtype) else array


def rounded(array: Array, dtype: np.dtype) -> Array:
    """`array` as `dtype`, itself if it has that dtype; values beyond float16's range become infinite."""
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore"):
        return array.astype(dtype, order="K")


def in_float32(
    kernel: Callable | None = None, *, argument: int = 0, rounds: bool = True, also_rounded: int = 0
) -> Callable:
    """Decorator for float32 kernels: 16-bit arguments are widened to float32, and the result is rounded.

    Used as `@in_float32`, or with settings `@in_float32(argument=1)`.

    argument: index of the argument whose dtype the result is rounded to
    rounds: the (first) result is rounded to that dtype; other results, and without it all, stay float32
    also_rounded: index of one more result that is rounded
    """

    if kernel is None:
        return functools.partial(in_float32, argument=argument, rounds=rounds, also_rounded=also_rounded)

    @functools.wraps(kernel)
    def run(*args: Any, **settings: Any) -> Any:
        x = args[argument]
        dtype = x.dtype if type(x) is np.ndarray else (x[0] if isinstance(x, list | tuple) else x).dtype
        if dtype.itemsize != 2 or not is_half(dtype):
            return kernel(*args, **settings)
        out = settings.pop("out", None)
        result = kernel(*map(_wide, args), **{name: _wide(value) for name, value in settings.items()})
        if out is not None:
            with np.errstate(over="ignore"):
                out[...] = result
            return out
        if not rounds:
            return result
        if isinstance(result, tuple):
            return tuple([rounded(y, dtype) if i in (0, also_rounded) else y for i, y in enumerate(result)])
        return rounded(result, dtype)

    return run


def _wide(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return widened(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], np.ndarray):
        return [widened(each) for each in value]
    return value
