"""Forward convolution fused with bias, sum and activation, in float32, bfloat16 and int8."""

import math
from typing import Literal

import numpy as np

from cvzoo.backends.interface import Dims, Pad, Pair
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.algorithms import ELTWISE
from cvzoo.backends.onednn.memory import (
    AbstractCachedWeights,
    PackedWeights,
    as_kernels_want,
    channels_last,
    new_dense,
    vector,
)
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    BF16,
    BIAS,
    DST,
    F32,
    FORWARD_INFERENCE,
    QUERY_WEIGHTS,
    S8,
    SCALES,
    SRC,
    U8,
    WEIGHTS,
    Handle,
    Primitive,
    attributes,
    describe,
    describe_image,
    dims,
    implementation,
    primitive_descriptor,
    queried,
    strides_of,
    supported,
)
from cvzoo.backends.onednn.swish import is_own_swish, make_swish

DIRECT = 1
_BINARY_ADD = 0x1FFF0
_LINEAR = 0x26

Geometry = tuple[Pair, Pad, Pair, int]  # stride, pad, dilate, groups


def describe_weights(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, groups: int, dtype: np.dtype = F32
) -> Handle:
    """Memory descriptor of (O, C / groups, KH, KW); several groups are a separate axis."""
    if groups == 1:
        return describe(shape, strides, dtype)
    o, *rest = shape
    grouped = (groups, o // groups, *rest)
    return describe(grouped, strides and (strides[0] * (o // groups), *strides), dtype)


def window_of(x_size: Pair, size: Pair, ksize: Pair, stride: Pair, pad: Pad, dilate: Pair) -> tuple:
    """Strides, dilations, padding before and padding after, in the library's conventions.

    The padding after is what the last window needs. Where that is negative the library requires 0, and rejects the
    case if another window would fit then.
    """
    after = []
    for k in (0, 1):
        needed = (size[k] - 1) * stride[k] + dilate[k] * (ksize[k] - 1) + 1 - x_size[k] - pad[2 * k]
        after.append(0 if -stride[k] < needed < 0 else needed)
    return dims(stride), dims([d - 1 for d in dilate]), dims([pad[0], pad[2]]), dims(after)


def post_op_source(k: int) -> int:
    """The argument index of the second operand of post-op k."""
    return 32768 * (k + 1) | 2


class _FlatWeights(AbstractCachedWeights):
    """Weights (O, C, KH, KW) as those of a 1x1 convolution, (O, KH * KW * C, 1, 1)."""

    __slots__ = ("_flatten", "_packed", "_shape")

    def __init__(self, w: np.ndarray, chosen: int):
        o, c, kh, kw = w.shape
        self._shape = o, kh * kw * c
        given = describe_weights(w.shape, strides_of(w), 1)
        last = describe(w.shape, (kh * kw * c, 1, kw * c, c))
        plan = supported(primitive_descriptor("reorder", given, last, attributes()))
        self._flatten = Primitive(plan, [(SRC, given), (DST, last)])
        self._packed = PackedWeights(describe((*self._shape, 1, 1), (kh * kw * c, 1, 1, 1)), chosen)
        self.layout = ("flat", self._packed.layout)

    def make(self, w: np.ndarray) -> np.ndarray:
        """The weights as a matrix, in the kernel's format."""
        flat = new_dense(self._shape)
        self._flatten(w, flat)
        return self._packed.make(flat)


class ForwardConvolution:
    """activation(conv(x, w) + b + add) for one case.

    shape: of the result
    finish: a kernel of our own for the activation, which it computes in place
    after: an activation that neither kernel has, which is computed afterwards; None: one of them computes it
    """

    __slots__ = ("_finish", "_run", "_weights", "after", "shape")

    def __init__(
        self,
        shape: Dims,
        weights: AbstractCachedWeights,
        run: Primitive | NativePrimitive,
        *,
        finish: NativePrimitive | None = None,
        after: str | None = None,
    ):
        self.shape = shape
        self.after = after
        self._finish = finish
        self._weights = weights
        self._run = run

    def __call__(
        self,
        x: np.ndarray,
        w: np.ndarray,
        b: np.ndarray | None,
        add: np.ndarray | None,
        y: np.ndarray,
        pack: dict | None,
        *scales: np.ndarray,
    ) -> None:
        """Compute y from channels-last x; scales: of the filters and of the result, if the case has them."""
        arrays = [x, self._weights(w, pack), y]
        if b is not None:
            arrays.append(vector(b))
        if add is not None:
            arrays.append(channels_last(add) if add.dtype in (S8, U8, BF16) else as_kernels_want(np.asarray(add, F32)))
        self._run(*arrays, *scales)
        if self._finish is not None:
            self._finish(y, y)


def _looks(x_shape: Dims, y_shape: Dims, geometry: Geometry, w_shape: Dims) -> tuple[Dims, Dims, Dims]:
    """The shapes of x, y and the weights in the library: many maps as large as the filters are one large map of pixels.

    Their memory is the same, and the library is three to ten times slower with small maps. Of 1x1 maps the sums have
    the same bits, except in bfloat16.
    """
    stride, pad, dilate, groups = geometry
    b, c, h, w = x_shape
    if w_shape[2:] != (h, w) or any(pad):
        return x_shape, y_shape, w_shape
    if b > 1 and h == w == 1 and stride == (1, 1):
        return (1, c, b, 1), (1, y_shape[1], b, 1), w_shape
    if h * w > 1 and groups == 1 and dilate == (1, 1):
        return (1, h * w * c, b, 1), (1, y_shape[1], b, 1), (w_shape[0], h * w * c, 1, 1)
    return x_shape, y_shape, w_shape


def _adds_wrongly(descriptor: Handle, w_shape: tuple[int, ...]) -> bool:
    """Whether the kernel has a bug of version 3.2's int8 depthwise convolutions with AVX2.

    In the last channels, the remainder after multiples of 8, the first one's addend is added to all of them.
    """
    return w_shape[1] == 1 and w_shape[0] % 8 > 1 and implementation(descriptor).startswith("jit_uni_int8")


def make_forward(
    x_shape: Dims,
    w: np.ndarray,
    has_bias: bool,
    geometry: Geometry,
    has_add: bool,
    activation: str | None,
    alpha: float,
    beta: float,
    adds_last: bool = False,
    *,
    source: np.dtype = F32,
    factors: np.dtype = F32,
    target: np.dtype = F32,
    added: np.dtype = F32,
    add_scale: float | None = None,
    scaled: bool = False,
    out_scaled: bool = False,
    counts_as_added: bool = False,
    name: str = "",
) -> ForwardConvolution | Literal[False]:
    """The kernel of a case; False if the library does not support it.

    source, factors, target: dtypes of x, of the filters as the kernel reads them, and of the result
    added: dtype of the addend; add_scale: scale of an int8 addend
    scaled: each filter's sums are multiplied by a scale; out_scaled: the result is divided by one
    counts_as_added: that one is the result's own divided by add_scale; the activation must not depend on a factor
    adds_last: the activation, a post-operation of the library, comes before the sum; not of an int8 addend
    name: identifies the filters of this kernel among others in the same memory format
    """
    stride, pad, dilate, groups = geometry
    ksize = w.shape[2:]
    size = out_size(x_shape[2:], ksize, stride, pad, dilate)
    y_shape = (x_shape[0], w.shape[0], *size)
    x_look, y_look, w_look = x_shape, y_shape, w.shape
    if source == F32:
        x_look, y_look, w_look = _looks(x_shape, y_shape, geometry, w.shape)
    given, wanted, second = (
        describe_image(x_look, source),
        describe_image(y_look, target),
        describe_image(y_look, added),
    )
    post_ops: list[tuple] = []
    if has_add and add_scale is None:
        post_ops.append(("binary", _BINARY_ADD, second.address))  # the first one, unless `adds_last`
    elif has_add and add_scale is not None:
        # the addend of a post-op has no scale: the convolution is computed in the scale of the addend
        post_ops += [("eltwise", _LINEAR, 1 / add_scale, 0.0), ("binary", _BINARY_ADD, second.address)]
        if not counts_as_added:
            post_ops.append(("eltwise", _LINEAR, add_scale, 0.0))
    finish = None
    if target == F32 and is_own_swish(activation, alpha, y_shape):
        finish = make_swish(math.prod(y_shape), alpha)
    elif activation is not None:
        if activation not in ELTWISE:
            return False
        post_ops.insert(0 if adds_last else len(post_ops), ("eltwise", *ELTWISE[activation](alpha, beta)))
    scales = [(WEIGHTS, 1 if groups == 1 else 3)] if scaled else []
    if out_scaled:
        scales.append((DST, 0))
    bias = describe(w.shape[:1], (1,)) if has_bias else None
    descriptor = primitive_descriptor(
        "convolution_forward",
        FORWARD_INFERENCE,
        DIRECT,
        given,
        describe_weights(w_look, None, groups, factors),
        bias,
        wanted,
        *window_of(x_look[2:], y_look[2:], w_look[2:], stride if w_look == w.shape else (1, 1), pad, dilate),
        attributes(post_ops, scales),
    )
    if descriptor is None or (has_add and _adds_wrongly(descriptor, w.shape)):
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    slots: list[tuple[int, Handle | int]] = [(SRC, given), (WEIGHTS, chosen), (DST, wanted)]
    if bias is not None:
        slots.append((BIAS, bias))
    if has_add:
        slots.append(
            (post_op_source(1 if add_scale is not None or (adds_last and activation is not None) else 0), second)
        )
    if scaled:
        slots.append((SCALES | WEIGHTS, describe(w.shape[:1], (1,))))
    if out_scaled:
        slots.append((SCALES | DST, describe((1,), (1,))))
    if w_look != w.shape:
        return ForwardConvolution(y_shape, _FlatWeights(w, chosen), Primitive(descriptor, slots), finish=finish)
    weights = PackedWeights(describe_weights(w.shape, strides_of(w), groups, w.dtype), chosen, name=name)
    return ForwardConvolution(y_shape, weights, Primitive(descriptor, slots), finish=finish)
