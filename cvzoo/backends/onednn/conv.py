"""Convolution and its gradients on channels-last arrays."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.conv import channel_sum as numpy_channel_sum
from cvzoo.backends.numpy.conv import conv_2d as numpy_conv_2d
from cvzoo.backends.numpy.conv import conv_2d_input_grad as numpy_conv_2d_input_grad
from cvzoo.backends.numpy.conv import conv_2d_weight_grad as numpy_conv_2d_weight_grad
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.algorithms import ELTWISE
from cvzoo.backends.onednn.memory import as_kernels_want, new_channels_last, new_dense
from cvzoo.backends.onednn.packing import PackedWeights, with_plain_strides
from cvzoo.backends.onednn.primitives import (
    BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    F32,
    FORWARD_INFERENCE,
    FORWARD_TRAINING,
    QUERY_DIFF_WEIGHTS,
    QUERY_WEIGHTS,
    SRC,
    WEIGHTS,
    Handle,
    Primitive,
    attributes,
    dense_strides,
    describe,
    describe_image,
    dims,
    local,
    primitive_descriptor,
    queried,
    recall,
    same_layout,
    size_of,
    strides_of,
)

DIRECT = 1
BINARY_ADD = 0x1FFF0
FIRST_POST_OP_SOURCE = 32768 | 2


def describe_weights(
    shape: tuple[int, ...], strides: tuple[int, ...] | None, groups: int, dtype: np.dtype = F32
) -> Handle:
    """(O, C / groups, KH, KW) as the library wants it: with an axis of its own for the groups if there are several."""
    if groups == 1:
        return describe(shape, strides, dtype)
    o, *rest = shape
    grouped = (groups, o // groups, *rest)
    return describe(grouped, strides and (strides[0] * (o // groups), *strides), dtype)


def window_of(x_size: Pair, size: Pair, ksize: Pair, stride: Pair, pad: Pad, dilate: Pair) -> tuple:
    """Strides, dilations, padding before and padding after, as the library counts them.

    The padding after is what the last window really needs. Where it needs less than nothing the library wants 0, and
    refuses the case if a whole window more would fit then.
    """
    after = []
    for k in (0, 1):
        needed = (size[k] - 1) * stride[k] + dilate[k] * (ksize[k] - 1) + 1 - x_size[k] - pad[2 * k]
        after.append(0 if -stride[k] < needed < 0 else needed)
    return dims(stride), dims([d - 1 for d in dilate]), dims([pad[0], pad[2]]), dims(after)


class _Forward:
    __slots__ = ("run", "shape", "weights")


def _make_forward(
    x_shape: tuple[int, ...],
    w: np.ndarray,
    has_bias: bool,
    geometry: tuple[Pair, Pad, Pair, int],
    has_add: bool,
    activation: str | None,
    alpha: float,
    beta: float,
) -> _Forward | bool:
    stride, pad, dilate, groups = geometry
    ksize = w.shape[2:]
    size = out_size(x_shape[2:], ksize, stride, pad, dilate)
    y_shape = (x_shape[0], w.shape[0], *size)
    post_ops = []
    target = describe_image(y_shape)
    if has_add:
        post_ops.append(("binary", BINARY_ADD, target.address))
    if activation is not None:
        if activation not in ELTWISE:
            return False
        post_ops.append(("eltwise", *ELTWISE[activation](alpha, beta)))
    source = describe_image(x_shape)
    bias = describe(w.shape[:1], (1,)) if has_bias else None
    descriptor = primitive_descriptor(
        "convolution_forward",
        FORWARD_INFERENCE,
        DIRECT,
        source,
        describe_weights(w.shape, None, groups),
        bias,
        target,
        *window_of(x_shape[2:], size, ksize, stride, pad, dilate),
        attributes(post_ops),
    )
    if descriptor is None:
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    slots = [(SRC, source), (WEIGHTS, chosen), (DST, target)]
    if has_bias:
        slots.append((BIAS, bias))
    if has_add:
        slots.append((FIRST_POST_OP_SOURCE, target))
    made = _Forward()
    made.weights = PackedWeights(describe_weights(w.shape, strides_of(w), groups), chosen)
    made.run = Primitive(descriptor, slots)
    made.shape = y_shape
    return made


def conv_2d(
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
    """As AbstractBackend.conv_2d says; `pack` holds reordered weights by the name of their order."""
    if x.dtype is F32 and w.dtype is F32 and x.size and w.size:
        w = with_plain_strides(w)
        geometry = (stride, pad, dilate, groups)
        has_bias, has_add = b is not None, add is not None
        key = ("conv", x.shape, w.shape, w.strides, has_bias, geometry, has_add, activation, alpha, beta)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_forward, x.shape, w, has_bias, geometry, has_add, activation, alpha, beta)
        if op:
            y = new_channels_last(*op.shape)
            arrays = [as_kernels_want(x), op.weights(w, pack), y]
            if has_bias:
                arrays.append(_vector(b))
            if has_add:
                arrays.append(as_kernels_want(np.asarray(add, F32)))
            op.run(*arrays)
            return y
    return numpy_conv_2d(
        x,
        w,
        b,
        stride=stride,
        pad=pad,
        dilate=dilate,
        groups=groups,
        add=add,
        activation=activation,
        alpha=alpha,
        beta=beta,
    )


def _vector(b: np.ndarray) -> np.ndarray:
    """b (O,) float32 without gaps."""
    return b if b.dtype is F32 and b.strides == (4,) else np.ascontiguousarray(b, F32)


def _forward_descriptor(
    x_shape: tuple[int, ...], w_shape: tuple[int, ...], y_shape: tuple[int, ...], geometry: tuple, groups: int
) -> Handle | None:
    """The plan of a forward pass, a hint that backward passes ask for."""
    return primitive_descriptor(
        "convolution_forward",
        FORWARD_TRAINING,
        DIRECT,
        describe_image(x_shape),
        describe_weights(w_shape, None, groups),
        None,
        describe_image(y_shape),
        *geometry,
        attributes(),
    )


class _InputGrad:
    __slots__ = ("run", "shape", "weights")


def _make_input_grad(
    gy_shape: tuple[int, ...], w: np.ndarray, x_size: Pair, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> _InputGrad | bool:
    x_shape = (gy_shape[0], w.shape[1] * groups, *x_size)
    geometry = window_of(x_size, gy_shape[2:], w.shape[2:], stride, pad, dilate)
    hint = _forward_descriptor(x_shape, w.shape, gy_shape, geometry, groups)
    if hint is None:
        return False
    source, target = describe_image(gy_shape), describe_image(x_shape)
    descriptor = primitive_descriptor(
        "convolution_backward_data",
        DIRECT,
        target,
        describe_weights(w.shape, None, groups),
        source,
        *geometry,
        hint,
        attributes(),
    )
    if descriptor is None:
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    made = _InputGrad()
    made.weights = PackedWeights(describe_weights(w.shape, strides_of(w), groups), chosen)
    made.run = Primitive(descriptor, [(DIFF_DST, source), (WEIGHTS, chosen), (DIFF_SRC, target)])
    made.shape = x_shape
    return made


def conv_2d_input_grad(
    gy: np.ndarray, w: np.ndarray, x_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> np.ndarray:
    """As AbstractBackend.conv_2d_input_grad says."""
    if gy.dtype is F32 and w.dtype is F32 and gy.size and w.size:
        w = with_plain_strides(w)
        key = ("conv_input_grad", gy.shape, w.shape, w.strides, x_size, stride, pad, dilate, groups)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_input_grad, gy.shape, w, x_size, stride, pad, dilate, groups)
        if op:
            gx = new_channels_last(*op.shape)
            op.run(as_kernels_want(gy), op.weights(w, None), gx)
            return gx
    return numpy_conv_2d_input_grad(gy, w, x_size, stride=stride, pad=pad, dilate=dilate, groups=groups)


class _WeightGrad:
    __slots__ = ("order", "run", "shape", "size")


def _make_weight_grad(
    x_shape: tuple[int, ...],
    gy_shape: tuple[int, ...],
    w_size: Pair,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
) -> _WeightGrad | bool:
    w_shape = (gy_shape[1], x_shape[1] // groups, *w_size)
    geometry = window_of(x_shape[2:], gy_shape[2:], w_size, stride, pad, dilate)
    hint = _forward_descriptor(x_shape, w_shape, gy_shape, geometry, groups)
    if hint is None:
        return False
    source, target = describe_image(x_shape), describe_image(gy_shape)
    descriptor = primitive_descriptor(
        "convolution_backward_weights",
        DIRECT,
        source,
        describe_weights(w_shape, None, groups),
        None,
        target,
        *geometry,
        hint,
        attributes(),
    )
    if descriptor is None:
        return False
    chosen = queried(descriptor, QUERY_DIFF_WEIGHTS)
    plain = describe_weights(w_shape, dense_strides(w_shape), groups)
    made = _WeightGrad()
    made.run = Primitive(descriptor, [(SRC, source), (DIFF_DST, target), (DIFF_WEIGHTS, chosen)])
    made.order = None
    if not same_layout(plain.address, chosen):
        reorder = primitive_descriptor("reorder", chosen, plain, attributes())
        made.order = Primitive(reorder, [(SRC, chosen), (DST, plain)])
    made.size = size_of(chosen) // 4
    made.shape = w_shape
    return made


def conv_2d_weight_grad(
    x: np.ndarray, gy: np.ndarray, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> np.ndarray:
    """As AbstractBackend.conv_2d_weight_grad says."""
    if x.dtype is F32 and gy.dtype is F32 and x.size and gy.size:
        key = ("conv_weight_grad", x.shape, gy.shape, w_size, stride, pad, dilate, groups)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_weight_grad, x.shape, gy.shape, w_size, stride, pad, dilate, groups)
        if op:
            gw = new_dense(op.shape)
            if op.order is None:
                op.run(as_kernels_want(x), as_kernels_want(gy), gw)
            else:
                chosen = new_channels_last(op.size, 1, 1, 1)
                op.run(as_kernels_want(x), as_kernels_want(gy), chosen)
                op.order(chosen, gw)
            return gw
    return numpy_conv_2d_weight_grad(x, gy, w_size, stride=stride, pad=pad, dilate=dilate, groups=groups)


def channel_sum(x: np.ndarray) -> np.ndarray:
    """As AbstractBackend.channel_sum says."""
    return numpy_channel_sum(x)
