"""Arrays of other libraries, by DLPack: no number is copied."""

from typing import Any

import numpy as np

from cvzoo.backends.abstract import Array
from cvzoo.backends.cupy.library import cupy
from cvzoo.errors.exceptions import BackendError, DtypeError

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


def from_dlpack(source: Any) -> Array:
    """The array of another library (torch, jax, ...) as numpy.ndarray or cupy.ndarray, on the same memory.

    source: anything with `__dlpack__` and `__dlpack_device__`; it must not ask for gradients
    Raises DtypeError if it is no such thing or its numbers are none of NumPy's, BackendError for other devices.
    Who wants cvzoo's arrays elsewhere gives them away as they are: `torch.from_dlpack(x.array)`.
    """
    try:
        kind, number = source.__dlpack_device__()
    except AttributeError:
        raise DtypeError(
            "from_dlpack wants an array of a library that speaks DLPack", got=type(source).__name__
        ) from None
    try:
        if kind in (_CPU, _CUDA_HOST):
            return np.from_dlpack(source)
        if kind in (_CUDA, _CUDA_MANAGED):
            xp = cupy()
            with xp.cuda.Device(number):
                return xp.from_dlpack(source)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, BackendError):
            raise
        raise DtypeError(
            f"DLPack export failed: {error}", got=type(source).__name__, hint="x.detach(), x.float()"
        ) from error
    raise BackendError("the array is on a device that cvzoo does not support", got=f"kind {kind}")
