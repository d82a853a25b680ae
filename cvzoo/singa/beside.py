"""Copies of arrays to the host, and back to the device of another array."""

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import device_of
from cvzoo.typing.aliases import Array, ArrayLike


def on_host(x: Variable | ArrayLike) -> np.ndarray:
    """A Tensor or an array-like as a numpy array."""
    if isinstance(x, Variable):
        return to_numpy(x._array)
    return to_numpy(x) if is_array(x) else np.asarray(x)


def beside(x: Variable | Array, array: Array) -> Array:
    """The array on the device of x, a Tensor or an array."""
    return device_of(x._array if isinstance(x, Variable) else x).asarray(array)
