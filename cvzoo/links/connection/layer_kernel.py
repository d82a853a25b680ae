"""Kernels that replace the computation of a layer."""

import abc
from typing import TYPE_CHECKING

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from cvzoo.links.connection.convolution_2d import Convolution2D
    from cvzoo.links.connection.fused_convolution import BatchNorm
    from cvzoo.links.connection.linear import Linear


class AbstractLayerKernel(abc.ABC):
    """Computes a layer whose attribute `kernel` it is; `quantize` sets it."""

    @abc.abstractmethod
    def convolve(
        self,
        conv: "Convolution2D",
        norm: "BatchNorm | None",
        x: Variable | Array,
        *,
        add: Variable | Array | None = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
    ) -> Variable:
        """activation(norm(conv(x)) + add) of a Convolution2D; norm: a batch normalization or None."""

    @abc.abstractmethod
    def multiply(self, linear: "Linear", x: Variable | Array, n_batch_axes: int) -> Variable:
        """linear(x) of a Linear."""

    @abc.abstractmethod
    def multiply_rows(
        self,
        linear: "Linear",
        x: Variable | Array,
        *,
        b: Variable | Array | None = None,
        with_gelu: bool = False,
        scale: Parameter | None = None,
        add: Variable | Array | None = None,
    ) -> Variable:
        """gelu(linear(x)) * scale + add of a Linear, for each row of x, as in `fused_linear`."""
