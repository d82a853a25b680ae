"""Loss scaling decided on the GPU, without synchronization."""

from typing import Any

import numpy as np

from cvzoo.backends.device import device_of
from cvzoo.backends.gpu_kernels import gpu_arrays
from cvzoo.optimizers.on_device.kernels import FIXED

_ONE = (1, 1, 1)


class ScalingOnDevice:
    """The factor of losses and its history, on one GPU.

    state: (8,) float64, as kernels/optimizer.cu has it
    found: (1,) int32, whether a gradient of the last update was not finite
    """

    def __init__(self, scale: float, n_good: int, interval: int, dynamic: bool, smallest: float, largest: float):
        numbers = [scale, scale, n_good, 0, interval, dynamic, smallest, largest]
        self.state = gpu_arrays().asarray(np.array(numbers, float))
        self.found = gpu_arrays().zeros(1, np.int32)

    def begin(self) -> None:
        """Before gradients are checked."""
        FIXED.launch("begin_check", _ONE, _ONE, (self.state, self.found))

    def end(self) -> None:
        """After all were checked: change the factor, count."""
        FIXED.launch("end_check", _ONE, _ONE, (self.state, self.found))

    def fill(self, array: Any) -> Any:
        """An array like the loss, full of the factor."""
        made = gpu_arrays().empty_like(array)
        made[...] = self.state[0]
        return made

    def read(self) -> tuple[float, int, int]:
        """The factor, for how many updates it has held, how many updates were left out; waits for the GPU."""
        device_of(self.state).synchronize()  # updates may have been launched on any stream
        state = self.state.get()
        return float(state[0]), int(state[2]), int(state[3])

    def forget_skipped(self) -> None:
        """Count updates that are left out from 0 again."""
        self.state[3] = 0

    def write(self, scale: float, n_good: int) -> None:
        """Go on from other values."""
        self.state[:4] = gpu_arrays().asarray(np.array([scale, scale, n_good, 0], float))
