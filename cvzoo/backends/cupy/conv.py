"""Convolution as im2col and a matrix product; 1 x 1 windows are not unfolded.

im2col runs on at most 256 MB of a batch at a time. The order of sums is fixed, so that results are reproducible to the
bit.
"""

import numpy as np
import numpy.typing as npt

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cuda.blas import gemm
from cvzoo.backends.cuda.columns import Window, col2im, im2col, row_length
from cvzoo.backends.cuda.depthwise import depthwise_conv_2d, depthwise_input_grad, depthwise_weight_grad, is_depthwise
from cvzoo.backends.cuda.elementwise import are_floats
from cvzoo.backends.cuda.layout import sum_dtype
from cvzoo.backends.cupy.chain import chain
from cvzoo.backends.cupy.eltwise import add as add_arrays
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.matmul import is_float
from cvzoo.backends.cupy.memory import channels_last, empty
from cvzoo.backends.gpu_kernels import KernelModule, suffix
from cvzoo.backends.interface import as_pair
from cvzoo.backends.numpy.windows import out_size
from cvzoo.typing.aliases import Array

__all__ = ["channel_sum", "conv_2d", "conv_2d_input_grad", "conv_2d_weight_grad"]

LIMIT = 256 << 20  # bytes of im2col's result at a time
_PACK = "cupy filters of "  # followed by a dtype's name


def conv_2d(
    x: Array,
    w: Array,
    b: Array | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: dict | None = None,
    winograd: bool = False,
    adds_last: bool = False,
) -> Array:
    """See `AbstractBackend.conv_2d`."""
    if adds_last and add is not None:
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
        )
        return add_arrays(y, add)
    if is_depthwise(x.shape[1], w.shape, groups, x, w):
        return depthwise_conv_2d(
            *(x, w, b),
            stride=stride,
            pad=pad,
            dilate=dilate,
            add=add,
            activation=activation,
            alpha=alpha,
            beta=beta,
            pack=pack,
        )
    dtype = np.result_type(x.dtype, w.dtype)
    y = convolved(x, w, stride=stride, pad=pad, dilate=dilate, groups=groups, pack=pack)
    return finished(y.astype(dtype, copy=False), b, add, activation, alpha, beta)


def convolved(
    x: Array,
    w: Array,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    out_dtype: npt.DTypeLike | None = None,
    is_exact: bool = False,
    pack: dict | None = None,
) -> Array:
    """y (B, O, OH, OW) of conv_2d without bias, sum and activation.

    out_dtype: float32 for 16-bit x; None: x's
    is_exact: float32 is never rounded to TF32
    """
    ksize = w.shape[2:]
    size = out_size(x.shape[2:], ksize, stride, pad, dilate)
    x, w = of_one_float(x, w)
    out_dtype = x.dtype if out_dtype is None else out_dtype
    y = empty((x.shape[0], w.shape[0], *size), out_dtype)
    window = Window(tuple(x.shape[2:]), size, tuple(ksize), stride, pad, dilate)
    _convolve(_with_adjacent_channels(x), _filters(w, groups, pack), y, window, groups, is_exact)
    return y


def finished(y: Array, b: Array | None, add: Array | None, activation: str | None, alpha: float, beta: float) -> Array:
    """y (B, O, OH, OW) plus b (O,), plus `add`, then `activation`, in one pass over memory."""
    steps: list[tuple] = []
    others = []
    for each in (None if b is None else b[:, None, None], add):
        if each is not None:
            steps.append(("add",))
            others.append(each)
    if activation is not None:
        steps.append((activation, alpha, beta))
    return chain(y, steps, others) if steps else y


def of_one_float(x: Array, w: Array) -> tuple[Array, Array]:
    """Both as one floating dtype that cuBLAS supports; integers as float64, exact below 2 ** 53."""
    if is_float(x, w):
        return x, w
    dtype = np.result_type(x.dtype, w.dtype)
    if dtype.name not in ("float16", "bfloat16", "float32", "float64"):
        dtype = np.dtype(np.float64)
    return x.astype(dtype), w.astype(dtype)


