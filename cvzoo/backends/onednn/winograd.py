"""Inference of 3x3 convolutions by Winograd's algorithm (Lavin and Gray, 2016), from our library in C."""

from typing import Literal

import numpy as np

from cvzoo.backends.interface import Dims
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import ACTIVATIONS, WinogradFiltersPlan, WinogradPlan
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.forward_convolution import Geometry, post_op_source
from cvzoo.backends.onednn.memory import as_kernels_want, new_bytes, vector
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import BIAS, DST, F32, SRC, WEIGHTS, strides_of

_TILE = 4  # a tile of results is 4x4
_FEWEST_TILES = 16  # of an image: with fewer, the transformed filters are read too seldom to pay
_FEWEST_CHANNELS = 32
_MOST_FILTER_BYTES = 64 << 20  # of the transformed filters: 4 times those of the filters
_POINTS = 36
_LAYOUT = "transformed for Winograd's algorithm"  # the name of the filters among those that are cached for a parameter
_WIDEST = 32  # the kernels for AVX-512 compute so many output channels at a time, and the others a part of it


class WinogradConvolution:
    """activation(conv(x, w) + b + add) for one case.

    shape: of the result
    after: an activation that the kernel does not have, which is computed afterwards; None: the kernel computes it
    """

    __slots__ = ("_run", "_size", "_transform", "after", "shape")

    def __init__(self, shape: Dims, size: int, transform: NativePrimitive, run: NativePrimitive, after: str | None):
        self.shape = shape
        self.after = after
        self._size = size
        self._transform = transform
        self._run = run

    def __call__(
        self,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        add: np.ndarray | None,
        y: np.ndarray,
        pack: dict | None,
    ) -> None:
        """Compute y from channels-last x."""
        arrays = [x, self._filters(w, pack), y]
        if b is not None:
            arrays.append(vector(b))
        if add is not None:
            arrays.append(as_kernels_want(np.asarray(add, F32)))
        self._run(*arrays)

    def _filters(self, w: np.ndarray, pack: dict | None) -> np.ndarray:
        """The transformed filters, from the cache `pack` if it has them."""
        transformed = None if pack is None else pack.get(_LAYOUT)
        if transformed is None:
            transformed = new_bytes(self._size)
            self._transform(w, transformed)
            if pack is not None:
                pack[_LAYOUT] = transformed
        return transformed


def suits_winograd(x_shape: Dims, w_shape: Dims, geometry: Geometry) -> bool:
    """Whether Winograd's algorithm computes this convolution in inference.

    The rule depends on the shapes of one image and of the filters only: neither the batch, the CPU nor the number
    of threads changes an image's bits.
    """
    stride, pad, dilate, groups = geometry
    o, c = w_shape[:2]
    if w_shape[2:] != (3, 3) or (stride, dilate, groups) != ((1, 1), (1, 1), 1):
        return False
    if min(c, o) < _FEWEST_CHANNELS or c % 16 or _POINTS * 4 * c * o > _MOST_FILTER_BYTES:
        return False
    height, width = out_size(x_shape[2:], (3, 3), stride, pad, dilate)
    return -(-height // _TILE) * -(-width // _TILE) >= _FEWEST_TILES


def make_winograd(
    x_shape: Dims,
    w: np.ndarray,
    has_bias: bool,
    geometry: Geometry,
    has_add: bool,
    activation: str | None,
    alpha: float,
    beta: float,
) -> WinogradConvolution | Literal[False]:
    """The convolution of one case (see `AbstractBackend.conv_2d`); False if other kernels are to compute it."""
    if native() is None or not suits_winograd(x_shape, w.shape, geometry):
        return False
    (o, c), pad = w.shape[:2], geometry[1]
    y_shape = (x_shape[0], o, *out_size(x_shape[2:], (3, 3), (1, 1), pad, (1, 1)))
    b, _, height, width = x_shape
    sizes = (b, height, width, c, o, *y_shape[2:], pad[0], pad[2])
    plan = WinogradPlan(*sizes, has_bias, has_add, ACTIVATIONS.get(activation, 0), alpha, beta)
    kinds = (SRC, WEIGHTS, DST, *((BIAS,) if has_bias else ()), *((post_op_source(0),) if has_add else ()))
    transform = NativePrimitive("reorder", "winograd_filters", WinogradFiltersPlan(o, c, *strides_of(w)), (SRC, DST))
    size = _POINTS * 4 * c * (-(-o // _WIDEST) * _WIDEST)
    run = NativePrimitive("convolution (Winograd)", "winograd", plan, kinds)
    return WinogradConvolution(y_shape, size, transform, run, None if activation in ACTIVATIONS else activation)
