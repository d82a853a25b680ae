"""A product of matrices, a factor and a sum in one pass over memory: what attention computes when it does not learn."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class FusedMatMul(FunctionNode):
    """a, b and perhaps what is added, to scale * (a @ b) + add. It has no gradient: passes over graphs put it there.

    transa, transb: whether the matrices of a, of b are turned first, as in `matmul`
    """

    def __init__(self, transa: bool, transb: bool, scale: float):
        self.transa = transa
        self.transb = transb
        self.scale = scale

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        a, b, *rest = inputs
        a = a.swapaxes(-1, -2) if self.transa else a
        b = b.swapaxes(-1, -2) if self.transb else b
        return (backend_of(a).matmul(a, b, scale=self.scale, add=rest[0] if rest else None),)
