"""Convolutions computed in bfloat16."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.connection.bf16_convolution_2d import bf16_convolution_2d
from cvzoo.functions.connection.linear import linear as linear_function
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import filters_of
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.connection.linear import Linear
from cvzoo.links.quantization.int8_kernel import plain_array, refuse_gradients


class Bf16Kernel(AbstractLayerKernel):
    """A convolution whose factors have 16 bits; a linear layer stays as it is."""

    def convolve(
        self,
        conv: Convolution2D,
        norm: Any,
        x: Any,
        *,
        add: Any = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
    ) -> Variable:
        """As AbstractLayerKernel says. Raises GraphError where gradients are being taken."""
        refuse_gradients()
        W, b, pack = filters_of(conv, norm)
        return bf16_convolution_2d(
            x,
            plain_array(W),
            None if b is None else plain_array(b),
            conv.stride,
            conv.pad,
            dilate=conv.dilate,
            groups=conv.groups,
            add=add,
            activation=activation,
            alpha=alpha,
            beta=beta,
            pack=pack,
        )

    def multiply(self, linear: Linear, x: Any, n_batch_axes: int) -> Variable:
        """As AbstractLayerKernel says."""
        return linear_function(x, linear.W, linear.b, n_batch_axes=n_batch_axes)
