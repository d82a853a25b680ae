"""Loss scaling: a factor that keeps small gradients from underflowing in half precision."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.device import Device, device_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice
from cvzoo.typing.aliases import Array

# powers of two, by which multiplication and division are exact
FIRST = 2.0**15
LARGEST = 2.0**24
SMALLEST = 1.0


class LossScale:
    """The loss scale, fixed or dynamic.

    scale: fixed, or None: start at 32768, halve at an overflow, double after `interval` updates without one
    Raises ValueRangeError for a scale or an interval that is not positive.

    If the parameters are on a GPU, the GPU holds the factor and decides by itself whether an update is skipped
    (`on_device`). Reading `scale` or the state then synchronizes.

    Source: Mixed Precision Training (Micikevicius et al., ICLR 2018), section 3.2, https://arxiv.org/abs/1710.03740
    """

    def __init__(self, *, interval: int = 1000, scale: float | None = None):
        if interval < 1 or (scale is not None and not (math.isfinite(scale) and scale > 0)):
            raise ValueRangeError("loss_scaling requires positive numbers", got=f"interval={interval}, scale={scale}")
        self.interval = interval
        self.dynamic = scale is None
        self._scale = FIRST if scale is None else float(scale)
        self._n_good = 0
        self._on_gpu: tuple[Device, ScalingOnDevice] | None = None
        self._is_read = True  # whether the values on the host are those on the GPU

    @property
    def scale(self) -> float:
        self._read()
        return self._scale

    @property
    def n_good(self) -> int:
        """Number of updates since the last change of the factor."""
        self._read()
        return self._n_good

    def on_device(self, device: Device) -> ScalingOnDevice:
        """The state on that GPU, moved there if needed."""
        if self._on_gpu is None or self._on_gpu[0] != device:
            self.on_host()
            with device:
                scaling = ScalingOnDevice(self._scale, self._n_good, self.interval, self.dynamic, SMALLEST, LARGEST)
            self._on_gpu = device, scaling
        return self._on_gpu[1]

    def fill(self, loss: Array) -> Array:
        """An array like the loss, on its device, filled with the factor."""
        if not is_device_array(loss):
            return np.full_like(loss, self.scale)
        device = device_of(loss)
        with device:
            return self.on_device(device).fill(loss)

    def if_on(self, device: Device) -> ScalingOnDevice | None:
        """The state on that GPU, None if it is elsewhere."""
        return self._on_gpu[1] if self._on_gpu is not None and self._on_gpu[0] == device else None

    def on_host(self) -> None:
        """Move the state to the host."""
        self._read()
        self._on_gpu = None

    def changed(self) -> None:
        """The GPU checks gradients: the values on the host may be out of date."""
        self._is_read = False

    def take_skipped(self) -> int:
        """Number of updates that the GPU skipped since the last call."""
        if self._is_read or self._on_gpu is None:
            return 0
        device, scaling = self._on_gpu
        with device:
            self._scale, self._n_good, skipped = scaling.read()
            if skipped:
                scaling.forget_skipped()
        self._is_read = True
        return skipped

    def _read(self) -> None:
        if not self._is_read and self._on_gpu is not None:
            device, scaling = self._on_gpu
            with device:
                self._scale, self._n_good, _ = scaling.read()

    def record_overflow(self) -> None:
        """Record a skipped update."""
        self._n_good = 0
        if self.dynamic:
            self._scale = max(self._scale / 2, SMALLEST)

    def record_finite(self) -> None:
        """Record an update with finite gradients."""
        self._n_good += 1
        if self.dynamic and self._n_good >= self.interval:
            self._n_good = 0
            self._scale = min(self._scale * 2, LARGEST)

    def state(self) -> dict[str, Any]:
        """The factor and the number of updates since its last change."""
        return {"scale": self.scale, "n_good": self.n_good}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a state."""
        self._scale = float(state["scale"])
        self._n_good = int(state["n_good"])
        self._is_read = True
        if self._on_gpu is not None:  # written in place, since a captured graph may refer to the memory
            device, scaling = self._on_gpu
            with device:
                scaling.write(self._scale, self._n_good)
