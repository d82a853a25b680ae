"""A factor that keeps small gradients from vanishing in half precision."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.backends.device import Device, device_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice

FIRST = 2.0**15
LARGEST = 2.0**24
SMALLEST = 1.0


class LossScale:
    """The factor of losses.

    scale: fixed, or None: start at 32768, halve at an overflow, double after `interval` updates without one
    Raises ValueRangeError for a scale or an interval that is not positive.

    Where the parameters lie on a GPU, the GPU keeps the factor and decides by itself whether an update is made
    (`on_device`). Who asks for `scale` or the state then waits for it.

    Source: Mixed Precision Training (Micikevicius et al., ICLR 2018), section 3.2, https://arxiv.org/abs/1710.03740
    """

    def __init__(self, *, interval: int = 1000, scale: float | None = None):
        if interval < 1 or (scale is not None and not (math.isfinite(scale) and scale > 0)):
            raise ValueRangeError("loss_scaling wants positive numbers", got=f"interval={interval}, scale={scale}")
        self.interval = interval
        self.dynamic = scale is None
        self._scale = FIRST if scale is None else float(scale)
        self._n_good = 0
        self._scaling: ScalingOnDevice | None = None
        self._device: Device | None = None
        self._is_read = True  # whether the host knows what the GPU does

    @property
    def scale(self) -> float:
        self._read()
        return self._scale

    @property
    def n_good(self) -> int:
        """For how many updates the factor has held."""
        self._read()
        return self._n_good

    def on_device(self, device: Device) -> ScalingOnDevice:
        """The factor as that GPU keeps it, from now on."""
        if self._scaling is None or self._device != device:
            self.on_host()
            with device:
                self._scaling = ScalingOnDevice(
                    self._scale, self._n_good, self.interval, self.dynamic, SMALLEST, LARGEST
                )
            self._device = device
        return self._scaling

    def fill(self, loss: Any) -> Any:
        """An array like the loss, full of the factor, where the loss lies."""
        if isinstance(loss, np.ndarray):
            return np.full_like(loss, self.scale)
        device = device_of(loss)
        with device:
            return self.on_device(device).fill(loss)

    def if_on(self, device: Device) -> ScalingOnDevice | None:
        """The factor as that GPU keeps it, if it does."""
        return self._scaling if self._device == device else None

    def on_host(self) -> None:
        """The host decides from now on."""
        self._read()
        self._scaling = self._device = None

    def changed(self) -> None:
        """The GPU was told to check gradients: what the host knows may be old."""
        self._is_read = False

    def take_skipped(self) -> int:
        """How many updates the GPU left out since this was asked last."""
        if self._is_read:
            return 0
        with self._device:
            self._scale, self._n_good, skipped = self._scaling.read()
            if skipped:
                self._scaling.forget_skipped()
        self._is_read = True
        return skipped

    def _read(self) -> None:
        if not self._is_read:
            with self._device:
                self._scale, self._n_good, _ = self._scaling.read()

    def overflowed(self) -> None:
        """An update was left out."""
        self._n_good = 0
        if self.dynamic:
            self._scale = max(self._scale / 2, SMALLEST)

    def went_well(self) -> None:
        """Gradients were finite."""
        self._n_good += 1
        if self.dynamic and self._n_good >= self.interval:
            self._n_good = 0
            self._scale = min(self._scale * 2, LARGEST)

    def state(self) -> dict[str, Any]:
        """The factor and how long it held."""
        return {"scale": self.scale, "n_good": self.n_good}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._scale = float(state["scale"])
        self._n_good = int(state["n_good"])
        self._is_read = True
        if self._scaling is not None:  # the memory stays: a captured graph may use it
            with self._device:
                self._scaling.write(self._scale, self._n_good)
