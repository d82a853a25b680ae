"""Convolution and its gradients on channels-last arrays."""

from typing import Any, Literal

import numpy as np

from cvzoo.backends.float_types import filters_of_pack, in_float32, is_half
from cvzoo.backends.interface import Dims, Pad, Pair
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import ACTIVATIONS, DepthwisePlan
from cvzoo.backends.numpy.conv import channel_sum as numpy_channel_sum
from cvzoo.backends.numpy.conv import conv_2d as numpy_conv_2d
from cvzoo.backends.numpy.conv import conv_2d_input_grad as numpy_conv_2d_input_grad
from cvzoo.backends.numpy.conv import conv_2d_weight_grad as numpy_conv_2d_weight_grad
from cvzoo.backends.onednn.eltwise import add as add_arrays
from cvzoo.backends.onednn.eltwise import eltwise
from cvzoo.backends.onednn.forward_convolution import (
    DIRECT,
    ForwardConvolution,
    describe_weights,
    make_forward,
    window_of,
)
from cvzoo.backends.onednn.memory import (
    PackedWeights,
    as_kernels_want,
    new_channels_last,
    new_dense,
    with_plain_strides,
)
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
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
    local,
    primitive_descriptor,
    queried,
    recall,
    same_layout,
    size_of,
    strides_of,
    supported,
)
from cvzoo.backends.onednn.rows import make_to_single_pixels
from cvzoo.backends.onednn.winograd import make_winograd

__all__ = ["channel_sum", "conv_2d", "conv_2d_input_grad", "conv_2d_weight_grad"]

