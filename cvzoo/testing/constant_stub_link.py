"""A stub of a network."""

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import Device, get_device
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.link import Link


class ConstantStubLink(Link):
    """A stub that returns the same outputs for all inputs.

    outputs: an array, returned as a Variable, or a tuple of arrays, returned as a tuple of Variables
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
        target = get_device(device)
        self._outputs = tuple(Variable(target.asarray(each.array)) for each in self._outputs)
        return self

    def forward(self, *args: object) -> Variable | tuple[Variable, ...]:
        """The outputs; arguments are ignored."""
        return self._outputs if self._is_tuple else self._outputs[0]
