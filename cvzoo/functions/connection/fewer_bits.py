"""Convolutions and linear layers in int8 and in bfloat16."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.connection.byte_variable import ByteVariable, Counting, Halves, as_bytes
from cvzoo.functions.connection.convolution_2d import Sizes, check_added, convolution_window
from cvzoo.typing.aliases import Array


class Int8Convolution2D(FunctionNode):
    """Bytes x and W, scale, perhaps b and what is added, to activation(scale * conv(x, W) + b + add).

    It is never part of a graph.
    """

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, W, scale, *rest = inputs
        has_b, has_add = self._has
        b = rest.pop(0) if has_b else None
        add = rest.pop(0) if has_add else None
        return (backend_of(x).conv_2d_int8(x, W, scale, b, add=add, **self._settings),)


def int8_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    scale: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    *,
    counting: Counting,
    dilate: Sizes = 1,
    groups: int = 1,
    add: Variable | Array | None = None,
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
    window = convolution_window("int8_convolution_2d", stride, pad, dilate, groups)
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
        # the addend stays int8: the kernel scales it while it adds
        add = held[0]
        settings["add_scale"] = held[1].scale
    if out_counting is not None:
        settings |= {"out_scale": out_counting.scale, "out_signed": out_counting.signed}
    extra = [v for v in (b, add) if v is not None]
    node = Int8Convolution2D(settings, b is not None, add is not None)
    y = node.apply((as_bytes(x, counting), W, scale, *extra))[0]
    return y if out_counting is None else ByteVariable(y, out_counting)


class Int8Linear(FunctionNode):
    """Bytes x (N, I) and W (O, I), scale (O,), perhaps b (O,), to scale * (x @ W.T) + b (N, O).

    It is never part of a graph.
    """

    def __init__(self, pack: PreparedWeights | None):
        self._pack = pack

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, W, scale, *b = inputs
        return (backend_of(x).linear_int8(x, W, scale, b[0] if b else None, pack=self._pack),)


def int8_linear(
    x: Variable | Array,
    W: Variable | Array,
    scale: Variable | Array,
    b: Variable | Array | None = None,
    n_batch_axes: int = 1,
    *,
    counting: Counting,
    pack: PreparedWeights | None = None,
) -> Variable:
    """scale * (x as bytes @ W.T) + b: (N, O), or the first n_batch_axes of x and then O; without a gradient.

    x: float32, its axes after the first n_batch_axes flattened to I values; counting: its quantization parameters
    W: (O, I) int8; scale: (O,) float32: counting.scale times what each row of W counts in; b: (O,) or None
    pack: a cache of reordered copies of W, which the caller clears when W changes
    Raises ShapeError if the sizes do not fit.
    """
    lead = tuple(x.shape[:n_batch_axes])
    n = i = 1
    for size in lead:
        n *= size
    for size in x.shape[n_batch_axes:]:
        i *= size
    if i != W.shape[1]:
        raise ShapeError("int8_linear: x and W do not fit", expected=f"rows of {W.shape[1]}", got=f"x {x.shape}")
    x = as_bytes(x if len(x.shape) == 2 and n_batch_axes == 1 else reshape(x, (n, i)), counting)
    y = Int8Linear(pack).apply((x, W, scale) if b is None else (x, W, scale, b))[0]
    return y if n_batch_axes == 1 else reshape(y, (*lead, W.shape[0]))


class Bf16Convolution2D(FunctionNode):
    """x, W, perhaps b and what is added, to activation(conv(x, W) + b + add). It is never part of a graph."""

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
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
    add: Variable | Array | None = None,
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
    window = convolution_window("bf16_convolution_2d", stride, pad, dilate, groups)
    check_added(add, x.shape, W.shape, window, "bf16_convolution_2d")
    settings = {**window, "activation": activation, "alpha": alpha, "beta": beta, "pack": pack, "out_bits": gives_bits}
    extra = [v for v in (b, _bits(add)) if v is not None]
    y = Bf16Convolution2D(settings, b is not None, add is not None).apply((_bits(x), W, *extra))[0]
    return ByteVariable(y, Halves()) if gives_bits else y


def _bits(x: Variable | Array | None) -> Variable | Array | None:
    """x, or what it holds in 16 bits."""
    held = x.held() if isinstance(x, ByteVariable) else None
    return held[0] if held is not None and isinstance(held[1], Halves) else x