_DIRECT_DECONVOLUTION = 0xA
# of a depthwise filter: up to these, oneDNN's gradient is faster than that of our own, more accurate kernel
_FEW_TAPS = 9
_BINARY_ADD = 0x1FFF0
_FIRST_POST_OP_SOURCE = 32768 | 2  # DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1


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
    winograd: bool = False,
    adds_last: bool = False,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d`; `pack` holds reordered weights by the name of their order."""
    adds_last = adds_last and add is not None
    if adds_last and activation not in ACTIVATIONS:
        y = conv_2d(
            *(x, w, b),
            stride=stride,
            pad=pad,
            dilate=dilate,
            groups=groups,
            activation=activation,
            alpha=alpha,
            beta=beta,
            pack=pack,
            winograd=winograd,
        )
        return add_arrays(y, np.asarray(add))
    if x.dtype == F32 and w.dtype == F32 and x.size and w.size:
        w = with_plain_strides(w)
        case = (b is not None, (stride, pad, dilate, groups), add is not None, activation, alpha, beta, adds_last)
        key = ("conv", x.shape, w.shape, w.strides, case, winograd)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_conv, x.shape, w, case, winograd)
        if op:
            y = new_channels_last(*op.shape)
            op(as_kernels_want(x), w, b, add, y, pack)
            return y if op.after is None else eltwise(op.after, y, alpha=alpha, beta=beta)
    w = filters_of_pack(w, pack)
    settings: dict[str, Any] = {
        "stride": stride,
        "pad": pad,
        "dilate": dilate,
        "groups": groups,
        "add": add,
        "activation": activation,
        "alpha": alpha,
        "beta": beta,
        "adds_last": adds_last,
    }
    if is_half(x.dtype):
        return _conv_2d_of_halves(x, w, b, **settings)
    return numpy_conv_2d(x, w, b, **settings)


def _make_conv(
    x_shape: Dims, w: np.ndarray, case: tuple[Any, ...], winograd: bool
) -> ForwardConvolution | Literal[False]:
    """The kernel of a forward convolution; False if there is none."""
    return (
        (winograd and make_winograd(x_shape, w, *case))
        or make_to_single_pixels(x_shape, w, *case)
        or make_forward(x_shape, w, *case)
    )


# not as a decorator, which would add a call to a network's most frequent kernel
_conv_2d_of_halves = in_float32(conv_2d)


def _forward_descriptor(x_shape: Dims, w_shape: Dims, y_shape: Dims, geometry: tuple, groups: int) -> Handle | None:
    """The primitive descriptor of the forward pass, a hint that backward passes require."""
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
    run: Primitive
    shape: Dims
    weights: PackedWeights


def _make_input_grad(
    gy_shape: Dims, w: np.ndarray, x_size: Pair, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> _InputGrad | Literal[False]:
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
    grad = _InputGrad()
    grad.weights = PackedWeights(describe_weights(w.shape, strides_of(w), groups), chosen)
    grad.run = Primitive(descriptor, [(DIFF_DST, source), (WEIGHTS, chosen), (DIFF_SRC, target)])
    grad.shape = x_shape
    return grad


def _make_input_grad_and_add(
    gy_shape: Dims, w: np.ndarray, x_size: Pair, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> _InputGrad | Literal[False]:
    """The same kernel as a deconvolution, since only that supports a sum as a post-op."""
    o, c_group, kh, kw = w.shape
    x_shape = (gy_shape[0], c_group * groups, *x_size)
    geometry = window_of(x_size, gy_shape[2:], w.shape[2:], stride, pad, dilate)
    source, target = describe_image(gy_shape), describe_image(x_shape)
    first, second, *rest = strides_of(w)
    shape: tuple[int, ...] = (c_group, o // groups, kh, kw)
    strides: tuple[int, ...] = (second, first, *rest)
    if groups > 1:
        shape, strides = (groups, *shape), (first * (o // groups), *strides)
    descriptor = primitive_descriptor(
        "deconvolution_forward",
        FORWARD_INFERENCE,
        _DIRECT_DECONVOLUTION,
        source,
        describe(shape, None),
        None,
        target,
        *geometry,
        attributes([("binary", _BINARY_ADD, target.address)]),
    )
    if descriptor is None:
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    grad = _InputGrad()
    grad.weights = PackedWeights(describe(shape, strides), chosen)
    grad.run = Primitive(descriptor, [(SRC, source), (WEIGHTS, chosen), (DST, target), (_FIRST_POST_OP_SOURCE, target)])
    grad.shape = x_shape
    return grad


@in_float32
def conv_2d_input_grad(
    gy: np.ndarray,
    w: np.ndarray,
    x_size: Pair,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_input_grad`."""
    if gy.dtype == F32 and w.dtype == F32 and gy.size and w.size:
        w = with_plain_strides(w)
        has_add = add is not None
        key = ("conv_input_grad", gy.shape, w.shape, w.strides, x_size, stride, pad, dilate, groups, has_add)
        op = local.young.get(key)
        if op is None:
            make = _make_input_grad_and_add if has_add else _make_input_grad
            op = recall(key, make, gy.shape, w, x_size, stride, pad, dilate, groups)
        if op:
            gx = new_channels_last(*op.shape)
            arrays = [as_kernels_want(gy), op.weights(w, None), gx]
            if has_add:
                arrays.append(as_kernels_want(np.asarray(add, F32)))
            op.run(*arrays)
            return gx
    return numpy_conv_2d_input_grad(gy, w, x_size, stride=stride, pad=pad, dilate=dilate, groups=groups, add=add)


class _WeightGrad:
    __slots__ = ("order", "pick", "picked", "run", "shape", "size")
    order: Primitive | None
    pick: Primitive | None
    picked: Dims
    run: Primitive | NativePrimitive
    shape: Dims
    size: int


def _steps_evenly(x_size: Pair, size: Pair, w_size: Pair, stride: Pair, pad: Pad) -> bool:
    """Whether strided 1x1 convolutions must be computed without strides for the weight gradient.

    jit_1x1:avx2 and jit_1x1:avx512_core of version 3.2 gather the pixels themselves if x is a multiple of the stride,
    and round the channels up to 8 or 16 in their offsets. With fewer channels they write beyond their thread's scratch
    memory: wrong gradients, deadlocks, crashes.
    """
    if w_size != (1, 1) or stride == (1, 1) or pad[0] or pad[2]:
        return False
    return all(n * step == whole for n, step, whole in zip(size, stride, x_size))


def _make_pick(x_shape: Dims, picked: Dims, stride: Pair) -> Primitive:
    """The primitive that gathers the pixels of a strided 1x1 convolution."""
    _, c, h, w = x_shape
    source = describe(picked, (c * h * w, 1, stride[0] * c * w, stride[1] * c))
    target = describe_image(picked)
    descriptor = supported(primitive_descriptor("reorder", source, target, attributes()))
    return Primitive(descriptor, [(SRC, source), (DST, target)])


def _make_depthwise_weight_grad(
    x_shape: Dims, gy_shape: Dims, w_size: Pair, stride: Pair, pad: Pad, dilate: Pair
) -> _WeightGrad:
    grad = _WeightGrad()
    plan = DepthwisePlan(*x_shape, *gy_shape[2:], *w_size, *stride, *dilate, pad[0], pad[2])
    grad.run = NativePrimitive("convolution", "depthwise_weight_grad", plan, (SRC, DIFF_DST, DIFF_WEIGHTS))
    grad.pick = grad.order = None
    grad.shape = (x_shape[1], 1, *w_size)
    return grad


def _make_weight_grad(
    x_shape: Dims,
    gy_shape: Dims,
    w_size: Pair,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
) -> _WeightGrad | Literal[False]:
    if native() is not None and groups == x_shape[1] == gy_shape[1] and w_size[0] * w_size[1] > _FEW_TAPS:
        return _make_depthwise_weight_grad(x_shape, gy_shape, w_size, stride, pad, dilate)
    picked = (*x_shape[:2], *gy_shape[2:])
    if _steps_evenly(x_shape[2:], gy_shape[2:], w_size, stride, pad):
        grad = _make_weight_grad(picked, gy_shape, w_size, (1, 1), (0, 0, 0, 0), (1, 1), groups)
        if grad:
            grad.pick, grad.picked = _make_pick(x_shape, picked, stride), picked
        return grad
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
    grad = _WeightGrad()
    grad.pick = None
    grad.run = Primitive(descriptor, [(SRC, source), (DIFF_DST, target), (DIFF_WEIGHTS, chosen)])
    grad.order = None
    if not same_layout(plain.address, chosen):
        reorder = supported(primitive_descriptor("reorder", chosen, plain, attributes()))
        grad.order = Primitive(reorder, [(SRC, chosen), (DST, plain)])
    grad.size = size_of(chosen) // 4
    grad.shape = w_shape
    return grad


@in_float32
def conv_2d_weight_grad(
    x: np.ndarray, gy: np.ndarray, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_weight_grad`."""
    if x.dtype == F32 and gy.dtype == F32 and x.size and gy.size:
        key = ("conv_weight_grad", x.shape, gy.shape, w_size, stride, pad, dilate, groups)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_weight_grad, x.shape, gy.shape, w_size, stride, pad, dilate, groups)
        if op:
            x, gy, gw = as_kernels_want(x), as_kernels_want(gy), new_dense(op.shape)
            if op.pick is not None:
                whole, x = x, new_channels_last(*op.picked)
                op.pick(whole, x)
            if op.order is None:
                op.run(x, gy, gw)
            else:
                # size elements in a row: the memory of the library's own format
                chosen = new_channels_last(op.size, 1, 1, 1)
                op.run(x, gy, chosen)
                op.order(chosen, gw)
            return gw
    return numpy_conv_2d_weight_grad(x, gy, w_size, stride=stride, pad=pad, dilate=dilate, groups=groups)


@in_float32(rounds=False)
def channel_sum(x: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.channel_sum`."""
    return numpy_channel_sum(x)
