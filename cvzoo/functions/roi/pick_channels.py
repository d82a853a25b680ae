"""One place of each channel picked out of rows, and its transpose."""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class PickChannels(FunctionNode):
    """x (B, C, H, W) to (R, C, OH, OW): of each channel the pixel that an index names.

    places: (R, OH, OW, C), B * H * W pixels counted row by row; -1 gives 0. They do not change.
    """

    def __init__(self, places: np.ndarray):
        self.places = places

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.map_shape = x.shape
        rows = backend_of(x).channels_last(x).transpose(0, 2, 3, 1).reshape(-1, x.shape[1])
        y = np.take_along_axis(rows, np.maximum(self.places, 0).reshape(-1, x.shape[1]), 0)
        y = np.where(self.places < 0, 0, y.reshape(self.places.shape))
        return (y.astype(x.dtype, copy=False).transpose(0, 3, 1, 2),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return PickChannelsGrad(self.map_shape, self.places).apply(gys)


class PickChannelsGrad(FunctionNode):
    """gy (R, C, OH, OW) to gx (B, C, H, W), in one order, so that sums are the same bits in every run."""

    in_float32 = True

    def __init__(self, map_shape: tuple[int, ...], places: np.ndarray):
        self.map_shape = map_shape
        self.places = places

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        c = self.map_shape[1]
        gx = backend_of(gy).zeros(self.map_shape, gy.dtype)
        if gy.size:
            kept = self.places >= 0
            flat = (self.places * c + np.arange(c))[kept]
            sums = np.bincount(flat, weights=gy.transpose(0, 2, 3, 1)[kept], minlength=gx.size)
            gx.transpose(0, 2, 3, 1).reshape(-1)[:] = sums
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return PickChannels(self.places).apply(gys)
