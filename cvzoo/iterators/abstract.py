"""What all iterators share: the order, the places that Chainer's trainers read, state and end."""

import abc

from cvzoo.iterators.cursor import Cursor


class AbstractIterator(abc.ABC):
    """Batches, lists of examples, of a data set.

    The same seed gives the same batches, to the bits of what random transforms draw (from `cvzoo.config`'s generator
    or `rng=None`), whatever kind of iterator reads them with however many workers, and also after `load_state`.

    dataset: anything with a length and numbered examples
    batch_size: how many examples a batch has; with `repeat` every one, else the last may have fewer
    repeat: go on forever; False: stop after each example came once
    shuffle: a new order every epoch; None: True, as Chainer has it
    seed: a whole number; None draws one from cvzoo's generator (`cvzoo.set_seed`)

    epoch, is_new_epoch, epoch_detail, previous_epoch_detail, current_position, next(), reset(), finalize(): Chainer's
    """

    def __init__(self, dataset, batch_size, repeat, shuffle, seed):
        self.dataset = dataset
        shuffle = True if shuffle is None else shuffle
        self._cursor = Cursor(len(dataset), batch_size, repeat=repeat, shuffle=shuffle, seed=seed)

    @abc.abstractmethod
    def _next_batch(self):
        """The examples of the cursor's next batch, a list, or None at the end; moves the cursor."""

    @abc.abstractmethod
    def _restart(self):
        """Forget whatever was read ahead: the cursor was moved."""

    @abc.abstractmethod
    def finalize(self):
        """End workers; more than once does no harm, and reading on starts them again."""

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._next_batch()
        if batch is None:
            raise StopIteration
        return batch

    def next(self):
        """The next batch, as `next(iterator)`."""
        return self.__next__()

    def reset(self):
        """Back to the beginning, with the same order as before."""
        self._cursor.reset()
        self._restart()

    def state(self):
        """Where we are, a dictionary of whole numbers, after the batch that was given last."""
        return self._cursor.state()

    def load_state(self, state):
        """Go on from a state: the next batch is the one that would have come then.

        Raises ValueRangeError if the state is of a data set of another length, or of another order.
        """
        self._cursor.load_state(state)
        self._restart()

    @property
    def batch_size(self):
        """How many examples a batch has."""
        return self._cursor.batch_size

    @property
    def repeat(self):
        """Whether it goes on forever."""
        return self._cursor.repeat

    @property
    def seed(self):
        """The seed, also if it was drawn."""
        return self._cursor.seed

    @property
    def epoch(self):
        """How many times all examples were given."""
        return self._cursor.epoch

    @property
    def current_position(self):
        """How many examples of the current epoch were given."""
        return self._cursor.position

    @property
    def is_new_epoch(self):
        """Whether the last batch finished an epoch."""
        return self._cursor.is_new_epoch

    @property
    def epoch_detail(self):
        """The epoch with its fraction."""
        return self._detail(self._cursor.epoch, self._cursor.position)

    @property
    def previous_epoch_detail(self):
        """`epoch_detail` before the last batch; None before the first."""
        return None if self._cursor.previous is None else self._detail(*self._cursor.previous)

    def _detail(self, epoch, position):
        return epoch + position / self._cursor.n_example if self._cursor.n_example else float(epoch)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.finalize()
