"""Losses of variational autoencoders: Gaussian and Bernoulli likelihoods, Kullback-Leibler divergence."""

import math

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.sigmoid import softplus
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.functions.math.exponential import exp
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def gaussian_kl_divergence(mean: Variable | Array, ln_var: Variable | Array, reduce: str = "sum") -> Variable:
    """The Kullback-Leibler divergence of normal distributions from the standard one: a number, or mean's shape.

    mean, ln_var: means and logarithms of variances, of one shape and dtype
    reduce: "sum", "mean" or "no"
    Raises ShapeError or DtypeError if they differ.
    Source: Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, appendix B.
    """
    mean, ln_var = _of_one_shape("gaussian_kl_divergence", reduce, mean=mean, ln_var=ln_var)
    spread = subtract(subtract(exp(ln_var), ln_var), 1.0)
    return reduced(multiply(add(square(mean), spread), 0.5), reduce, mean.size)


@on_device_of_arguments
def gaussian_nll(
    x: Variable | Array, mean: Variable | Array, ln_var: Variable | Array, reduce: str = "sum"
) -> Variable:
    """The negative log-likelihood of x under normal distributions: a number, or x's shape.

    x, mean, ln_var: values, means and logarithms of variances, of one shape and dtype
    reduce: "sum", "mean" or "no"
    Raises ShapeError or DtypeError if they differ.
    """
    x, mean, ln_var = _of_one_shape("gaussian_nll", reduce, x=x, mean=mean, ln_var=ln_var)
    distance = multiply(square(subtract(x, mean)), exp(multiply(ln_var, -1.0)))
    loss = multiply(add(add(distance, ln_var), math.log(2 * math.pi)), 0.5)
    return reduced(loss, reduce, x.size)


@on_device_of_arguments
def bernoulli_nll(x: Variable | Array, y: Variable | Array, reduce: str = "sum") -> Variable:
    """The negative log-likelihood of x under probabilities sigmoid(y): a number, or x's shape.

    x: values from 0 to 1
    y: logits, of x's shape and dtype
    reduce: "sum", "mean" or "no"
    Raises ShapeError or DtypeError if they differ.
    """
    x, y = _of_one_shape("bernoulli_nll", reduce, x=x, y=y)
    return reduced(subtract(softplus(y), multiply(x, y)), reduce, x.size)


def _of_one_shape(function: str, reduce: str, **arrays: Variable | Array) -> list[Variable]:
    check_reduce(reduce, function=function)
    (name, array), *others = arrays.items()
    checked = [first := widened(array)]
    for other, array in others:
        checked.append(widened(beside(array, first)))
        check_like(first, checked[-1], function=function, names=(name, other))
    return checked
