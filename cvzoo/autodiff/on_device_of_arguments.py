"""A decorator that makes the device of the arguments the current one."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_array
from cvzoo.backends.device import on_device_of

P = ParamSpec("P")
R = TypeVar("R")


def on_device_of_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: makes the device of the first GPU argument current during the call.

    For functions that compute with arrays before or after they apply a FunctionNode, which does so by itself.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for each in args:
            array: object = each._array if isinstance(each, Variable) else each
            if type(array) is not np.ndarray and is_array(array):
                with on_device_of(array):
                    return function(*args, **kwargs)
        return function(*args, **kwargs)

    return run
