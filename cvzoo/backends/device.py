"""Devices by name: "cpu", "gpu:0"."""

import contextlib
import re
from types import TracebackType

import numpy as np
import numpy.typing as npt

from cvzoo.backends.abstract import AbstractBackend, Array
from cvzoo.backends.arrays import device_number
from cvzoo.backends.cupy.library import CudaDevice, cupy, why_no_cupy
from cvzoo.backends.dispatch import get_backend, gpu_backend
from cvzoo.errors.exceptions import BackendError, ValueRangeError
from cvzoo.typing.aliases import ArrayLike


class Device:
    """The CPU, or one GPU.

    name: "cpu" or "gpu:0"
    index: the GPU's number; -1 for the CPU

    `with device:` makes it CuPy's current device.
    """

    __slots__ = ("_entered", "index", "name")

    def __init__(self, index: int):
        self.index = index
        self.name = "cpu" if index < 0 else f"gpu:{index}"
        self._entered: list[CudaDevice] = []

    @property
    def backend(self) -> AbstractBackend:
        """The backend of the device, by config.backend."""
        return get_backend() if self.index < 0 else gpu_backend()

    def asarray(self, array: ArrayLike, dtype: npt.DTypeLike | None = None) -> Array:
        """`array` (of any device, or a list) on this device; not copied if it is on the device already."""
        with self:
            return self.backend.asarray(array, dtype)

    def to_numpy(self, array: Array) -> np.ndarray:
        """`array`, of this device, as a numpy.ndarray."""
        with self:
            return self.backend.to_numpy(array)

    def synchronize(self) -> None:
        """Wait until all work of the device is done."""
        if self.index >= 0:
            with self:
                cupy().cuda.Device().synchronize()

    def is_capturing(self) -> bool:
        """Whether launches are being captured for a CUDA graph instead of executed."""
        if self.index < 0:
            return False
        with self:
            return bool(cupy().cuda.get_current_stream().is_capturing())

    def __enter__(self) -> "Device":
        if self.index >= 0:
            # one of CuPy's devices per entry: each remembers the device to return to
            inner = cupy().cuda.Device(self.index)
            inner.__enter__()
            self._entered.append(inner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.index >= 0:
            self._entered.pop().__exit__(kind, error, trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.index == self.index

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def get_device(device: "str | int | Device") -> Device:
    """The device of that name: "cpu" (also "@numpy", -1), or "gpu:N" (also "gpu" for "gpu:0", "@cupy:N", N).

    Raises ValueRangeError if it is no device's name, BackendError if this machine or installation has no such GPU.
    """
    if isinstance(device, Device):
        return device
    name = str(device)
    if name in ("cpu", "@numpy", "-1"):
        return Device(-1)
    match = re.fullmatch(r"(?:gpu:|@cupy:)?(\d+)|gpu", name)
    if not match:
        raise ValueRangeError("no such device", expected='"cpu" or "gpu:0"', got=repr(device))
    index = int(match[1] or 0)
    count = cupy().cuda.runtime.getDeviceCount()
    if index >= count:
        raise BackendError(f"there is no device gpu:{index}", expected=f"gpu:0 to gpu:{count - 1}", hint='"gpu:0"')
    return Device(index)


def gpu_count() -> int:
    """The number of usable GPUs; 0 without importing CuPy where there can be none."""
    return 0 if why_no_cupy() is not None else int(cupy().cuda.runtime.getDeviceCount())


_NO_OP = contextlib.nullcontext()


def on_device_of(*arrays: object) -> contextlib.AbstractContextManager:
    """A context with the GPU of the first array that is on one as the current device; a no-op if there is none."""
    for array in arrays:
        index = device_number(array)
        if index >= 0:
            return Device(index)
    return _NO_OP


def device_of(array: object) -> Device:
    """The device that `array` is on."""
    return Device(device_number(array))
