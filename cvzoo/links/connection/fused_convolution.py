"""A convolution layer, its batch normalization, a sum and an activation as one kernel, where nothing is learned."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import array_module
from cvzoo.functions.connection.fused_convolution_2d import fused_convolution_2d
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.unchanged import is_unchanged, snapshot


def fused_convolution(
    conv: Convolution2D,
    x: Any,
    *,
    norm: Any = None,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Variable:
    """activation(norm(conv(x)) + add), by the layer's own kernel if it has one (see `quantize`).

    conv: whose W has a value
    x: (B, in_channels, H, W)
    norm: a batch normalization with fixed statistics, or None
    add, activation, alpha, beta: as in `fused_convolution_2d`
    """
    run = float_convolution if conv.kernel is None else conv.kernel.convolve
    return run(conv, norm, x, add=add, activation=activation, alpha=alpha, beta=beta)


def float_convolution(
    conv: Convolution2D,
    norm: Any,
    x: Any,
    *,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Variable:
    """The same in float32, whatever kernel the layer has."""
    W, b, pack = filters_of(conv, norm)
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


def filters_of(conv: Convolution2D, norm: Any) -> tuple[Any, Any, dict | None]:
    """W (O, C / groups, KH, KW) and b (O,) or None of norm(conv(x)), and where copies of that W may be kept.

    The product of filters and scales is kept beside the filters, and made anew when they or the statistics change.
    """
    if norm is None:
        return conv.W, conv.b, conv.W.packs()
    return _kept(conv, norm, "folded", _product)


def factors_of(conv: Convolution2D, norm: Any) -> tuple[np.ndarray | None, Any, dict | None]:
    """factor (O,) float64 or None and b (O,) or None, so that norm(conv(x)) is factor * (W * x) + b; and where copies
    of W that know the factors may be kept.
    """
    return (None, conv.b, conv.W.packs()) if norm is None else _kept(conv, norm, "factors", _factors)


def _kept(conv: Convolution2D, norm: Any, key: str, make: Callable[[Convolution2D, Any], tuple[Any, Any]]) -> Any:
    """make(conv, norm) and a table, kept beside the filters; made anew when they or the statistics change."""
    statistics = snapshot((norm.gamma, norm.beta, norm.avg_mean, norm.avg_var))
    packs = conv.W.packs()
    name = key, id(norm)  # one convolution may have several norms
    kept = None if packs is None else packs.get(name)
    if kept is None or not is_unchanged(kept[0], statistics):
        kept = (statistics, *make(conv, norm), {})
        if packs is not None:
            packs[name] = kept
    return kept[1:]


def _factors(conv: Convolution2D, norm: Any) -> tuple[np.ndarray, np.ndarray]:
    # in float64: one rounding instead of four
    xp = array_module(norm.avg_var)
    scale = _array(norm.gamma).astype(np.float64) / xp.sqrt(norm.avg_var.astype(np.float64) + max(norm.eps, 1e-30))
    shift = 0.0 if conv.b is None else _array(conv.b).astype(np.float64)
    b = _array(norm.beta) + (shift - norm.avg_mean) * scale
    return scale, b.astype(conv.W._array.dtype)


def _product(conv: Convolution2D, norm: Any) -> tuple[np.ndarray, np.ndarray]:
    W = conv.W._array
    scale, b = _factors(conv, norm)
    return (W * scale[:, None, None, None]).astype(W.dtype), b


def _array(value: Any) -> np.ndarray:
    return value._array if isinstance(value, Variable) else value  # it is read only: copies stay
