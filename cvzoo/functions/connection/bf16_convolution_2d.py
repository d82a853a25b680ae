"""Convolution of numbers of 16 bits, sum and activation in one pass."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.connection.byte_variable import ByteVariable, Halves
from cvzoo.functions.connection.fused_convolution_2d import Sizes, check_added, window_settings
from cvzoo.typing.aliases import Array


class Bf16Convolution2D(FunctionNode):
    """x, W, perhaps b and what is added, to activation(conv(x, W) + b + add). It is never part of a graph."""

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, W, *rest = inputs
        has_b, has_add = self._has
        b = rest.pop(0) if has_b else None
        add = rest.pop(0) if has_add else None
        return (backend_of(x).conv_2d_bf16(x, W, b, add=add, **self._settings),)


def bf16_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    *,
    dilate: Sizes = 1,
    groups: int = 1,
    add: Any = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    gives_bits: bool = False,
    pack: PreparedWeights | None = None,
) -> Variable:
    """As `fused_convolution_2d`, with x and W rounded to bfloat16; sums are float32.

    gives_bits: the result is held in 16 bits; else float32

    Raises ShapeError if x and W, or what is added, do not fit.
    """
    if len(x.shape) != 4 or x.shape[1] != W.shape[1] * groups:
        raise ShapeError(
            "bf16_convolution_2d: x and W do not fit",
            expected="x (B, C, H, W), W (O, C / groups, KH, KW)",
            got=f"x {x.shape}, W {W.shape}, groups {groups}",
        )
    window = window_settings(stride, pad, dilate, groups)
    check_added(add, x.shape, W.shape, window, "bf16_convolution_2d")
    settings = {**window, "activation": activation, "alpha": alpha, "beta": beta, "pack": pack, "out_bits": gives_bits}
    extra = [v for v in (b, _bits(add)) if v is not None]
    y = Bf16Convolution2D(settings, b is not None, add is not None).apply((_bits(x), W, *extra))[0]
    return ByteVariable(y, Halves()) if gives_bits else y


def _bits(x: Any) -> Any:
    """x, or what it holds in 16 bits."""
    held = x.held() if isinstance(x, ByteVariable) else None
    return held[0] if held is not None and isinstance(held[1], Halves) else x
