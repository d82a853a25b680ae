"""Kernels for calibration: they compute in float32 and record ranges and quantization errors."""

from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.connection.byte_variable import Counting
from cvzoo.functions.connection.linear import linear as linear_function
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import BatchNorm, float_convolution
from cvzoo.links.connection.fused_linear import float_rows
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.connection.linear import Linear
from cvzoo.links.quantization.flow import Flow
from cvzoo.typing.aliases import Array

_BINS = 2048  # of the histogram of a layer's inputs
_SAMPLE = 1 << 16  # values of an array in the histogram; the range is that of all


class ValueRange:
    """The minimum, the maximum and a histogram of the magnitudes of observed values.

    For the histogram, large arrays are subsampled at a constant step.
    """

    def __init__(self) -> None:
        self.low = self.high = 0.0
        self.has_values = False
        self._top = 0.0
        self._counts = np.zeros(_BINS)
        self._n_zero = 0

    def add(self, x: np.ndarray) -> None:
        """Observe the values of x. Raises ValueRangeError if they are not finite."""
        if not x.size:
            return
        low, high = float(x.min()), float(x.max())
        if not np.isfinite([low, high]).all():
            raise ValueRangeError("quantize: a layer reads values that are not finite", got=f"{low} to {high}")
        self.has_values = True
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._widen(max(high, -low))
        flat = x.ravel(order="K")
        step = -(-flat.size // _SAMPLE) | 1  # odd, so that all channels are sampled
        values = np.abs(flat[::step])
        values = values[values > 0]
        self._n_zero += -(-flat.size // step) - values.size
        if values.size:
            places = np.minimum((values * (_BINS / self._top)).astype(np.int64), _BINS - 1)
            self._counts += np.bincount(places, minlength=_BINS)

    def _widen(self, largest: float) -> None:
        if self._top == 0:
            self._top = 2.0 ** np.ceil(np.log2(largest)) if largest > 0 else 0.0
            return
        while self._top < largest:
            self._counts = np.concatenate([self._counts.reshape(-1, 2).sum(axis=1), np.zeros(_BINS // 2)])
            self._top *= 2

    def counting(self, method: str, percentile: float) -> Counting:
        """The quantization parameters; unsigned if no value is negative.

        method: clipping range: "minmax": no clipping; "percentile": that percentile of the magnitudes; "mse": the range
            with the least mean squared error of rounding and clipping
        """
        signed = self.low < 0
        steps = 127 if signed else 255
        largest = max(self.high, -self.low)
        if largest == 0:
            return Counting(1.0, signed)
        cut = largest
        if method == "percentile":
            cut = self._below(percentile / 100)
        elif method == "mse":
            cut = self._least_loss(steps)
        return Counting(float(np.float32(min(cut, largest) / steps)), signed)

    def _below(self, share: float) -> float:
        counts = np.cumsum(self._counts) + self._n_zero
        place = int(np.searchsorted(counts, share * counts[-1]))
        return (place + 1) * self._top / _BINS

    def _least_loss(self, steps: int) -> float:
        """The range with the least error: a twelfth of a squared step for rounding, the squared excess for clipping."""
        width = self._top / _BINS
        cuts = (np.arange(_BINS) + 1) * width
        centres = cuts - width / 2
        above = [np.cumsum((self._counts * centres**k)[::-1])[::-1] for k in (0, 1, 2)]
        n, s, q = (np.append(each, 0)[1:] for each in above)  # of the values above each candidate
        loss = (self._counts.sum() - n) * (cuts / steps) ** 2 / 12 + q - 2 * cuts * s + cuts**2 * n
        return float(cuts[np.argmin(loss)])


class Calibration(AbstractLayerKernel):
    """Computes in float32 and records the ranges of inputs and outputs.

    name: the layer's path
    flow: records the data flow

    """

    def __init__(self, name: str, flow: Flow):
        self.name = name
        self.flow = flow
        self.range = ValueRange()
        self.out_range = ValueRange()

    def _enter(self, x: Variable | Array) -> None:
        self.range.add(as_array(x))
        self.flow.enter(self.name, x)

    def _leave(self, add: Variable | Array | None, y: Variable) -> Variable:
        self.flow.leave(self.name, add, y)
        self.out_range.add(y._array)
        return y

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
        """As AbstractLayerKernel says."""
        self._enter(x)
        return self._leave(
            add, float_convolution(conv, norm)(x, add=add, activation=activation, alpha=alpha, beta=beta)
        )

    def multiply(self, linear: Linear, x: Variable | Array, n_batch_axes: int) -> Variable:
        """As AbstractLayerKernel says."""
        self._enter(x)
        return self._leave(None, linear_function(x, linear.W, linear.b, n_batch_axes=n_batch_axes))

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
        """As AbstractLayerKernel says."""
        self._enter(x)
        return self._leave(add, float_rows(linear, x, b=b, with_gelu=with_gelu, scale=scale, add=add))


class Comparison(AbstractLayerKernel):
    """Computes in float32, and measures the error of `kernel` for the same inputs, before sums and activations.

    kernel: of lower precision
    """

    def __init__(self, kernel: AbstractLayerKernel):
        self.kernel = kernel
        self.was_called = False
        self._lost = self._there = 0.0
        self._means: dict[int, _Mean] = {}

    @property
    def error(self) -> float:
        """The relative error (root mean squares) that remains after `correct`."""
        left = self._lost - sum(each.square() for each in self._means.values())
        return float(np.sqrt(max(left, 0.0) / self._there)) if self._there else 0.0

    def correct(self) -> None:
        """Bias correction: subtract each channel's mean error in the layer's bias, or in that of its normalization.

        Source: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, ICCV 2019,
        section 4.2, with means of real inputs.
        """
        for each in self._means.values():
            bias = each.bias.array if isinstance(each.bias, Variable) else each.bias
            bias += (each.sum / each.n).astype(bias.dtype)

    def _compare(self, y: np.ndarray, other: np.ndarray, axis: int, bias: Variable | Array | None) -> None:
        """Observe y and the low-precision result. axis: of channels; bias: (O,) that is added to y, or None"""
        self.was_called = True
        lost = np.subtract(y, other, dtype=np.float64)
        self._there += float(np.square(y, dtype=np.float64).sum())
        self._lost += float(np.square(lost).sum())
        if bias is not None:
            rows = np.moveaxis(lost, axis, -1).reshape(-1, y.shape[axis])
            _, total, n = self._means.get(id(bias), (None, 0.0, 0))
            self._means[id(bias)] = _Mean(bias, total + rows.sum(axis=0), n + len(rows))

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
        """As AbstractLayerKernel says."""
        y = float_convolution(conv, norm)(x)
        bias = conv.b if norm is None else norm.beta
        self._compare(y.array, self.kernel.convolve(conv, norm, x).array, 1, bias)
        return float_convolution(conv, norm)(x, add=add, activation=activation, alpha=alpha, beta=beta)

    def multiply(self, linear: Linear, x: Variable | Array, n_batch_axes: int) -> Variable:
        """As AbstractLayerKernel says."""
        y = linear_function(x, linear.W, linear.b, n_batch_axes=n_batch_axes)
        self._compare(y.array, self.kernel.multiply(linear, x, n_batch_axes).array, -1, linear.b)
        return y

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
        """As AbstractLayerKernel says."""
        y = float_rows(linear, x, b=b, scale=scale)
        bias = linear.b if b is None and scale is None else None  # of this layer only, and unscaled
        self._compare(y.array, self.kernel.multiply_rows(linear, x, b=b, scale=scale).array, -1, bias)
        return float_rows(linear, x, b=b, with_gelu=with_gelu, scale=scale, add=add)


class _Mean(NamedTuple):
    """The sum (O,) float64 of the errors of n values per channel, and the bias (O,) to correct."""

    bias: Variable | Array
    sum: np.ndarray
    n: int

    def square(self) -> float:
        """The reduction of the sum of squared errors by the correction."""
        return float(np.square(self.sum).sum() / self.n)
