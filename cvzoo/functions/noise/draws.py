"""Random samples: of a normal distribution, differentiable, and of a discrete one."""

from collections.abc import Sequence

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import floating_backend
from cvzoo.functions.math.exponential import exp
from cvzoo.typing.aliases import Array


def gaussian(mean: Variable | Array, ln_var: Variable | Array) -> Variable:
    """A draw from the normal distribution of `mean` and log variance `ln_var`, element by element.

    Raises ShapeError if the shapes differ, DtypeError if they are not floating arrays.
    Source: Auto-encoding variational Bayes (Kingma and Welling, ICLR 2014), the reparametrization.
    """
    mean, ln_var = as_variable(mean), as_variable(ln_var)
    if mean.shape != ln_var.shape:
        raise ShapeError("gaussian: one variance for each mean", expected=mean.shape, got=ln_var.shape)
    noise = floating_backend(mean.array, "gaussian").standard_normal(mean.shape, mean.dtype, rounded=True)
    return exp(ln_var * 0.5) * noise + mean


class WalkerAlias:
    """Draws numbers 0 to n - 1 of given probabilities, from cvzoo's generator.

    probs: n numbers, not negative; divided by their sum
    Raises ShapeError or ValueRangeError if they are no probabilities.
    Source: Walker, "An efficient method for generating discrete random variables with general distributions", 1977.
    """

    def __init__(self, probs: Sequence[float] | np.ndarray):
        p = np.asarray(probs, np.float64)
        if p.ndim != 1 or not p.size:
            raise ShapeError("WalkerAlias: probabilities must be a row", got=p.shape)
        if not (np.isfinite(p).all() and (p >= 0).all() and p.any()):
            raise ValueRangeError("WalkerAlias: probabilities must be finite, not negative, and not all 0")
        shares = p / p.sum() * len(p)
        # of column i, a part of `threshold[i]` belongs to i itself and the rest to `alias[i]`
        self.threshold = np.ones(len(p))
        self.alias = np.arange(len(p))
        small = [i for i, share in enumerate(shares) if share < 1]
        large = [i for i, share in enumerate(shares) if share >= 1]
        # entries that rounding leaves over keep a threshold of 1
        while small and large:
            few, many = small.pop(), large[-1]
            self.threshold[few], self.alias[few] = shares[few], many
            shares[many] -= 1 - shares[few]
            if shares[many] < 1:
                small.append(large.pop())

    def sample(self, shape: int | Sequence[int]) -> Array:
        """An array of the shape, int32."""
        random = random_generator()
        column = random.integers(len(self.threshold), size=shape)
        stays = random.random(size=shape) < self.threshold[column]
        return np.where(stays, column, self.alias[column]).astype(np.int32)
