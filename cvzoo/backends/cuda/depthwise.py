"""Depthwise convolution, by kernels/depthwise.cu and kernels/depthwise_strip.cu."""

import functools
from collections.abc import Sequence

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.layout import as_channels, as_vector, can_vectorize, lanes_for, pixel_rows, sum_dtype
from cvzoo.backends.cupy.chain import chain
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.float_types import is_float
from cvzoo.backends.gpu_kernels import KernelModule, blocks, family_text, suffix
from cvzoo.backends.numpy.windows import out_size
from cvzoo.typing.aliases import Array

_KERNELS = KernelModule("depthwise")
_BLOCK = (256, 1, 1)
_STRIP, _STRIP_BLOCK = 4, (128, 1, 1)
_ENOUGH = 1024  # blocks that keep any GPU busy; chosen per GPU, it would change the order of sums, and so their bits
_KINDS = {None: 0, "relu": 1, "leaky_relu": 2, "clip": 3, "swish": 4, "hard_swish": 5, "sigmoid": 6}
_PACK = "depthwise filters of "  # followed by a dtype's name


def is_depthwise(channels: int, w_shape: Sequence[int], groups: int, *arrays: Array) -> bool:
    """Whether w (O, C / groups, KH, KW) is a depthwise filter of several channels, and all arrays have one floating
    dtype.
    """
    return (
        groups == channels > 1
        and w_shape[1] == 1
        and all(is_float(a.dtype) and a.dtype == arrays[0].dtype for a in arrays)
    )


@functools.cache
def strip_kernels(size: int, stride: int) -> KernelModule:
    """The kernels of kernels/depthwise_strip.cu for filters of size x size pixels."""
    text = f"#define SIZE {size}\n#define STRIDE {stride}\n" + family_text("depthwise_strip")
    return KernelModule.from_source(f"depthwise_strip {size} {stride}", text)


def _filters(w: Array, pack: dict | None) -> Array:
    """(KH, KW, O) of w (O, 1, KH, KW)."""
    key = _PACK + w.dtype.name
    filters: Array | None = None if pack is None else pack.get(key)
    if filters is None:
        filters = cupy().ascontiguousarray(w[:, 0].transpose(1, 2, 0))
        if pack is not None:
            pack[key] = filters
    return filters


