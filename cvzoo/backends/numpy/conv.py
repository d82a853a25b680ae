"""Convolution as matrix products of unfolded windows, one image at a time.

One image at a time because BLAS then gets the same shapes for any batch size: an image's result has the same bits alone
and in a batch.
"""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.float_types import filters_of_pack, in_float32
from cvzoo.backends.numpy.eltwise import eltwise
from cvzoo.backends.numpy.windows import out_size, padded_nhwc, taps, unpadded

__all__ = ["channel_sum", "conv_2d", "conv_2d_input_grad", "conv_2d_weight_grad"]


def _columns(image: np.ndarray, ksize: Pair, stride: Pair, size: Pair, dilate: Pair, groups: int) -> np.ndarray:
    """(groups, OH * OW, KH * KW * C / groups) of one padded image (1, H, W, C)."""
    c = image.shape[3]
    columns = np.empty((groups, *size, *ksize, c // groups), image.dtype)
    for i, j, tap in taps(image, ksize, stride, size, dilate):
        columns[:, :, :, i, j] = np.moveaxis(tap[0].reshape(*size, groups, c // groups), 2, 0)
    return columns.reshape(groups, size[0] * size[1], -1)


@in_float32
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
    """See `AbstractBackend.conv_2d`; `winograd` is not used."""
    w = filters_of_pack(w, pack)
    o, c_group, kh, kw = w.shape
    ksize = kh, kw
    padded = padded_nhwc(x, pad, 0)
    size = out_size(x.shape[2:], ksize, stride, pad, dilate)
    y = np.empty((x.shape[0], *size, o), np.result_type(x, w))
    if c_group == 1 and o == groups:
        y[...] = 0
        for i, j, tap in taps(padded, ksize, stride, size, dilate):
            y += tap * w[:, 0, i, j]
    else:
        matrix = w.reshape(groups, o // groups, c_group, *ksize).transpose(0, 3, 4, 2, 1)
        matrix = matrix.reshape(groups, -1, o // groups)
        for k in range(x.shape[0]):
            product = _columns(padded[k : k + 1], ksize, stride, size, dilate, groups) @ matrix
            y[k] = np.moveaxis(product, 0, 1).reshape(*size, o)
    y = y.transpose(0, 3, 1, 2)
    if b is not None:
        y += b[:, None, None]
    if add is not None and not adds_last:
        y += add
    if activation is not None:
        y = eltwise(activation, y, alpha=alpha, beta=beta)
    if add is not None and adds_last:
        y += add
    return y


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
    gx = _input_grad(gy, w, x_size, stride, pad, dilate, groups)
    if add is not None:
        gx += add
    return gx


def _input_grad(
    gy: np.ndarray, w: np.ndarray, x_size: Pair, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> np.ndarray:
    n, o, oh, ow = gy.shape
    _, c_group, kh, kw = w.shape
    size = (oh, ow)
    gy = np.ascontiguousarray(gy.transpose(0, 2, 3, 1))
    gx = np.zeros(
        (n, x_size[0] + pad[0] + pad[1], x_size[1] + pad[2] + pad[3], groups * c_group), np.result_type(gy, w)
    )
    if c_group == 1 and o == groups:
        for i, j, tap in taps(gx, (kh, kw), stride, size, dilate):
            tap += gy * w[:, 0, i, j]
        return unpadded(gx, x_size, pad)
    matrix = w.reshape(groups, o // groups, c_group, kh, kw).transpose(0, 1, 3, 4, 2).reshape(groups, o // groups, -1)
    for k in range(n):
        columns = np.moveaxis(gy[k].reshape(oh * ow, groups, -1), 1, 0) @ matrix
        columns = np.moveaxis(columns.reshape(groups, oh, ow, kh, kw, c_group), 0, 4)
        for i, j, tap in taps(gx[k : k + 1], (kh, kw), stride, size, dilate):
            tap += columns[:, :, i, j].reshape(1, oh, ow, -1)
    return unpadded(gx, x_size, pad)


@in_float32
def conv_2d_weight_grad(
    x: np.ndarray, gy: np.ndarray, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_weight_grad`."""
    n, o, oh, ow = gy.shape
    kh, kw = w_size
    size = (oh, ow)
    c_group = x.shape[1] // groups
    padded = padded_nhwc(x, pad, 0)
    gy = np.ascontiguousarray(gy.transpose(0, 2, 3, 1))
    dtype = np.result_type(x, gy)
    if c_group == 1 and o == groups:
        gw = np.empty((o, 1, kh, kw), dtype)
        for i, j, tap in taps(padded, w_size, stride, size, dilate):
            # a row's sums by themselves: of all rows' errors most cancel
            gw[:, 0, i, j] = np.einsum("nijc,nijc->nic", tap, gy).sum((0, 1), dtype=np.float64)
        return gw
    total = np.zeros((groups, kh * kw * c_group, o // groups), dtype)
    for k in range(n):
        columns = _columns(padded[k : k + 1], w_size, stride, size, dilate, groups)
        total += columns.transpose(0, 2, 1) @ np.moveaxis(gy[k].reshape(oh * ow, groups, -1), 1, 0)
    gw = total.reshape(groups, kh, kw, c_group, o // groups).transpose(0, 4, 3, 1, 2)
    return np.ascontiguousarray(gw).reshape(o, c_group, kh, kw)


@in_float32(rounds=False)
def channel_sum(x: np.ndarray) -> np.ndarray:
    """See `AbstractBackend.channel_sum`; float32 is summed in float64."""
    axes = (0, *range(2, x.ndim))
    if x.dtype == np.float32:
        return x.sum(axis=axes, dtype=np.float64).astype(np.float32)
    return x.sum(axis=axes)
