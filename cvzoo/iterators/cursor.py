"""Which examples come next: an order that depends on the seed and the epoch alone."""

import copy

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ValueRangeError


class Cursor:
    """A place in the endless (or, without repeat, finite) row of examples.

    n_example, batch_size, repeat, shuffle: as the iterators have them
    seed: of the order of every epoch and of what transforms draw; None draws one from cvzoo's generator

    epoch: how many times all examples were given; position: how many of the current epoch; is_new_epoch: the last
    batch finished an epoch; previous: epoch and position before the last batch, or None
    """

    def __init__(self, n_example, batch_size, *, repeat, shuffle, seed):
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ValueRangeError("batch_size must be a positive integer", got=repr(batch_size))
        if repeat and n_example == 0:
            raise ValueRangeError("an empty data set cannot be repeated", hint="repeat=False, or look for the files")
        if seed is None:
            seed = int(random_generator().integers(1 << 32))
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueRangeError("seed must be a whole number, not negative", got=repr(seed))
        self.n_example = n_example
        self.batch_size = int(batch_size)
        self.repeat = bool(repeat)
        self.shuffle = bool(shuffle)
        self.seed = int(seed)
        self._known = (-1, None)
        self.reset()

    def reset(self):
        """Back to the beginning."""
        self.epoch = self.position = 0
        self.is_new_epoch = False
        self.previous = None

    def next_batch(self):
        """A list of (epoch, index), or None at the end."""
        if not self.repeat and self.epoch:
            return None
        if self.n_example == 0:
            return None
        before = self.epoch, self.position
        batch = []
        while len(batch) < self.batch_size:
            order = self._order(self.epoch)
            wanted = order[self.position : self.position + self.batch_size - len(batch)]
            batch += [(self.epoch, int(index)) for index in wanted]
            self.position += len(wanted)
            if self.position == self.n_example:
                self.epoch, self.position = self.epoch + 1, 0
                if not self.repeat:
                    break
        self.is_new_epoch = self.epoch > before[0]
        self.previous = before
        return batch

    def _order(self, epoch):
        if not self.shuffle:
            return range(self.n_example)
        if self._known[0] != epoch:
            sequence = np.random.SeedSequence(self.seed, spawn_key=(epoch,))
            self._known = epoch, np.random.Generator(np.random.PCG64(sequence)).permutation(self.n_example)
        return self._known[1]

    def state(self):
        """Plain numbers that say where we are."""
        return {
            "seed": self.seed,
            "n_example": self.n_example,
            "shuffle": int(self.shuffle),
            "epoch": self.epoch,
            "position": self.position,
            "is_new_epoch": int(self.is_new_epoch),
            "previous_epoch": -1 if self.previous is None else self.previous[0],
            "previous_position": -1 if self.previous is None else self.previous[1],
        }

    def load_state(self, state):
        """Go on where a state was taken. Raises ValueRangeError if it is of another data set or no state."""
        missing = [name for name in self.state() if name not in state]
        if missing:
            raise ValueRangeError("not the state of an iterator", expected=", ".join(self.state()), got=list(state))
        state = {name: int(state[name]) for name in self.state()}
        for name, mine in (("n_example", self.n_example), ("shuffle", int(self.shuffle))):
            if state[name] != mine:
                raise ValueRangeError(
                    f"the state is of an iterator with another {name}: its order would not go on",
                    expected=mine,
                    got=state[name],
                )
        if state["seed"] < 0 or state["epoch"] < 0 or not 0 <= state["position"] <= self.n_example:
            raise ValueRangeError("the state is of no place in this data set", got=state)
        self.seed = state["seed"]
        self._known = (-1, None)
        self.epoch, self.position = state["epoch"], state["position"]
        self.is_new_epoch = bool(state["is_new_epoch"])
        before = state["previous_epoch"], state["previous_position"]
        self.previous = None if before[0] < 0 else before

    def copy(self):
        """Another cursor at the same place."""
        return copy.copy(self)  # nothing that it holds is ever changed in place
