"""A link to put in the place of a network."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import Device, get_device
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.link import Link


class ConstantStubLink(Link):
    """Gives the same numbers whatever it is called with.

    outputs: an array, of which a call gives a Variable; or a tuple of arrays, of which it gives a tuple
    Raises ValueRangeError if an output is no NumPy array.
    """

    def __init__(self, outputs: np.ndarray | tuple[np.ndarray, ...]):
        arrays = outputs if isinstance(outputs, tuple) else (outputs,)
        for array in arrays:
            if not isinstance(array, np.ndarray):
                raise ValueRangeError("ConstantStubLink: outputs must be arrays", got=type(array).__name__)
        self._is_tuple = isinstance(outputs, tuple)
        self._outputs = tuple(Variable(array) for array in arrays)

    def to_device(self, device: str | int | Device) -> "ConstantStubLink":
        """Move the outputs; returns the link."""
        super().to_device(device)
        place = get_device(device)
        self._outputs = tuple(Variable(place.asarray(each.array)) for each in self._outputs)
        return self

    def forward(self, *args: Any) -> Variable | tuple[Variable, ...]:
        """The outputs; the arguments are not looked at."""
        return self._outputs if self._is_tuple else self._outputs[0]
