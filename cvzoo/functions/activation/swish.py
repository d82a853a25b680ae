"""The sigmoid-weighted linear unit."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.elementwise import AbstractElementwise
from cvzoo.functions.math.operands import SCALARS


class Swish(AbstractElementwise):
    kind = "swish"

    def __init__(self, beta: float):
        self.alpha = beta

    def slope(self, x: Variable) -> Variable:
        s = sigmoid(x * self.alpha)
        return s + x * self.alpha * s * (1 - s)


def swish(x: Variable | Any, beta: Variable | Any = 1.0) -> Variable:
    """x * sigmoid(beta * x).

    beta: a number, or learned: an array of the shape of x's axes from the second on, as many as it has
    Raises ShapeError if beta does not fit x.
    Source: Searching for activation functions (Ramachandran, Zoph and Le, 2017).
    """
    x = as_variable(x)
    if isinstance(beta, SCALARS):
        return Swish(float(beta)).apply((x,))[0]
    x, beta = agreed_pair(x, as_variable(beta))
    beta = reshape(beta, (1, *beta.shape, *(1,) * (x.ndim - 1 - beta.ndim)))
    return x * sigmoid(x * broadcast_to(beta, x.shape))


def silu(x: Variable | Any) -> Variable:
    """x * sigmoid(x): `swish` with beta 1."""
    return Swish(1.0).apply((x,))[0]
