"""Kernels that replace the computation of a layer."""

import abc
from typing import Any

from cvzoo.autodiff.variable import Variable


class AbstractLayerKernel(abc.ABC):
    """Computes a layer whose attribute `kernel` it is; `quantize` sets it."""

    @abc.abstractmethod
    def convolve(
        self,
        conv: Any,
        norm: Any,
        x: Any,
        *,
        add: Any = None,
        activation: str | None = None,
        alpha: float = 0.0,
        beta: float = 0.0,
    ) -> Variable:
        """activation(norm(conv(x)) + add) of a Convolution2D; norm: a batch normalization or None."""

    @abc.abstractmethod
    def multiply(self, linear: Any, x: Any, n_batch_axes: int) -> Variable:
        """linear(x) of a Linear."""

    @abc.abstractmethod
    def multiply_rows(
        self, linear: Any, x: Any, *, b: Any = None, with_gelu: bool = False, scale: Any = None, add: Any = None
    ) -> Variable:
        """gelu(linear(x)) * scale + add of a Linear, for each row of x, as in `fused_linear`."""
