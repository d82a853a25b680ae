"""int8 kernels of layers."""

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import GraphError, ValueRangeError
from cvzoo.functions.connection.byte_variable import Counting, rearranged
from cvzoo.functions.connection.fewer_bits import int8_convolution_2d, int8_linear
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import BatchNorm, factors_of
from cvzoo.links.connection.fused_linear import factors_of_rows, map_as_rows, rows_as_map
from cvzoo.links.connection.layer_kernel import AbstractLayerKernel
from cvzoo.links.connection.linear import Linear
from cvzoo.typing.aliases import Array

_LAST_BITS = np.uint32(0x7F)


def weight_bytes(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W (O, ...) quantized to int8, and the quantization step of each filter (O,) float32; symmetric, 0 is exact.

    The largest value of a filter is 127 steps. Steps have 17 significant bits, so that `float_weights` is exact, and
    its result is quantized to the same values and steps again.
    Raises ValueRangeError if W is not finite.
    """
    steps = (np.abs(W).reshape(len(W), -1).max(axis=1, initial=0) / np.float32(127)).astype(np.float32)
    if not np.isfinite(steps).all():
        raise ValueRangeError("weights that are not finite cannot be quantized")
    bits = np.ascontiguousarray(steps).view(np.uint32)
    steps = ((bits + _LAST_BITS) & ~_LAST_BITS).view(np.float32)
    steps = np.where(steps > 0, steps, np.float32(1))
    return np.rint(W / _beside(steps, W.ndim)).astype(np.int8), steps


def float_weights(filters: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Dequantized weights, float32."""
    return filters.astype(np.float32) * _beside(steps, filters.ndim)


def _beside(steps: np.ndarray, ndim: int) -> np.ndarray:
    return steps.reshape(-1, *[1] * (ndim - 1))


_KEY = "int8"


class Int8Kernel(AbstractLayerKernel):
    """A convolution or a linear layer in int8.

    counting: quantization parameters of its inputs
    out_counting: those of its outputs; None: its outputs are float32
    """

    def __init__(self, counting: Counting, out_counting: Counting | None = None):
        self.counting = counting
        self.out_counting = out_counting

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
        factor, b, pack = factors_of(conv, norm)
        filters, scale = self._bytes_of(plain_array(conv.W), factor, pack)
        return int8_convolution_2d(
            x,
            filters,
            scale,
            None if b is None else plain_array(b),
            conv.stride,
            conv.pad,
            counting=self.counting,
            dilate=conv.dilate,
            groups=conv.groups,
            add=add,
            activation=activation,
            alpha=alpha,
            beta=beta,
            out_counting=self.out_counting,
            pack=pack,
        )

    def multiply(self, linear: Linear, x: Variable | Array, n_batch_axes: int) -> Variable:
        """As AbstractLayerKernel says. Raises GraphError where gradients are being taken."""
        refuse_gradients()
        pack = linear.W.packs()
        W, scale = self._bytes_of(plain_array(linear.W), None, pack)
        b = None if linear.b is None else plain_array(linear.b)
        return int8_linear(x, W, scale, b, n_batch_axes, counting=self.counting, pack=pack)

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
        factor, own, pack = factors_of_rows(linear, scale)
        filters, counts = self._bytes_of(plain_array(linear.W)[:, :, None, None], factor, pack)
        b = own if b is None else b
        y = int8_convolution_2d(
            rearranged(x, rows_as_map),
            filters,
            counts,
            None if b is None else plain_array(b),
            counting=self.counting,
            add=None if add is None else rearranged(add, rows_as_map),
            activation="gelu_erf" if with_gelu else None,
            out_counting=self.out_counting,
            pack=pack,
        )
        return rearranged(y, lambda y: map_as_rows(y, x.shape))

    def _bytes_of(
        self, W: np.ndarray, factor: np.ndarray | None, pack: PreparedWeights | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """W as int8, and the step of the products of inputs and each filter (or row), cached in `pack`."""
        cached = None if pack is None else pack.made.get(_KEY)
        if cached is None or cached[2] != self.counting.scale:
            filters, steps = weight_bytes(W)
            counts = steps * np.float64(self.counting.scale)
            counts = (counts if factor is None else counts * factor).astype(np.float32)
            cached = (filters, counts, self.counting.scale)
            if pack is not None:
                pack.made[_KEY] = cached
        return cached[:2]


def refuse_gradients() -> None:
    """Raises GraphError where gradients are being taken."""
    if switches.enable_backprop:
        raise GraphError(
            "a quantized model cannot be trained: it has no gradients",
            hint="train the float32 model and quantize that; for inference: with cvzoo.no_backprop_mode(): ...",
        )


def plain_array(value: Variable | Array) -> np.ndarray:
    """The array of a parameter, or the array itself."""
    # not `.array`, whose read discards a parameter's prepared weights
    return value._array if isinstance(value, Variable) else value
