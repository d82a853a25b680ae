"""Loss scaling decided on the GPU, without synchronization."""

import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.gpu_kernels import gpu_arrays
from cvzoo.optimizers.on_device.kernels import FIXED
from cvzoo.typing.aliases import Array

_ONE = (1, 1, 1)


class ScalingOnDevice:
    """The loss scale and its counters on one GPU.

    state: (8,) float64, see kernels/optimizer.cu
    non_finite: (1,) int32, whether a gradient of the last update was not finite
    """

    def __init__(self, scale: float, n_good: int, interval: int, dynamic: bool, smallest: float, largest: float):
        numbers = [scale, scale, n_good, 0, interval, dynamic, smallest, largest]
        self.state = gpu_arrays().asarray(np.array(numbers, float))
        self.non_finite = gpu_arrays().zeros(1, np.int32)

    def begin(self) -> None:
        """Launched before the check of gradients."""
        FIXED.launch("begin_check", _ONE, _ONE, (self.state, self.non_finite))

    def end(self) -> None:
        """Launched after the check of all gradients: updates the factor and the counters."""
        FIXED.launch("end_check", _ONE, _ONE, (self.state, self.non_finite))

    def fill(self, array: Array) -> Array:
        """An array like the loss, filled with the factor."""
        filled = gpu_arrays().empty_like(array)
        filled[...] = self.state[0]
        return filled

    def read(self) -> tuple[float, int, int]:
        """The factor, the number of updates since its last change, the number of skipped updates; synchronizes."""
        device_of(self.state).synchronize()  # updates may have been launched on any stream
        state = to_numpy(self.state)
        return float(state[0]), int(state[2]), int(state[3])

    def forget_skipped(self) -> None:
        """Reset the number of skipped updates."""
        self.state[3] = 0

    def write(self, scale: float, n_good: int) -> None:
        """Set the factor and the number of updates since its last change."""
        self.state[:4] = gpu_arrays().asarray(np.array([scale, scale, n_good, 0], float))
