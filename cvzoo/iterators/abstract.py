"""The base class of all iterators: batches, Chainer's attributes, serializable state, finalization."""

import abc
from typing import Generic, TypeVar

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.cursor import Cursor, IteratorState
from cvzoo.iterators.order_samplers import Sampler
from cvzoo.reporting.sign_of_life import sign_of_life
from cvzoo.typing.protocols import IndexableDataset

Example = TypeVar("Example")
Self = TypeVar("Self", bound="AbstractIterator")


class AbstractIterator(abc.ABC, Generic[Example]):
    """Iterates over a data set in batches, which are lists of examples.

    The same seed gives the same batches, bit for bit, random transforms included (those that draw from `cvzoo.config`'s
    generator or take `rng=None`), for every kind of iterator, any number of workers, and after `load_state`.

    dataset: any object with `len(dataset)` and `dataset[index]`
    batch_size: examples per batch; without `repeat`, the last batch may have fewer
    repeat: iterate endlessly; False: stop after one epoch
    shuffle: a new random order each epoch; None: True, as in Chainer
    order_sampler: an OrderSampler, which decides on the order of each epoch; not together with `shuffle`
    seed: a non-negative integer; None draws one from cvzoo's generator (`cvzoo.set_seed`)

    epoch, is_new_epoch, epoch_detail, previous_epoch_detail, current_position, next(), reset(), finalize(): as in
    Chainer
    """

    def __init__(
        self,
        dataset: IndexableDataset[Example],
        batch_size: int,
        repeat: bool,
        shuffle: bool | None,
        seed: int | None,
        order_sampler: Sampler | None = None,
    ) -> None:
        self.dataset = dataset
        if order_sampler is not None and shuffle is not None:
            raise ValueRangeError(
                "shuffle and order_sampler both decide on the order of examples",
                got=f"shuffle={shuffle}",
                hint="shuffle=None",
            )
        shuffle = order_sampler is None if shuffle is None else shuffle
        self._cursor = Cursor(
            len(dataset), batch_size, repeat=repeat, shuffle=shuffle, seed=seed, order_sampler=order_sampler
        )

    @abc.abstractmethod
    def _next_batch(self) -> list[Example] | None:
        """The examples of the next batch, or None at the end; advances the cursor."""

    @abc.abstractmethod
    def _restart(self) -> None:
        """Discards prefetched examples, after the cursor was moved."""

    @abc.abstractmethod
    def finalize(self) -> None:
        """Stops the workers; may be called repeatedly, and the next batch starts them again."""

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> list[Example]:
        batch = self._next_batch()
        if batch is None:
            raise StopIteration
        sign_of_life()
        return batch

    def next(self) -> list[Example]:
        """The next batch, same as `next(iterator)`."""
        return self.__next__()

    def reset(self) -> None:
        """Restarts from the first epoch, in the same order."""
        self._cursor.reset()
        self._restart()

    def state(self) -> IteratorState:
        """The position after the last returned batch, a dictionary of integers."""
        return self._cursor.state()

    def load_state(self, state: IteratorState) -> None:
        """Resumes from a state: the next batch is the one that followed it.

        Raises ValueRangeError if the state is of a data set of another length, or with another `shuffle`.
        """
        self._cursor.load_state(state)
        self._restart()

    def take_part(self: Self, number: int, n_part: int) -> Self:
        """This iterator, returning from now on part `number` (0 to n_part - 1) of each batch, which processes share.

        Order, epochs, positions and states are those of the whole batches, so that a state is one for any number of
        parts, which differ by one example at most. Raises ValueRangeError if it is finite, or batches are too small.
        """
        if not 0 <= number < n_part:
            raise ValueRangeError("take_part: there is no such part", expected=f"0 to {n_part - 1}", got=number)
        if not self.repeat or self.batch_size < n_part:
            raise ValueRangeError(
                "take_part: some parts of batches would be empty",
                expected=f"repeat=True and a batch_size of at least {n_part}, over all parts",
                got=f"repeat={self.repeat}, batch_size={self.batch_size}",
            )
        self._cursor.part = number, n_part
        self._restart()
        return self

    def take_first(self: Self, n: int) -> Self:
        """This iterator, from the beginning, over the first n examples of the data set only.

        Raises ValueRangeError if there are fewer, or an order sampler decides on the order.
        """
        if not 0 <= n <= len(self.dataset) or self._cursor.order_sampler is not None:
            raise ValueRangeError("take_first: the data set has fewer examples, or a sampler of its own", got=n)
        self._cursor.n_example = n
        self._cursor.reset()
        self._restart()
        return self

    @property
    def batch_size(self) -> int:
        """Examples per batch."""
        return self._cursor.batch_size

    @property
    def repeat(self) -> bool:
        """Whether iteration is endless."""
        return self._cursor.repeat

    @property
    def seed(self) -> int:
        """The seed of order and transforms, given or drawn."""
        return self._cursor.seed

    @property
    def epoch(self) -> int:
        """Completed epochs."""
        return self._cursor.epoch

    @property
    def current_position(self) -> int:
        """Examples of the current epoch that were returned."""
        return self._cursor.position

    @property
    def is_new_epoch(self) -> bool:
        """Whether the last batch completed an epoch."""
        return self._cursor.is_new_epoch

    @property
    def epoch_detail(self) -> float:
        """Completed epochs, including the fraction of the current one."""
        return self._detail(self._cursor.epoch, self._cursor.position)

    @property
    def previous_epoch_detail(self) -> float | None:
        """`epoch_detail` before the last batch; None before the first."""
        return None if self._cursor.previous is None else self._detail(*self._cursor.previous)

    def _detail(self, epoch: int, position: int) -> float:
        # the order of an epoch that has not begun need not be known yet
        return epoch + position / self._cursor.length_of(epoch) if position else float(epoch)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.finalize()
