"""Caffe's Convolution, Deconvolution and InnerProduct as links, with their blobs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import UnsupportedError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.caffe.window_fields import window_field
from cvzoo.weights.formats.caffe.net import CaffeLayer

_MOST = 1 << 24  # a damaged file must not ask for all memory


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
    """The link; without blobs its weights wait for the first input. Raises WeightsMismatchError if they do not fit."""
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
    """The link; weights stored transposed, or with four sizes as before 2014, are brought to (out, in)."""
    params = layer.params.get("inner_product_param", {})
    n_out = _num_output(layer, params)
    W = bias = None
    if layer.blobs:
        W = layer.blobs[0]
        W = W.reshape(W.shape[-2:]) if W.ndim == 4 else W
        W = W.T if params.get("transpose", False) else W
        if W.ndim != 2 or W.shape[0] != n_out:
            raise WeightsMismatchError(f"{layer}: its weights", expected=f"({n_out}, n)", got=layer.blobs[0].shape)
        bias = _bias(layer, n_out, params.get("bias_term", True))
    n_in = None if W is None else W.shape[1]
    linear = Linear(n_in, n_out, not params.get("bias_term", True), initialW=W, initial_bias=bias)
    axis = params.get("axis", 1)
    return linear if axis == 1 else InnerProduct(linear, axis)


class InnerProduct(Chain):
    """A Linear whose rows are all axes from `axis` on, another one than the second."""

    def __init__(self, linear: Linear, axis: int):
        self.axis = axis
        with self.init_scope():
            self.linear = linear

    def forward(self, x: Any) -> Variable:
        """(..., out) of x."""
        x = as_variable(x)
        return self.linear(x, n_batch_axes=self.axis + x.ndim if self.axis < 0 else self.axis)