def _groups(b: int, c: int, size: Pair) -> int:
    return b * size[0] * size[1] * -(-c // 8)


def _int32(*values: int) -> tuple[np.int32, ...]:
    return tuple([np.int32(v) for v in values])


def _is_strip(dtype: np.dtype, ksize: Pair, stride: Pair, dilate: Pair, multiplier: int) -> bool:
    return (
        ksize[0] == ksize[1]
        and ksize[0] in (3, 5, 7)
        and stride[0] == stride[1]
        and stride[0] in (1, 2)
        and tuple(dilate) == (1, 1)
        and multiplier == 1
        and dtype != np.float64
    )


def _slide(
    x: Array,
    filters: Array,
    b: Array | None,
    add: Array | None,
    size: Pair,
    *,
    stride: Pair,
    start: Pair,
    dilate: Pair,
    kind: int = 0,
    alpha: float = 0.0,
    beta: float = 0.0,
) -> Array:
    """y (B, *size, O) of x (B, H, W, C) and filters (KH, KW, O); start: padding above and left of x."""
    n, h, w, c = x.shape
    kh, kw, o = filters.shape
    y = cupy().empty((n, *size, o), x.dtype)
    if not y.size:
        return y
    vectorized = can_vectorize(c, x, filters, b, add) if o == c else can_vectorize(o, filters, b, add)
    if _is_strip(x.dtype, (kh, kw), stride, dilate, o // c):
        pieces = _groups(n, c, (size[0], -(-size[1] // _STRIP)))
        strip_kernels(kh, stride[0]).launch(
            f"depthwise_strip_{suffix(x.dtype)}",
            blocks(pieces, _STRIP_BLOCK[0]),
            _STRIP_BLOCK,
            (x, filters, b, add, y, np.int64(pieces), *_int32(c, h, w, *size, *start, kind))
            + (np.float32(alpha), np.float32(beta), vectorized),
        )
        return y
    pieces = _groups(n, o, size)
    numbers = _int32(c, h, w, *size, kh, kw, *stride, *dilate, *start, o // c, kind)
    _KERNELS.launch(
        f"depthwise_forward_{suffix(x.dtype)}",
        blocks(pieces),
        _BLOCK,
        (x, filters, b, add, y, np.int64(pieces), *numbers, np.float64(alpha), np.float64(beta), vectorized),
    )
    return y


def depthwise_conv_2d(
    x: Array,
    w: Array,
    b: Array | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    add: Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: dict | None = None,
) -> Array:
    """y (B, O, OH, OW) as AbstractBackend.conv_2d says, of x (B, C, H, W) and w (O, 1, KH, KW); O is a multiple of C.

    Bias, sum and the usual activations are computed by the same kernel, which rounds once, to x's dtype.
    """
    size = out_size(x.shape[2:], w.shape[2:], stride, pad, dilate)
    fused = activation in _KINDS
    b = None if b is None else as_vector(b, x.dtype)
    y = _slide(
        pixel_rows(x),
        _filters(w, pack),
        b,
        None if add is None else pixel_rows(add.astype(x.dtype, copy=False)),
        size,
        stride=stride,
        start=(pad[0], pad[2]),
        dilate=dilate,
        kind=_KINDS[activation] if fused else 0,
        alpha=alpha,
        beta=beta,
    )
    y = as_channels(y)
    return y if fused else chain(y, [(activation, alpha, beta)], [])


def depthwise_input_grad(
    gy: Array, w: Array, x_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int, add: Array | None = None
) -> Array:
    """gx (B, C, H, W), plus `add`, as AbstractBackend.conv_2d_input_grad says; C is `groups`."""
    gy = pixel_rows(gy)
    add = None if add is None else pixel_rows(add.astype(gy.dtype, copy=False))
    n, oh, ow, o = gy.shape
    kh, kw = w.shape[2:]
    if tuple(stride) == (1, 1) and _is_strip(gy.dtype, (kh, kw), stride, dilate, o // groups):
        # with stride 1 it is the convolution of gy with the filters rotated by 180 degrees
        filters = cupy().ascontiguousarray(w[:, 0, ::-1, ::-1].transpose(1, 2, 0))
        start = (kh - 1 - pad[0], kw - 1 - pad[2])
        return as_channels(_slide(gy, filters, None, add, x_size, stride=stride, start=start, dilate=dilate))
    filters = _filters(w, None)
    gx = cupy().empty((n, *x_size, groups), gy.dtype)
    if gx.size:
        pieces = _groups(n, groups, x_size)
        vectorized = can_vectorize(groups, gy, filters, add)
        numbers = _int32(groups, *x_size, oh, ow, kh, kw, *stride, *dilate, pad[0], pad[2], o // groups)
        _KERNELS.launch(
            f"depthwise_input_gradient_{suffix(gy.dtype)}",
            blocks(pieces),
            _BLOCK,
            (gy, filters, add, gx, np.int64(pieces), *numbers, vectorized),
        )
    return as_channels(gx)


def depthwise_weight_grad(x: Array, gy: Array, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair) -> Array:
    """gw (O, 1, KH, KW) as AbstractBackend.conv_2d_weight_grad says."""
    xp = cupy()
    x, gy = pixel_rows(x), pixel_rows(gy)
    n, oh, ow, o = gy.shape
    h, w, c = x.shape[1:]
    kh, kw = w_size
    gw = xp.empty((o, 1, kh, kw), x.dtype)
    pixels = n * oh * ow
    if not gw.size or not pixels:
        gw.fill(0)
        return gw
    taps = 3 if kw <= 3 else 5 if kw <= 5 else 7
    layers = kh * -(-kw // taps)
    lanes = lanes_for(o)
    groups, height = -(-o // (lanes * 8)), 256 // lanes
    parts = max(1, min(-(-_ENOUGH // (groups * layers)), -(-pixels // (4 * height))))
    step = -(-pixels // parts)
    parts = -(-pixels // step)
    partial = xp.empty((parts, kh, kw, o), sum_dtype(x.dtype))
    numbers = _int32(c, h, w, oh, ow, kh, kw, *stride, *dilate, pad[0], pad[2], o // c)
    vectorized = can_vectorize(o, gy, x if o == c else None)
    name = suffix(x.dtype)
    _KERNELS.launch(
        f"depthwise_weight_gradient_{taps}_{name}",
        (groups, parts, layers),
        _BLOCK,
        (x, gy, partial, np.int64(pixels), *numbers, np.int64(step), np.int32(lanes), vectorized),
    )
    _KERNELS.launch(
        f"depthwise_weight_merge_{name}",
        blocks(gw.size),
        _BLOCK,
        (partial, gw, *_int32(o, kh * kw, parts)),
    )
    return gw
