"""The argument check of random generators."""

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import DtypeError


def as_rng(rng: np.random.Generator | None) -> np.random.Generator:
    """The generator itself, or for None this thread's own, which `config.set_seed` seeds.

    Raises DtypeError for any other input: a seed would give the same random numbers in every call.
    """
    if rng is None:
        return random_generator()
    if not isinstance(rng, np.random.Generator):
        raise DtypeError(
            "rng must be a numpy.random.Generator or None",
            got=type(rng).__name__,
            hint="numpy.random.default_rng(seed)",
        )
    return rng
