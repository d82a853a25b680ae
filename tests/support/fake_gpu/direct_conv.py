"""Convolutions straight from their definition, in float64: what the stand-in for cuDNN computes.

Nothing of the package is used, so that its kernels may be compared with this. Arrays are (B, C, H, W) and
(O, C / groups, KH, KW); pad is (top, bottom, left, right), negative where the last rows or columns are left out.
"""

import numpy as np


class Windows:
    """The pixels under each window: indices of rows (OH, KH) and columns (OW, KW), and which of them are padding."""

    def __init__(self, size, ksize, stride, pad, dilate):
        ends = (pad[:2], pad[2:])
        axes = []
        for n, k, s, (before, after), d in zip(size, ksize, stride, ends, dilate):
            n_out = (n + before + after - d * (k - 1) - 1) // s + 1
            axes.append(np.arange(n_out)[:, None] * s + np.arange(k) * d - before)
        inside = [(index >= 0) & (index < n + min(after, 0)) for index, n, (_, after) in zip(axes, size, ends)]
        self.mask = inside[0][:, :, None, None] & inside[1]
        rows, columns = (index.clip(0, n - 1) for index, n in zip(axes, size))
        self.index = rows[:, :, None, None], columns[None, None]


def forward(x, w, *, stride, pad, dilate, groups):
    """y (B, O, OH, OW) float32."""
    windows = Windows(x.shape[2:], w.shape[2:], stride, pad, dilate)
    seen = _grouped(x, groups)[(..., *windows.index)] * windows.mask
    y = np.einsum("bgcykxl,gockl->bgoyx", seen, _filters(w, groups), optimize=True)
    return y.reshape(len(x), len(w), *y.shape[3:]).astype(np.float32)


def weight_grad(x, gy, ksize, *, stride, pad, dilate, groups):
    """gw (O, C / groups, KH, KW) float32."""
    windows = Windows(x.shape[2:], ksize, stride, pad, dilate)
    seen = _grouped(x, groups)[(..., *windows.index)] * windows.mask
    gw = np.einsum("bgcykxl,bgoyx->gockl", seen, _grouped(gy, groups), optimize=True)
    return gw.reshape(gy.shape[1], *gw.shape[2:]).astype(np.float32)


def input_grad(gy, w, size, *, stride, pad, dilate, groups):
    """gx (B, C, H, W) float32."""
    windows = Windows(size, w.shape[2:], stride, pad, dilate)
    parts = np.einsum("bgoyx,gockl->bgcykxl", _grouped(gy, groups), _filters(w, groups), optimize=True)
    gx = np.zeros((*parts.shape[:3], *size))
    np.add.at(gx, (..., *windows.index), parts * windows.mask)
    return gx.reshape(len(gy), -1, *size).astype(np.float32)


def _grouped(x, groups):
    return x.astype(np.float64).reshape(len(x), groups, -1, *x.shape[2:])


def _filters(w, groups):
    return w.astype(np.float64).reshape(groups, -1, *w.shape[1:])
