"""bfloat16 kernels of layers."""

import math

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.connection.byte_variable import rearranged
from cvzoo.functions.connection.fewer_bits import bf16_convolution_2d
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import BatchNorm, filters_of
from cvzoo.links.connection.fused_linear import filters_of_rows, map_as_rows, rows_as_map
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.connection.linear import Linear
from cvzoo.links.quantization.int8_kernel import plain_array, refuse_gradients
from cvzoo.typing.aliases import Array


class Bf16Kernel(AbstractLayerKernel):
    """A convolution or a linear layer in bfloat16.

    gives_bits: whether its output is bfloat16, too; otherwise float32
    """

    def __init__(self, gives_bits: bool = False):
        self.gives_bits = gives_bits

    def convolve(
        self,
        conv: Convolution2D,
        norm: BatchNorm | None,
        x: Variable | Array,
        *,
        add: Variable | Array | None = None,
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
            gives_bits=self.gives_bits,
            pack=pack,
        )

    def multiply(self, linear: Linear, x: Variable | Array, n_batch_axes: int) -> Variable:
        """As AbstractLayerKernel says. Raises GraphError where gradients are being taken."""
        x = as_variable(x)
        lead = x.shape[:n_batch_axes]
        n = math.prod(lead)
        # for batch invariance, a row is an image of one pixel
        y = self.multiply_rows(linear, reshape(x, (n, math.prod(x.shape[n_batch_axes:]))))
        return reshape(y, (*lead, y.shape[1]))

    def multiply_rows(
        self,
        linear: Linear,
        x: Variable | Array,
        *,
        b: Variable | Array | None = None,
        with_gelu: bool = False,
        scale: Parameter | None = None,
        add: Variable | Array | None = None,
    ) -> Variable:
        """As AbstractLayerKernel says. Raises GraphError where gradients are being taken."""
        refuse_gradients()
        W, own, pack = filters_of_rows(linear, scale)
        b = own if b is None else b
        y = bf16_convolution_2d(
            rearranged(x, rows_as_map),
            plain_array(W),
            None if b is None else plain_array(b),
            add=None if add is None else rearranged(add, rows_as_map),
            activation="gelu_erf" if with_gelu else None,
            gives_bits=self.gives_bits,
            pack=pack,
        )
        return rearranged(y, lambda y: map_as_rows(y, x.shape))
