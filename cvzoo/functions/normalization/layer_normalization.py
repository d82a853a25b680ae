"""Normalization of each sample's own values."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.math.add import add
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.normalization.normalize_groups import normalize_groups


def layer_normalization(x: Any, gamma: Any, beta: Any, eps: float = 1e-5) -> Variable:
    """x with mean 0 and variance 1 along its last axis, times gamma, plus beta.

    x: (..., I)
    gamma, beta: (I,)
    eps: added to the variance
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    Source: Ba, Kiros and Hinton, "Layer Normalization", 2016.
    """
    x = as_variable(x)
    gamma = as_variable(gamma)
    beta = as_variable(beta)
    if eps <= 0:
        raise ValueRangeError("layer_normalization: eps must be positive", got=eps)
    if gamma.shape is None or beta.shape is None:
        raise GraphError("layer_normalization: a parameter has no value yet", hint="parameter.initialize(shape)")
    if x.ndim < 2 or gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ShapeError(
            "layer_normalization: gamma and beta need one number for each of a sample's values",
            expected="x (..., I), gamma (I,), beta (I,)",
            got=f"x {x.shape}, gamma {gamma.shape}, beta {beta.shape}",
        )
    if x.dtype.kind != "f":
        raise DtypeError("layer_normalization: x must be floating", got=x.dtype, hint="x.astype('float32')")
    n_group = 1
    for size in x.shape[:-1]:
        n_group *= size
    return add(multiply(normalize_groups(x, n_group, eps), gamma), beta)
