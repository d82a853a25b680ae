"""The rectifier."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput


class ReLU(AbstractElementwiseOfOutput):
    kind = "relu"

    def slope(self, y: Variable) -> Any:
        array = y.array
        return (array > 0).astype(array.dtype)


def relu(x: Variable | Any) -> Variable:
    """max(x, 0); any shape, floating. The slope at 0 is taken as 0. NaN stays NaN; of -inf oneDNN may make NaN.

    Source: Rectified linear units improve restricted Boltzmann machines (Nair and Hinton, ICML 2010).
    """
    return ReLU().apply((x,))[0]
