"""Convolution, sum and activation in one pass over memory: what a network computes when it does not learn."""

import functools
from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import rounded
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError
from cvzoo.functions.array.dtypes import fits_weight, for_product, rounded_weight
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, pads
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


class FusedConvolution2D(FunctionNode):
    """x, W, perhaps b and what is added, to activation(conv(x, W) + b + add). It is never part of a graph."""

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, W, *rest = inputs
        has_b, has_add = self._has
        b = rounded(rest.pop(0), x.dtype) if has_b else None
        add = rest.pop(0) if has_add else None
        W, pack = rounded_weight(W, x.dtype, self._settings.get("pack"))
        return (backend_of(x).conv_2d(x, W, b, add=add, **{**self._settings, "pack": pack}),)


@functools.lru_cache(1024, typed=True)
def _window(stride: Sizes, pad: Sizes, dilate: Sizes, groups: int) -> dict[str, Any]:
    name = "fused_convolution_2d"
    return {
        "stride": pair(stride, name="stride", function=name),
        "pad": pads(pad, function=name),
        "dilate": pair(dilate, name="dilate", function=name),
        "groups": groups,
    }


def window_settings(stride: Sizes, pad: Sizes, dilate: Sizes, groups: int) -> dict[str, Any]:
    """How the window slides, as the backends' convolutions take it."""
    plain = [tuple(v) if isinstance(v, list) else v for v in (stride, pad, dilate)]
    return _window(*plain, groups)


def fused_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    *,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: PreparedWeights | None = None,
) -> Variable:
    """activation(convolution_2d(x, W, b) + add), (B, O, OH, OW), without a gradient.

    x, W, b, stride, pad, dilate, groups: as in `convolution_2d`
    add: (B, O, OH, OW), or None
    activation, alpha, beta: "relu", or another kind of the backends' `eltwise` and its numbers; None leaves the values
    pack: a cache of reordered copies of W, which the caller clears when W changes; a Parameter has its own
    Raises GraphError where gradients are being taken, ShapeError or DtypeError if the arrays do not fit.
    """
    if switches.enable_backprop:
        raise GraphError("fused_convolution_2d has no gradient", hint="with cvzoo.no_backprop_mode(): ...")
    x, W = for_product(as_variable(x)), as_variable(W)
    if isinstance(W, Parameter) and pack is None:
        pack = W.packs()
    window = window_settings(stride, pad, dilate, groups)
    _check(x, W, b, add, window)
    extra = [as_variable(v) for v in (b, add) if v is not None]
    settings = {**window, "activation": activation, "alpha": alpha, "beta": beta, "pack": pack}
    return FusedConvolution2D(settings, b is not None, add is not None).apply((x, W, *extra))[0]


def _check(x: Variable, W: Variable, b: Any, add: Any, window: dict[str, Any]) -> None:
    x_shape, w_shape = x.shape, W.shape
    if w_shape is None or len(x_shape) != 4 or len(w_shape) != 4 or x_shape[1] != w_shape[1] * window["groups"]:
        raise ShapeError(
            "fused_convolution_2d: x and W do not fit",
            expected="x (B, C, H, W), W (O, C / groups, KH, KW)",
            got=f"x {x_shape}, W {w_shape}, groups {window['groups']}",
        )
    fits = fits_weight(x.dtype, W.dtype) and (b is None or b.dtype == W.dtype)
    if not fits or (add is not None and add.dtype != x.dtype):
        raise DtypeError("fused_convolution_2d: all arrays must have one dtype", expected=W.dtype, got=x.dtype)
    if b is not None and b.shape != w_shape[:1]:
        raise ShapeError("fused_convolution_2d: b needs one number for each filter", expected=w_shape[:1], got=b.shape)
    check_added(add, x_shape, w_shape, window, "fused_convolution_2d")


def check_added(
    add: Any, x_shape: Sequence[int], w_shape: Sequence[int], window: dict[str, Any], function: str
) -> None:
    """Raises ShapeError if the addend does not have the shape of the result, or x is smaller than a window."""
    stride, pad, dilate = window["stride"], window["pad"], window["dilate"]
    out = [
        conv_out_size(x_shape[2 + k], w_shape[2 + k], stride[k], pad[2 * k], pad[2 * k + 1], dilate[k]) for k in (0, 1)
    ]
    y_shape = (x_shape[0], w_shape[0], *out)
    if add is not None and add.shape != y_shape:
        raise ShapeError(f"{function}: the addend has the wrong shape", expected=y_shape, got=add.shape)
