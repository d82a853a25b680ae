"""Moving averages of parameters on a GPU."""

from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.backends.device import device_of
from cvzoo.backends.gpu_kernels import gpu_arrays
from cvzoo.optimizers.on_device import formula, kernel_text
from cvzoo.optimizers.on_device.kernels import Table, kernel_of, write_words
from cvzoo.optimizers.on_device.plan import NUMBERS
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice
from cvzoo.optimizers.on_device.trace import Cell, Trace
from cvzoo.typing.aliases import Array


class DeviceAverage:
    """Moving averages of arrays of one dtype on one GPU, updated in one launch.

    average: (p, average, scratch, (rest,)) -> None, by NumPy's elementwise functions
    rest: from t, the number of this update, the formula's coefficient
    """

    def __init__(
        self,
        arrays: Sequence[Array],
        averages: Sequence[Array],
        average: Callable[..., None],
        rest: Callable[[Cell], float | Cell],
    ):
        self.average = average
        self.rest = rest
        self.device = device_of(arrays[0])
        self.shapes = formula.Shapes(np.dtype(arrays[0].dtype), False, 1)
        with self.device:
            self.table = Table(arrays, [averages])
            self.words = gpu_arrays().zeros(NUMBERS, np.int64)

    def update(self, t: int, scaling: ScalingOnDevice | None) -> None:
        """Make update t, unless `scaling` skips it."""
        scalars = Trace("double", "n", lift=True)
        true_t = scalars.number(t)
        if scaling is not None:
            true_t = true_t - scalars.cell("loss_scale[3]")
        rest = self.rest(true_t)
        rest = rest if isinstance(rest, Cell) else scalars.number(rest)
        update_formula = formula.average_formula(scalars, self.shapes, self.average, (rest,))
        with self.device:
            values = np.zeros(NUMBERS)
            values[: len(scalars.lifted)] = scalars.lifted
            write_words(values.view(np.int64), self.words)
            kernel = kernel_of(kernel_text.update_text(update_formula))
            state, non_finite = (None, None) if scaling is None else (scaling.state, scaling.non_finite)
            self.table.load()
            self.table.over_chunks(kernel, self.words, loss_scale=state, non_finite=non_finite)
