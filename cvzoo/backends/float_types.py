"""Floating dtypes, the one of 16 bits that NumPy does not know among them, and kernels of 16 bits made of float32's.

ml_dtypes brings `bfloat16` to NumPy as a dtype of kind "V": who asks `dtype.kind == "f"` misses it, who asks here does
not.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import BackendError, ConfigError

_FLOAT32 = np.dtype(np.float32)
_FLOAT16 = np.dtype(np.float16)
_OWN = ("float32", "float64", "tf32")
_MIXED = ("mixed_bf16", "mixed_fp16")


@functools.cache
def bfloat16() -> np.dtype:
    """The dtype of a float32's first 16 bits. Raises BackendError that says what to install."""
    try:
        from ml_dtypes import bfloat16 as scalar
    except ImportError as error:
        raise BackendError(f"bfloat16 needs ml_dtypes ({error})", hint="pip install ml_dtypes") from None
    return np.dtype(scalar)


def is_bfloat16(dtype: Any) -> bool:
    """Whether a NumPy dtype is bfloat16; nothing is imported to find out."""
    return dtype.kind == "V" and dtype.type.__name__ == "bfloat16"


def is_float(dtype: Any) -> bool:
    """Whether a NumPy dtype is one that gradients are taken of."""
    return dtype.kind == "f" or is_bfloat16(dtype)


def is_half(dtype: Any) -> bool:
    """Whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and is_float(dtype)


def product_dtype() -> np.dtype | None:
    """The 16-bit dtype that config.dtype wants convolutions and products of matrices made in; None for their own.

    Raises ConfigError if the environment's CVZOO_DTYPE is no dtype.
    """
    mode = switches.dtype
    if mode in _OWN:
        return None
    if mode == "mixed_bf16":
        return bfloat16()
    if mode == "mixed_fp16":
        return _FLOAT16
    raise ConfigError(  # `using_config` would have refused it
        "the environment's CVZOO_DTYPE has no such value", expected=" or ".join((*_OWN, *_MIXED)), got=repr(mode)
    )


def widened(array: Any) -> Any:
    """`array` in float32 if it has 16 bits, else itself; it lies as before."""
    return array.astype(_FLOAT32, order="K") if is_half(array.dtype) else array


def rounded(array: Any, dtype: Any) -> Any:
    """`array` as `dtype`, itself if it is that already; numbers too large for float16 become infinite."""
    if array.dtype == dtype:
        return array
    with np.errstate(over="ignore"):
        return array.astype(dtype, order="K")


def in_float32(kernel: Callable | None = None, *, place: int = 0, rounds: bool = True, also: int = 0) -> Callable:
    """`kernel` that takes float16 and bfloat16, too, and gives float32 arrays to those that it calls.

    A decorator: `@in_float32`, or with settings `@in_float32(place=1)`.

    place: which argument says what the result is rounded to
    rounds: the result, of several the first, has the dtype of that argument; the others, and without it all, stay
        float32
    also: the place of one more result that has it, where there is one
    """

    if kernel is None:
        return functools.partial(in_float32, place=place, rounds=rounds, also=also)

    @functools.wraps(kernel)
    def run(*args: Any, **settings: Any) -> Any:
        x = args[place]
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
            return tuple([rounded(y, dtype) if i in (0, also) else y for i, y in enumerate(result)])
        return rounded(result, dtype)

    return run


def _wide(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return widened(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], np.ndarray):
        return [widened(each) for each in value]
    return value
