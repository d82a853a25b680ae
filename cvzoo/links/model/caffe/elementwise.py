"""Caffe's elementwise layers, Softmax and Dropout, as links."""

import functools
from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.functions.activation.relu import leaky_relu, relu
from cvzoo.functions.activation.sigmoid import elu, sigmoid, tanh
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.math.arithmetic import absolute
from cvzoo.functions.noise.dropout import dropout
from cvzoo.links.connection.prelu import PReLU
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer


class Elementwise(Link):
    """A function of one array as a link without parameters."""

    def __init__(self, function: Callable[[Variable | Array], Variable]):
        self.function = function

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape."""
        return self.function(x)

    def describe(self) -> str:
        if isinstance(self.function, functools.partial):
            settings = ", ".join(f"{name}={value}" for name, value in self.function.keywords.items())
            return f"{self.function.func.__name__}, {settings}"
        return self.function.__name__


def make_relu(layer: CaffeLayer) -> Elementwise:
    """ReLU, or leaky ReLU with a negative_slope."""
    slope = layer.params.get("relu_param", {}).get("negative_slope", 0)
    return Elementwise(functools.partial(leaky_relu, slope=slope) if slope else relu)


def make_prelu(layer: CaffeLayer) -> PReLU:
    """PReLU with a slope for each channel, or a shared one."""
    is_shared = layer.params.get("prelu_param", {}).get("channel_shared", False)
    if not layer.blobs:
        raise UnsupportedError(f"{layer}: needs blobs", hint="give the caffemodel")
    slope = layer.blobs[0].reshape(()) if is_shared else layer.blobs[0].reshape(-1)
    return PReLU(slope.shape, slope if slope.ndim else float(slope))


def make_sigmoid(layer: CaffeLayer) -> Elementwise:
    """1 / (1 + exp(-x))."""
    return Elementwise(sigmoid)


def make_tanh(layer: CaffeLayer) -> Elementwise:
    """tanh(x)."""
    return Elementwise(tanh)


def make_elu(layer: CaffeLayer) -> Elementwise:
    """x where x > 0, else alpha * (exp(x) - 1)."""
    return Elementwise(functools.partial(elu, alpha=layer.params.get("elu_param", {}).get("alpha", 1.0)))


def make_absolute(layer: CaffeLayer) -> Elementwise:
    """|x|."""
    return Elementwise(absolute)


def make_softmax(layer: CaffeLayer) -> Elementwise:
    """Softmax along an axis, by default 1."""
    return Elementwise(functools.partial(softmax, axis=layer.params.get("softmax_param", {}).get("axis", 1)))


def make_dropout(layer: CaffeLayer) -> Elementwise:
    """Dropout, with scaling in training; x itself in inference."""
    ratio = layer.params.get("dropout_param", {}).get("dropout_ratio", 0.5)
    return Elementwise(functools.partial(dropout, ratio=ratio))


class Power(Link):
    """(shift + scale * x) ** power."""

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("power_param", {})
        self.power = params.get("power", 1.0)
        self.scale = params.get("scale", 1.0)
        self.shift = params.get("shift", 0.0)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape."""
        y = as_variable(x)
        if self.power == 0 or self.scale == 0:  # as in Caffe: avoids 0 ** negative, and has no gradient
            value = 1.0 if self.power == 0 else self.shift**self.power
            return as_variable(np.full(y.shape, value, y.dtype))
        if self.scale != 1:
            y = y * self.scale
        if self.shift:
            y = y + self.shift
        return y if self.power == 1 else y**self.power

    def describe(self) -> str:
        return f"power={self.power}, scale={self.scale}, shift={self.shift}"
