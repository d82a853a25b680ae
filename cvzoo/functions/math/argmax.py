"""Where along an axis the largest or smallest value is."""

from typing import Any

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import widened
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import one_axis


def _find(x: Variable | Any, axis: int | None, function: str) -> Variable:
    array = as_array(x)
    xp = backend_of(array).xp
    array = widened(array)
    axis = None if axis is None else one_axis(axis, array.ndim, function)
    if not (array.size if axis is None else array.shape[axis]):
        raise ShapeError(f"{function}: there is nothing to choose from", got=array.shape)
    find = xp.argmax if function == "argmax" else xp.argmin
    return as_variable(xp.asarray(find(array, axis=axis)).astype("int32"))


@on_device_of_arguments
def argmax(x: Variable | Any, axis: int | None = None) -> Variable:
    """int32: the place of the largest value along `axis` (first of equals), or in the flattened x. No gradient.

    Raises ShapeError if there is no such axis or no value.
    """
    return _find(x, axis, "argmax")


@on_device_of_arguments
def argmin(x: Variable | Any, axis: int | None = None) -> Variable:
    """int32: the place of the smallest value, as `argmax`. No gradient."""
    return _find(x, axis, "argmin")
