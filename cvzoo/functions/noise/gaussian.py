"""Normal numbers whose mean and variance can be learned."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.math.elementwise import floating_backend
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
