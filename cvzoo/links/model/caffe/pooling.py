"""Caffe's Pooling."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError
from cvzoo.functions.pooling.average_pooling_2d import average_pooling_2d
from cvzoo.functions.pooling.max_pooling_2d import max_pooling_2d
from cvzoo.links.link import Link
from cvzoo.links.model.caffe.window_fields import window_field
from cvzoo.weights.formats.caffe.net import CaffeLayer


def pooled_size(size: int, ksize: int, stride: int, pad: int, *, ceil: bool) -> int:
    """How many windows Caffe lays along one axis.

    ceil: round up, so that no pixel is left over; a last window that would begin in the padding at the end is dropped
    Source: Caffe's PoolingLayer::Reshape (facts). Where we differ: without padding Caffe keeps a window that begins
    behind the last pixel (where the stride is larger than the window), whose value is undefined; we drop that too.
    """
    room = size + 2 * pad - ksize
    n = (-(-room // stride) if ceil else room // stride) + 1
    return n - 1 if (n - 1) * stride >= size + pad else n


class Pooling(Link):
    """The maximum or the mean of each window, with Caffe's rules of sizes.

    The mean divides by the pixels of the window that lie in the photo or in its declared padding, not by those beyond
    that rounding up makes a window reach.
    """

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("pooling_param", {})
        self.label = str(layer)
        self.method = params.get("pool", "MAX")
        self.ceil = params.get("round_mode", "CEIL") == "CEIL"
        self.is_global = params.get("global_pooling", False)
        if self.method not in ("MAX", "AVE"):
            raise UnsupportedError(f"{layer}: pool {self.method}", expected="MAX or AVE")
        if not self.is_global:
            self.ksize = window_field(params, "kernel_size", None, owner=layer)
        self.stride = window_field(params, "stride", 1, owner=layer)
        self.pad = window_field(params, "pad", 0, owner=layer)
        if not self.is_global and (self.pad[0] >= self.ksize[0] or self.pad[1] >= self.ksize[1]):
            raise UnsupportedError(f"{layer}: pad must be smaller than the window", got=f"{self.pad}, {self.ksize}")

    def forward(self, x: Any) -> Variable:
        """(B, C, OH, OW) of x (B, C, H, W); (B, C, 1, 1) if it is global."""
        x = as_variable(x)
        if x.ndim != 4:
            raise ShapeError(f"{self.label}: the input must be 4-D", expected="(B, C, H, W)", got=x.shape)
        size = x.shape[2:]
        if self.is_global:
            ksize, stride, pads = size, (1, 1), (0, 0, 0, 0)
        else:
            ksize, stride, pad = self.ksize, self.stride, self.pad
            n = [pooled_size(size[i], ksize[i], stride[i], pad[i], ceil=self.ceil) for i in (0, 1)]
            if min(n) < 1:
                raise ShapeError(f"{self.label}: the window does not fit", expected=f"at least {ksize}", got=size)
            # the padding at the end that gives exactly n windows
            end = [max((n[i] - 1) * stride[i] + ksize[i] - size[i] - pad[i], 0) for i in (0, 1)]
            pads = (pad[0], end[0], pad[1], end[1])
        if self.method == "MAX":
            return max_pooling_2d(x, ksize, stride, pads, cover_all=False)
        y = average_pooling_2d(x, ksize, stride, pads, count_pad=True)
        if self.is_global:
            return y
        factor = self._factor(size, n)
        return y if factor is None else y * factor.astype(x.dtype)

    def _factor(self, size: tuple[int, int], n: list[int]) -> np.ndarray | None:
        """(1, 1, OH, OW): the whole window's pixels by those that count; None if all count everywhere."""
        counts = []
        for i in (0, 1):
            start = np.arange(n[i]) * self.stride[i] - self.pad[i]
            counts.append(np.minimum(start + self.ksize[i], size[i] + self.pad[i]) - start)
        whole = self.ksize[0] * self.ksize[1]
        count = counts[0][:, None] * counts[1]
        return None if (count == whole).all() else (whole / count)[None, None]

    def describe(self) -> str:
        if self.is_global:
            return f"{self.method}, global"
        return f"{self.method}, ksize={self.ksize}, stride={self.stride}, pad={self.pad}"
