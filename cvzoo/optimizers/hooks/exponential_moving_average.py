"""A moving average of the weights."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_array, is_device_array, to_numpy
from cvzoo.backends.device import Device, device_of
from cvzoo.errors.exceptions import GraphError, ValueRangeError, WeightsMismatchError
from cvzoo.links.link import Link
from cvzoo.optimizers.blocks import Block, cut_into_blocks
from cvzoo.optimizers.entry import placed
from cvzoo.optimizers.in_threads import for_each_block
from cvzoo.optimizers.on_device.average import DeviceAverage
from cvzoo.optimizers.on_device.trace import Cell
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.typing.aliases import Array


class ExponentialMovingAverage(AbstractOptimizerHook):
    """Exponential moving average of weights: after every update, average = decay average + (1 - decay) value.

    >>> ema = optimizers.ExponentialMovingAverage(0.999)
    >>> optimizer.add_hook(ema)
    >>> with ema.applied():
    ...     evaluate(model)

    decay: decay rate of the average, in [0, 1)
    warm_up: limit the decay to (1 + t) / (10 + t) after t updates, so that initial values are forgotten quickly
    persistent: also average persistent arrays of floating-point numbers, such as batch normalization's running means
        and variances, which then fit the averaged weights; False: they are taken as they are at the last update
    averages: the averages by path ("conv1/W"), arrays of the parameters' shapes; empty before the first update

    A trainer validates and saves the averages by `training.extensions.Averaged`; snapshots have them and the weights.
    Source: Polyak and Juditsky (1992); the warm-up is TensorFlow's ExponentialMovingAverage(num_updates=...).
    """

    name = "ExponentialMovingAverage"
    timing = "post"
    runs_on_device = True

    def __init__(self, decay: float = 0.999, *, warm_up: bool = True, persistent: bool = False):
        if not 0 <= decay < 1:
            raise ValueRangeError("ExponentialMovingAverage: decay must be in [0, 1)", got=decay)
        self.decay = decay
        self.warm_up = warm_up
        self.persistent = persistent
        self.averages: dict[str, Array] = {}
        self._link: Link | None = None
        self._t = 0
        self._plan: tuple[list[Array], list[Block], list[DeviceAverage]] | None = None

    def __call__(self, optimizer: AbstractOptimizer) -> None:
        self._link = link = optimizer.target
        blocks, on_gpus = self._planned(self._values(link))
        self._t = t = self._t + 1
        for group in on_gpus:
            group.update(t, optimizer.scaling_on(group.device))
        rest = {np.dtype(d): np.asarray(self._rest(t), d) for d in (np.float32, np.float64)}

        def work(block: Block, scratch: Sequence[Array]) -> None:
            (average,) = block.state
            p = block.load()
            _average(p, average, scratch[0], (rest[p.dtype],))

        for_each_block(blocks, work)

    def _rest(self, t: int | Cell) -> float | Cell:
        return 1 - (np.minimum((1 + t) / (10 + t), self.decay) if self.warm_up else self.decay)

    def _is_planned(self, arrays: Sequence[Array]) -> bool:
        return (
            self._plan is not None
            and len(arrays) == len(self._plan[0])
            and all(a is b for a, b in zip(arrays, self._plan[0]))
        )

    def _planned(self, values: Mapping[str, Array]) -> tuple[list[Block], list[DeviceAverage]]:
        arrays = list(values.values())
        if not self._is_planned(arrays):
            for path, value in values.items():
                average = self.averages.get(path)
                if average is None:
                    self.averages[path] = value.copy(order="C")
                elif device_of(average) != device_of(value):
                    self.averages[path] = placed(average, value)
            blocks: list[Block] = []
            on_gpus: list[DeviceAverage] = []
            groups: dict[tuple[Device, np.dtype], list[str]] = {}
            for path, array in values.items():
                if array.size:
                    groups.setdefault((device_of(array), array.dtype), []).append(path)
            for paths in groups.values():
                mine = [values[path] for path in paths]
                if is_device_array(mine[0]):
                    on_gpus.append(DeviceAverage(mine, [self.averages[p] for p in paths], _average, self._rest))
                    continue
                states = [{"average": self.averages[path]} for path in paths]
                blocks += cut_into_blocks(range(len(paths)), mine, states)
                self.averages.update((path, state["average"]) for path, state in zip(paths, states))
            self._plan = (arrays, blocks, on_gpus)
        assert self._plan is not None
        return self._plan[1:]

    def left_out(self, count: int) -> None:
        self._t -= count

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """A block in which the optimizer's link has the averages in place of its values.

        Raises GraphError before the first update.
        """
        if self._link is None:
            raise GraphError("there are no averages yet", hint="applied() after the first update")
        mine = {path: value.copy(order="K") for path, value in self._values(self._link).items()}
        self._write(self._link, self.averages)
        try:
            yield
        finally:
            self._write(self._link, mine)

    def copy_to(self, link: Link) -> None:
        """Give a link of the same build the averages, and the persistent values of the optimizer's link.

        Raises GraphError before the first update, WeightsMismatchError if the link is of another build.
        """
        if self._link is None:
            raise GraphError("there are no averages yet", hint="copy_to(link) after the first update")
        link.copyparams(self._link)
        self._write(link, self.averages)

    def _write(self, link: Link, values: Mapping[str, np.ndarray]) -> None:
        for path, array in self._values(link).items():
            value = values.get(path)
            if value is not None:
                array[...] = placed(value, array)

    def _values(self, link: Link) -> dict[str, Array]:
        """The arrays that are averaged, by path."""
        values = {path.lstrip("/"): param.array for path, param in link.namedparams(False)}
        if self.persistent:
            for path, value in link.namedpersistents():
                if is_array(value) and value.dtype.kind == "f":
                    values[path.lstrip("/")] = value
        return values

    @property
    def is_empty(self) -> bool:
        """Whether no update was made with this hook yet, so that there are no averages to apply."""
        return self._link is None

    def state(self) -> dict[str, Any]:
        """The averages and how often they were updated."""
        return {"t": self._t, "averages": {path: np.array(to_numpy(array)) for path, array in self.averages.items()}}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state.

        Raises WeightsMismatchError if it is of another network, as far as that can be seen by now.
        """
        averages = {path: np.array(array) for path, array in state["averages"].items()}
        if self._link is not None:
            values = self._values(self._link)
            wrong = [path for path in averages if path not in values or values[path].shape != averages[path].shape]
            if wrong:
                raise WeightsMismatchError("the averages are of another network", got=", ".join(wrong[:20]))
        self._t = int(state["t"])
        self.averages = averages
        self._plan = None


def _average(p: Array, average: Array, scratch: Array, c: Sequence[Array]) -> None:
    np.subtract(p, average, scratch)
    np.multiply(scratch, c[0], scratch)
    np.add(average, scratch, average)
