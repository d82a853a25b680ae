"""Order samplers: custom orders of an epoch's examples."""

from collections.abc import Callable

import numpy as np

from cvzoo.config.randomness import random_generator, using_random_state
from cvzoo.errors.exceptions import ShapeError, ValueRangeError

Sampler = Callable[[np.ndarray, int], np.ndarray]


class OrderSampler:
    """Base class of order samplers, which determine the order of examples of an epoch; implement `__call__`.

    It may omit examples and repeat others, such as for class balancing. A sampler that draws from
    `cvzoo.config.random_generator()` and has no state returns the same orders for the same seed, also in a resumed run;
    one with its own random generator does not.
    """

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """(M,) indices of examples: the order of the next epoch.

        current_order: that of the previous epoch; 0 to N - 1 for the first one
        current_position: number of its returned examples; 0 for the first one
        """
        raise NotImplementedError


class ShuffleOrderSampler(OrderSampler):
    """All examples in random order, as with `shuffle=True`, but in different permutations.

    random_state: a numpy.random.RandomState or Generator; None: the order depends on the iterator's seed and the epoch
        only, so that a resumed run has the same orders
    """

    def __init__(self, random_state: np.random.RandomState | np.random.Generator | None = None):
        self._random = random_state

    def __call__(self, current_order: np.ndarray, current_position: int) -> np.ndarray:
        """A permutation of 0 to N - 1."""
        random = random_generator() if self._random is None else self._random
        return random.permutation(len(current_order))


class SampledOrders:
    """The orders of epochs, with one call of the sampler for each; copies of an iterator's cursor share them.

    n_example: number of examples
    """

    def __init__(self, sampler: Sampler, n_example: int):
        if not callable(sampler):
            raise ValueRangeError("order_sampler must be callable", got=repr(sampler)[:80])
        self._sampler = sampler
        self._n_example = n_example
        self._seed = -1
        self._orders: list[np.ndarray | None] = []

    def order(self, seed: int, epoch: int) -> np.ndarray:
        """(M,) int64: the order of an epoch. It may depend on the previous ones, which are computed first.

        Raises ShapeError unless the sampler returns a vector of indices, ValueRangeError if one is out of range.
        """
        if seed != self._seed:
            self._seed, self._orders = seed, []
        while len(self._orders) <= epoch:
            before = self._orders[-1] if self._orders else np.arange(self._n_example)
            assert before is not None
            # a seed of three numbers; that of shuffled epochs has one, those of examples have two
            sequence = np.random.SeedSequence(seed, spawn_key=(len(self._orders), 0, 0))
            with using_random_state(np.random.PCG64(sequence).state):
                order = np.asarray(self._sampler(before.copy(), len(before) if self._orders else 0))
            self._orders.append(self._checked(order))
            if len(self._orders) > 3:  # prefetched epochs may be requested again
                self._orders[-4] = None
        cached = self._orders[epoch]
        if cached is None:  # an earlier epoch that is no longer cached
            self._seed = -1
            return self.order(seed, epoch)
        return cached

    def _checked(self, order: np.ndarray) -> np.ndarray:
        if order.ndim != 1 or not order.size or order.dtype.kind not in "iu":
            raise ShapeError(
                "the order_sampler returned no order",
                expected="(M,) integers, M at least 1",
                got=f"{order.shape} {order.dtype}",
            )
        if order.min() < 0 or order.max() >= self._n_example:
            raise ValueRangeError(
                "the order_sampler returned an index that is out of range",
                expected=f"0 to {self._n_example - 1}",
                got=f"{order.min()} to {order.max()}",
            )
        return order.astype(np.int64)
