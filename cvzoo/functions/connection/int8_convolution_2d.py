"""Convolution of bytes, sum and activation in one pass: what a quantized network computes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.byte_variable import ByteVariable, Counting, as_bytes
from cvzoo.functions.connection.fused_convolution_2d import Sizes, check_added, window_settings
from cvzoo.typing.aliases import Array


class Int8Convolution2D(FunctionNode):
    """Bytes x and W, scale, perhaps b and what is added, to activation(scale * conv(x, W) + b + add).

    It is never part of a graph.
    """

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, W, scale, *rest = inputs
        has_b, has_add = self._has
        b = rest.pop(0) if has_b else None
        add = rest.pop(0) if has_add else None
        return (backend_of(x).conv_2d_int8(x, W, scale, b, add=add, **self._settings),)


def int8_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    scale: Any,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    *,
    counting: Counting,
    dilate: Sizes = 1,
    groups: int = 1,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_counting: Counting | None = None,
    pack: PreparedWeights | None = None,
) -> Variable:
    """activation(scale * convolution_2d(x as bytes, W) + b + add), (B, O, OH, OW), without a gradient.

    x: (B, C, H, W) float32; counting: what its bytes mean
    W: (O, C / groups, KH, KW) int8
    scale: (O,) float32: counting.scale times what each filter counts in
    b, stride, pad, dilate, groups, add, activation, alpha, beta, pack: as in `fused_convolution_2d`; what is added as
        bytes, if it is held so
    out_counting: the result is held as bytes that mean this; None: float32
    Raises ShapeError if x and W, or what is added, do not fit.
    """
    if len(x.shape) != 4 or x.shape[1] != W.shape[1] * groups:
        raise ShapeError(
            "int8_convolution_2d: x and W do not fit",
            expected="x (B, C, H, W), W (O, C / groups, KH, KW)",
            got=f"x {x.shape}, W {W.shape}, groups {groups}",
        )
    window = window_settings(stride, pad, dilate, groups)
    check_added(add, x.shape, W.shape, window, "int8_convolution_2d")
    settings = {
        **window,
        "activation": activation,
        "alpha": alpha,
        "beta": beta,
        "pack": pack,
    }
    held = add.held() if isinstance(add, ByteVariable) else None
    if held is not None and isinstance(held[1], Counting):
        add = held[0]
        settings["add_scale"] = held[1].scale
    if out_counting is not None:
        settings |= {"out_scale": out_counting.scale, "out_signed": out_counting.signed}
    extra = [v for v in (b, add) if v is not None]
    node = Int8Convolution2D(settings, b is not None, add is not None)
    y = node.apply((as_bytes(x, counting), W, scale, *extra))[0]
    return y if out_counting is None else ByteVariable(y, out_counting)
