"""Orders of an epoch's examples that users decide on."""

from collections.abc import Callable

import numpy as np

from cvzoo.config.randomness import random_generator, using_random_state
from cvzoo.errors.exceptions import ShapeError, ValueRangeError

Sampler = Callable[[np.ndarray, int], np.ndarray]


class OrderSampler:
    """What says in which order an epoch takes its examples: a class of its own says `__call__`.

    It may leave examples out and take others several times, as for classes of unequal size. A sampler that draws from
    `cvzoo.config.random_generator()` and keeps nothing gives the same orders from the same seed, also when a run is
    resumed; one with random numbers of its own does not.
    """

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """(M,) indices of examples: the order of the epoch that begins.

        current_order: that of the epoch before; 0 to N - 1 before the first
        current_position: how many of its examples were taken; 0 before the first
        """
        raise NotImplementedError


class ShuffleOrderSampler(OrderSampler):
    """All examples in random order, as iterators with `shuffle=True` take them, though with other draws.

    random_state: a numpy.random.RandomState or Generator to draw from; None: the iterator's seed and the epoch decide,
        so that a resumed run has the same orders
    """

    def __init__(self, random_state: np.random.RandomState | np.random.Generator | None = None):
        self._random = random_state

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """A permutation of 0 to N - 1."""
        random = random_generator() if self._random is None else self._random
        return random.permutation(len(current_order))


class SampledOrders:
    """The orders of epochs, each asked of the sampler once; copies of an iterator's cursor share them.

    n_example: how many examples there are to choose from
    """

    def __init__(self, sampler: Sampler, n_example: int):
        if not callable(sampler):
            raise ValueRangeError("order_sampler must be callable", got=repr(sampler)[:80])
        self._sampler = sampler
        self._n_example = n_example
        self._seed = -1
        self._orders: list[np.ndarray | None] = []

    def order(self, seed: int, epoch: int) -> np.ndarray:
        """(M,) int64: the order of an epoch. It may follow from the one before: those that are not known are made.

        Raises ShapeError if the sampler gives no row of indices, ValueRangeError if there is no such example.
        """
        if seed != self._seed:
            self._seed, self._orders = seed, []
        while len(self._orders) <= epoch:
            before = self._orders[-1] if self._orders else np.arange(self._n_example)
            assert before is not None
            # three numbers: one is the key of shuffled epochs, two are those of examples
            sequence = np.random.SeedSequence(seed, spawn_key=(len(self._orders), 0, 0))
            with using_random_state(np.random.PCG64(sequence).state):
                order = np.asarray(self._sampler(before.copy(), len(before) if self._orders else 0))
            self._orders.append(self._checked(order))
            if len(self._orders) > 3:  # what was read ahead may have to be read again
                self._orders[-4] = None
        found = self._orders[epoch]
        if found is None:  # back in an epoch that was forgotten
            self._seed = -1
            return self.order(seed, epoch)
        return found

    def _checked(self, order: np.ndarray) -> np.ndarray:
        if order.ndim != 1 or not order.size or order.dtype.kind not in "iu":
            raise ShapeError(
                "the order_sampler gave no order",
                expected="(M,) integers, M at least 1",
                got=f"{order.shape} {order.dtype}",
            )
        if order.min() < 0 or order.max() >= self._n_example:
            raise ValueRangeError(
                "the order_sampler names an example that is not there",
                expected=f"0 to {self._n_example - 1}",
                got=f"{order.min()} to {order.max()}",
            )
        return order.astype(np.int64)
