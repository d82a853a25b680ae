"""Normalization of each sample's channels, group by group."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.add import add
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.normalization.batch_normalization import check_statistics
from cvzoo.functions.normalization.normalize_groups import normalize_groups


def group_normalization(x: Any, groups: int, gamma: Any, beta: Any, eps: float = 1e-5) -> Variable:
    """x with mean 0 and variance 1 over each sample's groups of channels, times gamma, plus beta.

    x: (B, C, ...)
    groups: how many groups the channels are split into; groups = C is instance normalization
    gamma, beta: (C,)
    eps: added to the variance
    Raises ShapeError if shapes do not fit, DtypeError if dtypes differ, ValueRangeError if eps is not positive.
    Source: Wu and He, "Group Normalization", 2018.
    """
    x = as_variable(x)
    gamma = as_variable(gamma)
    beta = as_variable(beta)
    check_statistics("group_normalization", x, (gamma, beta), ("gamma", "beta"), eps)
    c = x.shape[1]
    if groups < 1 or c % groups:
        raise ShapeError(
            f"group_normalization: {c} channels cannot be split into {groups} groups",
            got=x.shape,
            hint="a number of groups that divides the channels",
        )
    y = normalize_groups(x, x.shape[0] * groups, eps)
    across = (c,) + (1,) * (x.ndim - 2)
    return add(multiply(y, reshape(gamma, across)), reshape(beta, across))
