"""A convolution and the batch normalization behind it as one convolution, where nothing is learned."""

from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.functions.connection.fused_convolution_2d import fused_convolution_2d
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.frozen_batch_normalization import FrozenBatchNormalization
from cvzoo.links.link import Link

_KEY = "folded"


def can_fold(conv: Convolution2D, norm: Link) -> bool:
    """Whether `folded_convolution` may stand for norm(conv(x)) now: no gradients, and fixed statistics."""
    if switches.enable_backprop or conv.W._array is None:
        return False
    if isinstance(norm, FrozenBatchNormalization):
        return True
    return (
        isinstance(norm, BatchNormalization)
        and not switches.train
        and norm.avg_mean is not None
        and norm.gamma is not None
        and norm.beta is not None
    )


def folded_convolution(
    conv: Convolution2D,
    norm: Any,
    x: Any,
    *,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Variable:
    """activation(norm(conv(x)) + add), in one kernel.

    x: (B, in_channels, H, W)
    add, activation, alpha, beta: as in `fused_convolution_2d`

    The product of filters and scales is kept beside the filters, and made anew when they or the statistics change.
    """
    statistics = np.concatenate([_array(norm.gamma), _array(norm.beta), norm.avg_mean, norm.avg_var])
    packs = conv.W.packs()
    kept = None if packs is None else packs.get(_KEY)
    if kept is None or not np.array_equal(kept[0], statistics):
        kept = (statistics, *_product(conv, norm), {})
        if packs is not None:
            packs[_KEY] = kept
    _, W, b, pack = kept
    return fused_convolution_2d(
        x,
        W,
        b,
        conv.stride,
        conv.pad,
        dilate=conv.dilate,
        groups=conv.groups,
        add=add,
        activation=activation,
        alpha=alpha,
        beta=beta,
        pack=pack,
    )


def _product(conv: Convolution2D, norm: Any) -> tuple[np.ndarray, np.ndarray]:
    W = conv.W._array
    # in float64: one rounding instead of four
    scale = _array(norm.gamma).astype(np.float64) / np.sqrt(norm.avg_var.astype(np.float64) + max(norm.eps, 1e-30))
    shift = 0.0 if conv.b is None else _array(conv.b).astype(np.float64)
    b = _array(norm.beta) + (shift - norm.avg_mean) * scale
    return (W * scale[:, None, None, None]).astype(W.dtype), b.astype(W.dtype)


def _array(value: Any) -> np.ndarray:
    return value.array if isinstance(value, Variable) else value
