"""SINGA's `autograd`: differentiable functions, and `training`.

training: whether the graph is recorded for `backward`, and dropout and batch normalization are in training mode; False
    by default. A model sets it by its `train()`, `eval()` and `compile()`.
"""

import sys
import types

from cvzoo.singa.backward import backward, gradients
from cvzoo.singa.layers.affine import Linear
from cvzoo.singa.layers.batch_norm import BatchNorm2d
from cvzoo.singa.layers.convolution import Conv2d, SeparableConv2d
from cvzoo.singa.layers.pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d, Pooling2d
from cvzoo.singa.layers.recurrent import LSTM, RNN
from cvzoo.singa.mode import is_training, set_training
from cvzoo.singa.operators.arrays import (
    cast,
    cat,
    cossim,
    embedding,
    flatten,
    gather,
    gemm,
    globalaveragepool,
    matmul,
    reduce_mean,
    reduce_sum,
    reshape,
    slice,
    split,
    squeeze,
    tile,
    transpose,
    unsqueeze,
    where,
)
from cvzoo.singa.operators.elementwise import (
    abs,
    acos,
    acosh,
    add,
    add_all,
    add_bias,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    clip,
    cos,
    cosh,
    div,
    dropout,
    elu,
    equal,
    erf,
    exp,
    floor,
    gelu,
    greater,
    hardsigmoid,
    identity,
    leakyrelu,
    less,
    log,
    max,
    mean,
    min,
    mul,
    negative,
    pow,
    prelu,
    reciprocal,
    relu,
    round,
    selu,
    sigmoid,
    sign,
    sin,
    sinh,
    softmax,
    softplus,
    softsign,
    sqrt,
    sub,
    sum,
    tan,
    tanh,
)
from cvzoo.singa.operators.losses import (
    binary_cross_entropy,
    cross_entropy,
    mse_loss,
    ranking_loss,
    softmax_cross_entropy,
)


class _Autograd(types.ModuleType):
    """The module's class, whose property `training` reacts to the assignment `autograd.training = True`."""

    @property
    def training(self) -> bool:
        """Whether training mode is on."""
        return is_training()

    @training.setter
    def training(self, value: bool) -> None:
        set_training(value)


sys.modules[__name__].__class__ = _Autograd

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_all",
    "add_bias",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "AvgPool1d",
    "AvgPool2d",
    "backward",
    "BatchNorm2d",
    "binary_cross_entropy",
    "cast",
    "cat",
    "ceil",
    "clip",
    "Conv2d",
    "cos",
    "cosh",
    "cossim",
    "cross_entropy",
    "div",
    "dropout",
    "elu",
    "embedding",
    "equal",
    "erf",
    "exp",
    "flatten",
    "floor",
    "gather",
    "gelu",
    "gemm",
    "globalaveragepool",
    "gradients",
    "greater",
    "hardsigmoid",
    "identity",
    "leakyrelu",
    "less",
    "Linear",
    "log",
    "LSTM",
    "matmul",
    "max",
    "MaxPool1d",
    "MaxPool2d",
    "mean",
    "min",
    "mse_loss",
    "mul",
    "negative",
    "Pooling2d",
    "pow",
    "prelu",
    "ranking_loss",
    "reciprocal",
    "reduce_mean",
    "reduce_sum",
    "relu",
    "reshape",
    "RNN",
    "round",
    "selu",
    "SeparableConv2d",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slice",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "split",
    "sqrt",
    "squeeze",
    "sub",
    "sum",
    "tan",
    "tanh",
    "tile",
    "transpose",
    "unsqueeze",
    "where",
]
