"""Copies of arrays to the host, and back to the device of another array."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.typing.aliases import Array


def on_host(x: Any) -> np.ndarray:
    """A Tensor or an array-like as a numpy array."""
    if isinstance(x, Variable):
        return to_numpy(x._array)
    return to_numpy(x)


def beside(x: Variable | Array, array: Array) -> Array:
    """The array on the device of x, a Tensor or an array."""
    return device_of(x._array if isinstance(x, Variable) else x).asarray(array)
