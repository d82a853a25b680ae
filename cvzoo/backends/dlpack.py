"""Import of arrays from other libraries by DLPack, without a copy."""

from typing import Any, Protocol

import numpy as np

from cvzoo.backends.abstract import Array
from cvzoo.backends.cupy.library import cupy
from cvzoo.errors.exceptions import BackendError, DtypeError

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


class SupportsDLPack(Protocol):
    """An array of a library that supports DLPack (Python array API standard)."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


def from_dlpack(source: SupportsDLPack) -> Array:
    """The array of another library (torch, jax, ...) as numpy.ndarray or cupy.ndarray, on the same memory.

    source: an object with `__dlpack__` and `__dlpack_device__`; it must not require gradients
    Raises DtypeError for other objects or dtypes that NumPy does not have, BackendError for other devices.
    For the opposite direction, pass cvzoo's arrays as they are: `torch.from_dlpack(x.array)`.
    """
    try:
        kind, number = source.__dlpack_device__()
    except AttributeError:
        raise DtypeError(
            "from_dlpack takes an array of a library that supports DLPack", got=type(source).__name__
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
