"""A convolution's gradient and the sum with another gradient in one pass over memory."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import rounded


class DeconvolutionAndSum(FunctionNode):
    """x (B, C, H, W), W (C, O / groups, KH, KW), other (B, O, *out_size) to the transposed convolution plus `other`.

    It is never part of a graph.
    """

    def __init__(self, window: dict[str, Any], out_size: Sequence[int]):
        self._window = window
        self._out_size = (int(out_size[0]), int(out_size[1]))

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, W, other = inputs
        W = rounded(W, x.dtype)
        return (backend_of(x).conv_2d_input_grad(x, W, self._out_size, add=other, **self._window),)
