"""The position of an iterator in its data set; the order of an epoch depends on seed and epoch alone."""

import copy
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.fetch import Task
from cvzoo.iterators.order_samplers import SampledOrders, Sampler
from cvzoo.typing.aliases import Array

IteratorState: TypeAlias = Mapping[str, int]


class Cursor:
    """The position in the endless (or, without repeat, finite) sequence of examples.

    n_example, batch_size, repeat, shuffle: as in AbstractIterator
    seed: of the order of every epoch and of random transforms; None draws one from cvzoo's generator
    order_sampler: decides on the order of every epoch in place of `shuffle`, or None

    epoch: completed epochs; position: returned examples of the current epoch; is_new_epoch: the last batch completed an
    epoch; previous: epoch and position before the last batch, or None
    """

    def __init__(
        self,
        n_example: int,
        batch_size: int,
        *,
        repeat: bool,
        shuffle: bool,
        seed: int | None,
        order_sampler: Sampler | None = None,
    ) -> None:
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ValueRangeError("batch_size must be a positive integer", got=repr(batch_size))
        if repeat and n_example == 0:
            raise ValueRangeError("an empty data set cannot be repeated", hint="repeat=False, or check the path")
        if seed is None:
            seed = int(random_generator().integers(1 << 32))
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueRangeError("seed must be a non-negative integer", got=repr(seed))
        self.n_example = n_example
        self.batch_size = int(batch_size)
        self.repeat = bool(repeat)
        self.shuffle = bool(shuffle)
        self.seed = int(seed)
        self.order_sampler = order_sampler
        self._sampled = None if order_sampler is None else SampledOrders(order_sampler, n_example)
        self._cached_order: tuple[int, Array] | None = None  # (epoch, its order)
        self.part: tuple[int, int] = 0, 1  # which of how many parts of each batch is returned
        self.reset()

    def reset(self) -> None:
        """Moves to the first example of epoch 0."""
        self.epoch = self.position = 0
        self.is_new_epoch = False
        self.previous: tuple[int, int] | None = None

    def next_batch(self) -> list[Task] | None:
        """What to read for the next batch, or None at the end."""
        if not self.repeat and self.epoch:
            return None
        if self.n_example == 0:
            return None
        before = self.epoch, self.position
        batch: list[Task] = []
        while len(batch) < self.batch_size:
            order = self._order(self.epoch)
            indices = order[self.position : self.position + self.batch_size - len(batch)]
            batch += [Task(self.seed, self.epoch, int(index), before) for index in indices]
            self.position += len(indices)
            if self.position == len(order):
                self.epoch, self.position = self.epoch + 1, 0
                if not self.repeat:
                    break
        self.is_new_epoch = self.epoch > before[0]
        self.previous = before
        number, n_part = self.part
        return batch[len(batch) * number // n_part : len(batch) * (number + 1) // n_part]

    @property
    def given_shuffle(self) -> bool | None:
        """The argument `shuffle` of iterators."""
        return self.shuffle if self._sampled is None else None

    def length_of(self, epoch: int) -> int:
        """The number of examples of an epoch."""
        return self.n_example if self._sampled is None else len(self._order(epoch))

    def _order(self, epoch: int) -> Sequence[int] | Array:
        if self._sampled is not None:
            return self._sampled.order(self.seed, epoch)
        if not self.shuffle:
            return range(self.n_example)
        if self._cached_order is None or self._cached_order[0] != epoch:
            # from seed and epoch alone, so that a resumed run need not replay earlier epochs
            sequence = np.random.SeedSequence(self.seed, spawn_key=(epoch,))
            self._cached_order = epoch, np.random.Generator(np.random.PCG64(sequence)).permutation(self.n_example)
        return self._cached_order[1]

    def state(self) -> dict[str, int]:
        """The position and what the order depends on, as integers."""
        return {
            "seed": self.seed,
            "n_example": self.n_example,
            "shuffle": self._kind_of_order(),
            "epoch": self.epoch,
            "position": self.position,
            "is_new_epoch": int(self.is_new_epoch),
            "previous_epoch": -1 if self.previous is None else self.previous[0],
            "previous_position": -1 if self.previous is None else self.previous[1],
        }

    def load_state(self, state: IteratorState) -> None:
        """Moves to the position of a state. Raises ValueRangeError if it is of another data set or no state."""
        missing = [name for name in self.state() if name not in state]
        if missing:
            raise ValueRangeError(
                "this is not the state of an iterator", expected=", ".join(self.state()), got=list(state)
            )
        state = {name: int(state[name]) for name in self.state()}
        for name, own in (("n_example", self.n_example), ("shuffle", self._kind_of_order())):
            if state[name] != own:
                raise ValueRangeError(
                    f"the state is of an iterator with another {name}, so its order cannot be resumed",
                    expected=own,
                    got=state[name],
                )
        if state["seed"] < 0 or state["epoch"] < 0 or state["position"] < 0:
            raise ValueRangeError("the position of the state is outside the data set", got=state)
        if state["position"] > self._with_seed(state["seed"]).length_of(state["epoch"]):
            raise ValueRangeError("the position of the state is outside the data set", got=state)
        self.seed = state["seed"]
        self._cached_order = None
        self.epoch, self.position = state["epoch"], state["position"]
        self.is_new_epoch = bool(state["is_new_epoch"])
        before = state["previous_epoch"], state["previous_position"]
        self.previous = None if before[0] < 0 else before

    def _kind_of_order(self) -> int:
        """0 sequential, 1 shuffled, 2 an order sampler's."""
        return int(self.shuffle) if self._sampled is None else 2

    def _with_seed(self, seed: int) -> "Cursor":
        other = self.copy()
        other.seed = seed
        return other

    def copy(self) -> "Cursor":
        """Another cursor at the same position."""
        return copy.copy(self)  # shallow is enough: no attribute is ever changed in place
