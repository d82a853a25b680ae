"""Names of devices: "cpu", "gpu:0"."""

import re

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import get_backend
from cvzoo.errors.exceptions import BackendError, ValueRangeError


def device_backend(device: str | int) -> AbstractBackend:
    """The backend of a device: "cpu" (also "@numpy", -1) or "gpu:N" (also "@cupy:N", N).

    Raises ValueRangeError if it is no device's name, BackendError if this installation cannot use it.
    """
    name = str(device)
    if name in ("cpu", "@numpy", "-1"):
        return get_backend()
    if re.fullmatch(r"(gpu:|@cupy:)?\d+", name):
        raise BackendError(f"device {name!r}: this version of cvzoo computes on the CPU only", hint='to_device("cpu")')
    raise ValueRangeError("no such device", expected='"cpu" or "gpu:0"', got=repr(device))
