"""Means along axes."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import Axes, all_axes
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.divide import divide
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.sum import sum


def average(
    x: Variable | Any, axis: Axes = None, weights: Variable | Any | None = None, keepdims: bool = False
) -> Variable:
    """The mean of x along `axis`, weighted by `weights` if given.

    axis: one axis, several, or None for all
    weights: of x's shape, or one number for each place of the axes averaged; same dtype as x
    keepdims: the averaged axes stay, with size 1
    Raises ShapeError if there is no such axis, the weights do not fit, or there is nothing to average.
    """
    x = as_variable(x)
    shape = x.shape
    axes = all_axes(axis, len(shape), "average")
    count = 1
    for i in axes:
        count *= shape[i]
    if not count:
        raise ShapeError("average: there is nothing to average", got=shape)
    if weights is None:
        return divide(sum(x, axes, keepdims), count)
    weights = as_variable(weights)
    places = tuple([shape[i] for i in sorted(axes)])
    if weights.shape == places:
        weights = reshape(weights, tuple([size if i in axes else 1 for i, size in enumerate(shape)]))
    elif weights.shape != shape:
        raise ShapeError("average: weights do not fit x", expected=f"{shape} or {places}", got=weights.shape)
    total = sum(broadcast_to(weights, shape), axes, keepdims)
    return divide(sum(multiply(x, weights), axes, keepdims), total)


def mean(x: Variable | Any, axis: Axes = None, keepdims: bool = False) -> Variable:
    """The mean of x along `axis`: `average` without weights."""
    return average(x, axis, None, keepdims)
