"""Normal numbers whose mean and variance can be learned."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.math.exp import exp


def gaussian(mean: Variable | Any, ln_var: Variable | Any) -> Variable:
    """A draw from the normal distribution of `mean` and log variance `ln_var`, element by element.

    Raises ShapeError if the shapes differ.
    Source: Auto-encoding variational Bayes (Kingma and Welling, ICLR 2014), the reparametrization.
    """
    if mean.shape != ln_var.shape:
        raise ShapeError("gaussian: one variance for each mean", expected=mean.shape, got=ln_var.shape)
    array = as_array(mean)
    noise = backend_of(array).asarray(random_generator().standard_normal(array.shape).astype(array.dtype))
    return exp(ln_var * 0.5) * noise + mean
