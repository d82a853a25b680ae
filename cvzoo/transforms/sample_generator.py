"""Random generators by sample of a data set."""

import numpy as np

from cvzoo.errors.exceptions import ValueRangeError


def sample_generator(seed: int, epoch: int, index: int) -> np.random.Generator:
    """A random generator that depends only on seed, epoch and index, and not on order, batch or worker.

    seed: of the run; epoch: number of completed epochs; index: of the sample; all integers, not negative
    Pass it to a transform as rng. The random numbers of two samples, or of one sample in two epochs, are independent.
    Raises ValueRangeError for a negative argument.
    """
    if min(seed, epoch, index) < 0:
        raise ValueRangeError("seed, epoch and index must not be negative", got=(seed, epoch, index))
    sequence = np.random.SeedSequence(int(seed), spawn_key=(int(epoch), int(index)))
    return np.random.Generator(np.random.PCG64(sequence))
