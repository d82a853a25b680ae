"""Kernels of 16-bit arrays made of kernels of float32: compute wide, round once."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.backends.float_types import is_half, rounded, widened


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