def _with_adjacent_channels(x: Array) -> Array:
    """x (B, C, H, W) itself if a pixel's channels are adjacent in memory, else a channels-last copy."""
    if x.strides[1] == x.itemsize and min(x.strides) >= 0:
        return x
    return channels_last(x)


def _filters(w: Array, groups: int, pack: dict | None) -> Array:
    """(groups, length, O / groups) of w (O, C / groups, KH, KW); its rows' elements are strided.

    length: row_length(KH * KW * C / groups); padded with zeros
    """
    packed = None if pack is None else pack.get(_PACK + w.dtype.name)
    if packed is None:
        o, c, kh, kw = w.shape
        n = kh * kw * c
        length = row_length(n, w.itemsize)
        if length == n:
            packed = cupy().ascontiguousarray(w.transpose(0, 2, 3, 1))
        else:
            packed = cupy().zeros((o, length), w.dtype)
            packed[:, :n] = w.transpose(0, 2, 3, 1).reshape(o, n)
        packed = packed.reshape(groups, o // groups, length).transpose(0, 2, 1)
        if pack is not None:
            pack[_PACK + w.dtype.name] = packed
    return packed


def _rows(y: Array) -> Array:
    """(B * H * W, C) of a channels-last y (B, C, H, W): a view."""
    return y.transpose(0, 2, 3, 1).reshape(-1, y.shape[1])


def _grouped(rows: Array, groups: int) -> Array:
    """(groups, N, C / groups) of (N, C): a view."""
    return rows.reshape(rows.shape[0], groups, rows.shape[1] // groups).transpose(1, 0, 2)


def _pieces(window: Window, b: int, c: int, itemsize: int) -> list[tuple[int, int]]:
    """The first window and the number of windows of each piece."""
    n_window = b * window.out[0] * window.out[1]
    nbytes = window.ksize[0] * window.ksize[1] * c * itemsize
    most = max(LIMIT // max(nbytes, 1), 1)
    return [(first, min(most, n_window - first)) for first in range(0, n_window, most)]


def _convolve(x: Array, filters: Array, y: Array, window: Window, groups: int, is_exact: bool) -> None:
    if not y.size:
        return
    result = _grouped(_rows(y), groups)
    if window.is_single and x.transpose(0, 2, 3, 1).flags.c_contiguous:
        gemm(_grouped(_rows(x), groups), filters[:, : x.shape[1] // groups], result, is_exact=is_exact)
        return
    for first, count in _pieces(window, x.shape[0], x.shape[1], x.itemsize):
        columns = im2col(x, window, groups, first, count)
        gemm(columns, filters, result[:, first : first + count], is_exact=is_exact)


def conv_2d_input_grad(
    gy: Array, w: Array, x_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int, add: Array | None = None
) -> Array:
    """See `AbstractBackend.conv_2d_input_grad`."""
    if is_depthwise(groups * w.shape[1], w.shape, groups, gy, w):
        return depthwise_input_grad(gy, w, x_size, stride=stride, pad=pad, dilate=dilate, groups=groups, add=add)
    gy, w = of_one_float(gy, w)
    b, _, *size = gy.shape
    c = w.shape[1] * groups
    gx = empty((b, c, *x_size), gy.dtype)
    if not gx.size:
        return gx
    window = Window(as_pair(x_size), as_pair(size), w.shape[2:], stride, pad, dilate)
    if not gy.size:
        gx.fill(0)
        return gx if add is None else add_arrays(gx, add, out=gx)
    filters = _filters(w, groups, None).transpose(0, 2, 1)[:, :, : w.shape[2] * w.shape[3] * w.shape[1]]
    rows = _grouped(_rows(channels_last(gy)), groups)
    if window.is_single:
        gemm(rows, filters, _grouped(_rows(gx), groups))
        return gx if add is None else add_arrays(gx, add, out=gx)
    # the gradients of columns are summed before they are rounded to 16 bits
    wide = gy.dtype if gy.dtype.itemsize > 2 else np.dtype(np.float32)
    n_window = size[0] * size[1]
    n_image = max(LIMIT // max(n_window * w.shape[2] * w.shape[3] * c * wide.itemsize, 1), 1)
    pixels = gx.transpose(0, 2, 3, 1)
    added = None if add is None else channels_last(add.astype(gx.dtype, copy=False)).transpose(0, 2, 3, 1)
    for first in range(0, b, n_image):
        last = min(first + n_image, b)
        columns = cupy().empty((groups, (last - first) * n_window, filters.shape[2]), wide)
        gemm(rows[:, first * n_window : last * n_window], filters, columns)
        col2im(columns, pixels[first:last], window, None if added is None else added[first:last])
    return gx


def conv_2d_weight_grad(
    x: Array, gy: Array, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> Array:
    """See `AbstractBackend.conv_2d_weight_grad`; sums of 16-bit products are rounded once, at the end."""
    if is_depthwise(x.shape[1], (gy.shape[1], x.shape[1] // groups, *w_size), groups, x, gy):
        return depthwise_weight_grad(x, gy, w_size, stride=stride, pad=pad, dilate=dilate)
    x, gy = of_one_float(x, gy)
    b, c, *x_size = x.shape
    o = gy.shape[1]
    kh, kw = w_size
    window = Window(as_pair(x_size), gy.shape[2:], as_pair(w_size), stride, pad, dilate)
    wide = x.dtype if x.dtype.itemsize > 2 else np.dtype(np.float32)
    n = kh * kw * (c // groups)
    total = cupy().empty((groups, o // groups, row_length(n, x.itemsize)), wide)
    if not total.size:
        return cupy().zeros((o, c // groups, kh, kw), x.dtype)
    if not gy.size:
        total.fill(0)
    else:
        x = _with_adjacent_channels(x)
        rows = _grouped(_rows(channels_last(gy)), groups)
        if window.is_single and x.transpose(0, 2, 3, 1).flags.c_contiguous:
            gemm(rows.transpose(0, 2, 1), _grouped(_rows(x), groups), total[:, :, :n])
        else:
            for first, count in _pieces(window, b, c, x.itemsize):
                columns = im2col(x, window, groups, first, count)
                piece = rows[:, first : first + count].transpose(0, 2, 1)
                gemm(piece, columns, total, beta=1.0 if first else 0.0)  # 0 also discards NaN of the new array
    gw = total[:, :, :n].reshape(o, kh, kw, c // groups).transpose(0, 3, 1, 2)
    return cupy().ascontiguousarray(gw.astype(x.dtype, copy=False))


_KERNELS = KernelModule("channel_sum")
_ROWS = 128  # at least, summed by a block
_SPLITS = 512  # at most, of the rows


def channel_sum(x: Array) -> Array:
    """See `AbstractBackend.channel_sum`; deterministic, float32 as accurate as if summed in float64."""
    xp = cupy()
    if not are_floats(x):
        return x.sum(axis=(0, *range(2, x.ndim)))
    c = x.shape[1]
    wide_dtype = sum_dtype(x.dtype)
    y = xp.empty(c, wide_dtype)
    if not x.size:
        y.fill(0)
        return y
    flat = xp.ascontiguousarray(xp.moveaxis(x, 1, -1))
    m = x.size // c
    # few channels would leave threads idle: neighboring rows are summed as further channels
    joined = next((k for k in range(max(64 // c, 1), 0, -1) if m % k == 0), 1)
    m, wide = m // joined, c * joined
    splits = min(max(m // _ROWS, 1), _SPLITS)
    step = -(-m // splits)
    splits = -(-m // step)
    partial = xp.empty((splits, wide), wide_dtype)
    _KERNELS.launch(
        f"channel_sum_partial_{suffix(x.dtype)}",
        (-(-wide // 32), splits, 1),
        (32, 8, 1),
        (flat, partial, np.int64(m), np.int32(wide), np.int64(step)),
    )
    _KERNELS.launch(
        f"channel_sum_final_{suffix(y.dtype)}",
        (-(-c // 32), 1, 1),
        (32, 32, 1),
        (partial, y, np.int64(splits * joined), np.int32(c)),
    )
    return y
