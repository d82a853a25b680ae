"""Functions that are flat piece by piece: their results are connected to nothing, since the gradient is 0."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def sign(x: Variable | Array) -> Variable:
    """-1, 0 or 1, by the sign of x. No gradient."""
    array = as_array(x)
    return as_variable(backend_of(array).xp.sign(array))


@on_device_of_arguments
def floor(x: Variable | Array) -> Variable:
    """x rounded down to integers. No gradient."""
    array = as_array(x)
    return as_variable(backend_of(array).xp.floor(array))


@on_device_of_arguments
def ceil(x: Variable | Array) -> Variable:
    """x rounded up to integers. No gradient."""
    array = as_array(x)
    return as_variable(backend_of(array).xp.ceil(array))


@on_device_of_arguments
def fix(x: Variable | Array) -> Variable:
    """x without its fraction: rounded towards 0. No gradient."""
    array = as_array(x)
    return as_variable(backend_of(array).xp.trunc(array))
