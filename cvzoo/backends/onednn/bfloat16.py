"""Convolution of numbers of 16 bits, for processors that have instructions for it."""

from typing import Any

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.bfloat16 import conv_2d_bf16 as numpy_conv_2d_bf16
from cvzoo.backends.numpy.bfloat16 import rounded
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.algorithms import ELTWISE
from cvzoo.backends.onednn.conv import BINARY_ADD, DIRECT, FIRST_POST_OP_SOURCE, conv_2d, describe_weights, window_of
from cvzoo.backends.onednn.library import library
from cvzoo.backends.onednn.memory import as_kernels_want, new_channels_last
from cvzoo.backends.onednn.packing import PackedWeights, with_plain_strides
from cvzoo.backends.onednn.primitives import (
    BF16,
    BIAS,
    DST,
    F32,
    FORWARD_INFERENCE,
    QUERY_WEIGHTS,
    SRC,
    WEIGHTS,
    Primitive,
    attributes,
    describe,
    describe_image,
    local,
    primitive_descriptor,
    queried,
    recall,
    strides_of,
)


class _Convolution:
    __slots__ = ("convert", "run", "shape", "weights")


def _make_convolution(
    x: np.ndarray,
    w: np.ndarray,
    has_bias: bool,
    geometry: tuple[Pair, Pad, Pair, int],
    has_add: bool,
    activation: str | None,
    alpha: float,
    beta: float,
) -> _Convolution | bool:
    stride, pad, dilate, groups = geometry
    ksize = w.shape[2:]
    size = out_size(x.shape[2:], ksize, stride, pad, dilate)
    y_shape = (x.shape[0], w.shape[0], *size)
    post_ops: list[tuple] = []
    target = describe_image(y_shape)
    if has_add:
        post_ops.append(("binary", BINARY_ADD, target.address))
    if activation is not None:
        if activation not in ELTWISE:
            return False
        post_ops.append(("eltwise", *ELTWISE[activation](alpha, beta)))
    given, source = describe_image(x.shape), describe_image(x.shape, BF16)
    bias = describe(w.shape[:1], (1,)) if has_bias else None
    descriptor = primitive_descriptor(
        "convolution_forward",
        FORWARD_INFERENCE,
        DIRECT,
        source,
        describe_weights(w.shape, None, groups, BF16),
        bias,
        target,
        *window_of(x.shape[2:], size, ksize, stride, pad, dilate),
        attributes(post_ops),
    )
    converting = primitive_descriptor("reorder", given, source, attributes())
    if descriptor is None or converting is None:
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    slots: list[tuple[int, Any]] = [(SRC, source), (WEIGHTS, chosen), (DST, target)]
    if has_bias:
        slots.append((BIAS, bias))
    if has_add:
        slots.append((FIRST_POST_OP_SOURCE, target))
    made = _Convolution()
    made.convert = Primitive(converting, [(SRC, given), (DST, source)])
    made.weights = PackedWeights(describe_weights(w.shape, strides_of(w), groups), chosen, name="bf16")
    made.run = Primitive(descriptor, slots)
    made.shape = y_shape
    return made


def conv_2d_bf16(
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: dict | None = None,
) -> np.ndarray:
    """As AbstractBackend.conv_2d_bf16 says; `pack` holds reordered weights by the name of their order."""
    how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    how |= {"add": add, "activation": activation, "alpha": alpha, "beta": beta}
    if x.dtype is not F32 or w.dtype is not F32 or not x.size or not w.size:
        return numpy_conv_2d_bf16(x, w, b, **how)
    if not library().has_bf16:
        return conv_2d(rounded(x), rounded(w), b, **how)
    w = with_plain_strides(w)
    has_bias, has_add = b is not None, add is not None
    case = (has_bias, (stride, pad, dilate, groups), has_add, activation, alpha, beta)
    key = ("conv_bf16", x.shape, w.shape, w.strides, case)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_convolution, x, w, *case)
    if not op:
        return numpy_conv_2d_bf16(x, w, b, **how)
    y, source = new_channels_last(*op.shape), new_channels_last(*x.shape, BF16)
    op.convert(as_kernels_want(x), source)
    arrays = [source, op.weights(w, pack), y]
    if has_bias:
        arrays.append(np.ascontiguousarray(b, F32))
    if has_add:
        arrays.append(as_kernels_want(np.asarray(add, F32)))
    op.run(*arrays)
    return y
