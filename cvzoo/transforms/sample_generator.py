"""The randomness of one sample of a data set."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


def sample_generator(seed, epoch, index):
    """A generator that depends on these three numbers only: not on order, batch or worker.

    seed: of the run; epoch: how often the data set was seen; index: which sample; all whole and not negative
    Give it to a transform as rng. Two samples, or one sample in two epochs, draw independently.
    Raises ValueRangeError for a negative number.
    """
    if min(seed, epoch, index) < 0:
        raise ValueRangeError("seed, epoch and index must not be negative", got=(seed, epoch, index))
    sequence = np.random.SeedSequence(int(seed), spawn_key=(int(epoch), int(index)))
    return np.random.Generator(np.random.PCG64(sequence))
