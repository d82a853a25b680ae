"""Caffe's layers with sliding windows, convolution, deconvolution and pooling, and InnerProduct."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, WeightsMismatchError
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d, max_pooling_2d
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer

Pair = tuple[int, int]


def window_field(params: Mapping[str, Any], name: str, default: int | None, *, owner: object) -> Pair:
    """(rows, columns) of the field `name`, or of `<name>_h` and `<name>_w` (`kernel_h` for "kernel_size").

    owner: the layer, for errors
    Raises UnsupportedError if it is not given and has no default, or has more than two sides.
    """
    short = name.removesuffix("_size")
    if f"{short}_h" in params or f"{short}_w" in params:
        # Caffe requires both; its own reader takes a missing side for 0, and a kernel of 0 is refused below
        sides: list[Any] = [params.get(f"{short}_h", default), params.get(f"{short}_w", default)]
    else:
        value = params.get(name, [])
        sides = list(value) if isinstance(value, list) else [value]
        sides = sides * 2 if len(sides) == 1 else sides or [default] * 2
    if len(sides) != 2 or None in sides:
        raise UnsupportedError(f"{owner}: {name} must be one number or two", got=params.get(name))
    if name != "pad" and min(sides) < 1:
        raise UnsupportedError(f"{owner}: {name} must be positive", got=tuple(sides))
    return int(sides[0]), int(sides[1])


_MOST = 1 << 24  # limit of values per layer, since a damaged file could exhaust memory


def _bias(layer: CaffeLayer, n: int, has_bias: bool) -> np.ndarray | None:
    if not has_bias or len(layer.blobs) < 2:
        return None
    if layer.blobs[1].size != n:
        raise WeightsMismatchError(f"{layer}: its bias", expected=f"{n} numbers", got=layer.blobs[1].shape)
    return layer.blobs[1].reshape(n)


def _num_output(layer: CaffeLayer, params: dict[str, Any]) -> int:
    n_out = params.get("num_output", 0)
    if not 1 <= n_out <= _MOST:
        raise UnsupportedError(f"{layer}: num_output is out of range", expected=f"1 .. {_MOST}", got=n_out)
    return n_out


def _settings(layer: CaffeLayer) -> dict[str, Any]:
    params = layer.params.get("convolution_param", {})
    if params.get("axis", 1) != 1:
        raise UnsupportedError(f"{layer}: channels must be axis 1", got=params["axis"])
    if params.get("group", 1) < 1:
        raise UnsupportedError(f"{layer}: group must be positive", got=params["group"])
    return {
        "ksize": window_field(params, "kernel_size", None, owner=layer),
        "stride": window_field(params, "stride", 1, owner=layer),
        "pad": window_field(params, "pad", 0, owner=layer),
        "dilate": window_field(params, "dilation", 1, owner=layer),
        "groups": params.get("group", 1),
        "nobias": not params.get("bias_term", True),
    }


def _check(layer: CaffeLayer, ksize: Sequence[int], channels: int, axis: int) -> None:
    W = layer.blobs[0]
    if W.ndim != 4 or W.shape[2:] != tuple(ksize) or W.shape[axis] != channels:
        raise WeightsMismatchError(
            f"{layer}: its weights do not fit its description",
            expected=f"{channels} in axis {axis} and a window of {tuple(ksize)}",
            got=W.shape,
        )


def make_convolution(layer: CaffeLayer) -> Convolution2D:
    """The link, initialized at the first input without blobs. Raises WeightsMismatchError if they do not match."""
    settings = _settings(layer)
    n_out = _num_output(layer, layer.params.get("convolution_param", {}))
    if not layer.blobs:
        return Convolution2D(None, n_out, **settings)
    _check(layer, settings["ksize"], n_out, 0)
    W = layer.blobs[0]
    n_in = W.shape[1] * settings["groups"]
    return Convolution2D(n_in, n_out, initialW=W, initial_bias=_bias(layer, n_out, not settings["nobias"]), **settings)


def make_deconvolution(layer: CaffeLayer) -> Deconvolution2D:
    """The link; its weights are (in, out / group, KH, KW), as Caffe's are."""
    settings = _settings(layer)
    n_out = _num_output(layer, layer.params.get("convolution_param", {}))
    if not layer.blobs:
        return Deconvolution2D(None, n_out, **settings)
    _check(layer, settings["ksize"], n_out // settings["groups"], 1)
    W = layer.blobs[0]
    bias = _bias(layer, n_out, not settings["nobias"])
    return Deconvolution2D(W.shape[0], n_out, initialW=W, initial_bias=bias, **settings)


def make_inner_product(layer: CaffeLayer) -> "Linear | InnerProduct":
    """The link; weights stored transposed, or with four axes as before 2014, are converted to (out, in)."""
    params = layer.params.get("inner_product_param", {})
    n_out = _num_output(layer, params)
    W = bias = None
    if layer.blobs:
        W = layer.blobs[0]
        W = W.reshape(*W.shape[-2:]) if W.ndim == 4 else W
        W = W.T if params.get("transpose", False) else W
        if W.ndim != 2 or W.shape[0] != n_out:
            raise WeightsMismatchError(f"{layer}: its weights", expected=f"({n_out}, n)", got=layer.blobs[0].shape)
        bias = _bias(layer, n_out, params.get("bias_term", True))
    n_in = None if W is None else W.shape[1]
    linear = Linear(n_in, n_out, not params.get("bias_term", True), initialW=W, initial_bias=bias)
    axis = params.get("axis", 1)
    return linear if axis == 1 else InnerProduct(linear, axis)


class InnerProduct(Chain):
    """A Linear that flattens all axes from `axis` on, where this is not the second."""

    def __init__(self, linear: Linear, axis: int):
        self.axis = axis
        with self.init_scope():
            self.linear = linear

    def forward(self, x: Variable | Array) -> Variable:
        """(..., out) of x."""
        x = as_variable(x)
        return self.linear(x, n_batch_axes=self.axis + x.ndim if self.axis < 0 else self.axis)


def pooled_size(size: int, ksize: int, stride: int, pad: int, *, ceil: bool) -> int:
    """The output size of Caffe's pooling along one axis.

    ceil: round up, so that every pixel is covered; a last window that would begin in the padding at the end is dropped
    Source: Caffe's PoolingLayer::Reshape (facts). Where we differ: without padding Caffe keeps a window that begins
    after the last pixel (if the stride exceeds the window), whose value is undefined; we drop that, too.
    """
    room = size + 2 * pad - ksize
    n = (-(-room // stride) if ceil else room // stride) + 1
    return n - 1 if (n - 1) * stride >= size + pad else n


class Pooling(Link):
    """Max or average pooling with Caffe's output sizes.

    The average divides by the pixels of the window within the image or its declared padding, without those beyond,
    which rounding up makes a window cover.
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

    def forward(self, x: Variable | Array) -> Variable:
        """(B, C, OH, OW) of x (B, C, H, W); (B, C, 1, 1) for global pooling."""
        x = as_variable(x)
        if x.ndim != 4:
            raise ShapeError(f"{self.label}: the input must be 4-D", expected="(B, C, H, W)", got=x.shape)
        size = x.shape[2:]
        if self.is_global:
            ksize, stride, pads, n = size, (1, 1), (0, 0, 0, 0), [1, 1]
        else:
            ksize, stride, pad = self.ksize, self.stride, self.pad
            n = [pooled_size(size[i], ksize[i], stride[i], pad[i], ceil=self.ceil) for i in (0, 1)]
            if min(n) < 1:
                raise ShapeError(f"{self.label}: the window does not fit", expected=f"at least {ksize}", got=size)
            # padding at the end for exactly n windows
            end = [max((n[i] - 1) * stride[i] + ksize[i] - size[i] - pad[i], 0) for i in (0, 1)]
            pads = (pad[0], end[0], pad[1], end[1])
        if self.method == "MAX":
            return max_pooling_2d(x, ksize, stride, pads, cover_all=False)
        y = average_pooling_2d(x, ksize, stride, pads, count_pad=True)
        if self.is_global:
            return y
        factor = self._factor((size[0], size[1]), n)
        return y if factor is None else y * factor.astype(x.dtype)

    def _factor(self, size: tuple[int, int], n: list[int]) -> np.ndarray | None:
        """(1, 1, OH, OW): the window's number of pixels divided by that of counted ones; None if all are counted."""
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
