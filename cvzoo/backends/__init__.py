"""Backends: the kernels of a device (NumPy, oneDNN, CuPy, cuDNN)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.backends.abstract import AbstractBackend
    from cvzoo.backends.device import Device, device_of, get_device
    from cvzoo.backends.dispatch import backend_of, get_backend
    from cvzoo.backends.dlpack import from_dlpack
    from cvzoo.backends.image_plan import Resampling
    from cvzoo.backends.user_kernels.elementwise import ElementwiseKernel, elementwise
    from cvzoo.backends.user_kernels.reduction import ReductionKernel, reduce

__all__ = [
    "AbstractBackend",
    "backend_of",
    "Device",
    "device_of",
    "elementwise",
    "ElementwiseKernel",
    "from_dlpack",
    "get_backend",
    "get_device",
    "reduce",
    "ReductionKernel",
    "Resampling",
]

import_on_demand(__name__)
