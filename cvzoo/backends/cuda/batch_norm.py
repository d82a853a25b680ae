"""Batch normalization by kernels/batch_norm.cu, with the addend and the rectifier that may stand behind it."""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule
from cvzoo.backends.cuda.pixel_rows import are_whole, as_channels, as_vector, lanes_for, new_rows, pixel_rows
from cvzoo.backends.cuda.suffix import suffix
from cvzoo.backends.cupy.library import cupy

__all__ = [
    "batch_norm_fixed",
    "batch_norm_grad",
    "batch_norm_relu_fixed",
    "batch_norm_relu_grad",
    "batch_norm_relu_train",
    "batch_norm_train",
]

_KERNELS = KernelModule("batch_norm")
_BLOCK = (256, 1, 1)
_ENOUGH = 1024  # blocks that keep any GPU busy; a number of its own would change the sums' order
_TURNS = 8  # rows that a thread goes through, so that it reads its channels' parameters seldom


class _Rows:
    """x as rows of channels, and how blocks share them out."""

    def __init__(self, x: Any, *others: Any):
        self.x = pixel_rows(x)
        self.others = [None if other is None else pixel_rows(other) for other in others]
        self.c = x.shape[1]
        self.count = x.size // self.c
        self.suffix = suffix(x.dtype)
        self.wide = np.float64 if x.dtype == np.float64 else np.float32
        self.wide_suffix = suffix(np.dtype(self.wide))
        self.lanes = lanes_for(self.c)
        self.groups = -(-self.c // (self.lanes * 8))
        self.height = 256 // self.lanes
        self.whole = are_whole(self.c, self.x, *self.others)

    def sharing(self) -> tuple[int, int]:
        """How many rows a block sums up, and how many such blocks there are."""
        blocks = max(1, min(-(-_ENOUGH // self.groups), -(-self.count // (4 * self.height))))
        step = -(-self.count // blocks)
        return step, -(-self.count // step)

    def shape(self, step: int) -> tuple:
        """The last arguments of most kernels."""
        return np.int64(self.count), np.int32(self.c), np.int64(step), np.int32(self.lanes), self.whole

    def grid(self) -> tuple[int, tuple[int, int, int]]:
        """Rows a block, and the grid, of kernels that go through all of x once."""
        step = self.height * _TURNS
        return step, (-(-self.count // step), self.groups, 1)

    def parameter(self, v: Any) -> Any:
        """v (C,) as kernels take it."""
        return as_vector(v, self.wide)


def batch_norm_statistics(x: Any) -> tuple[Any, Any]:
    """Mean and biased variance (C,) of x (B, C, ...): float64 of float64, else float32; 0 of no pixels."""
    xp = cupy()
    if not x.size:
        wide = np.float64 if x.dtype == np.float64 else np.float32
        return xp.zeros(x.shape[1], wide), xp.zeros(x.shape[1], wide)
    return _statistics(_Rows(x))


def _statistics(rows: _Rows) -> tuple[Any, Any]:
    xp = cupy()
    step, parts = rows.sharing()
    partial = xp.empty((2, parts, rows.c), rows.wide)
    mean, var = xp.empty(rows.c, rows.wide), xp.empty(rows.c, rows.wide)
    _KERNELS.launch(
        f"bn_statistics_{rows.suffix}", (rows.groups, parts, 1), _BLOCK, (rows.x, partial, *rows.shape(step))
    )
    _KERNELS.launch(
        f"bn_merge_{rows.wide_suffix}",
        (-(-rows.c // 32), 1, 1),
        (32, 8, 1),
        (partial, mean, var, np.int64(rows.count), np.int32(rows.c), np.int64(step), np.int32(parts)),
    )
    return mean, var


def _apply(rows: _Rows, gamma: Any, beta: Any, mean: Any, var: Any, eps: float, relu: bool, masked: bool) -> tuple:
    xp = cupy()
    (add,) = rows.others
    y = xp.empty_like(rows.x)
    mask = xp.empty((rows.count, -(-rows.c // 8)), np.uint8) if masked else None
    step, grid = rows.grid()
    values = [rows.parameter(v) for v in (gamma, beta, mean, var)]
    _KERNELS.launch(
        f"bn_apply_{rows.suffix}",
        grid,
        _BLOCK,
        (rows.x, add, y, mask, *values, np.float64(eps), *rows.shape(step), np.int32(relu)),
    )
    return as_channels(y), mask


def batch_norm_apply(
    x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, eps: float, add: Any = None, relu: bool = False
) -> Any:
    """gamma * (x - mean) / sqrt(var + eps) + beta + add, and with `relu` the rectifier of that (NaN stays NaN).

    x, add: (B, C, ...); gamma, beta, mean, var: (C,), float32 beside 16 bits
    """
    if not x.size:
        return as_channels(new_rows(x))
    return _apply(_Rows(x, add), gamma, beta, mean, var, eps, relu, False)[0]


def batch_norm_learn(
    x: Any, gamma: Any, beta: Any, *, eps: float, add: Any = None, relu: bool = False
) -> tuple[Any, Any, Any, Any]:
    """y as of batch_norm_apply with x's own mean and var, then these, then a mask.

    mask: (pixels, ceil(C / 8)) uint8, a bit for each number, set where y > 0; None without `relu`
    """
    if not x.size:
        mask = cupy().empty((0, -(-x.shape[1] // 8)), np.uint8) if relu else None
        return (as_channels(new_rows(x)), *batch_norm_statistics(x), mask)
    rows = _Rows(x, add)
    mean, var = _statistics(rows)
    y, mask = _apply(rows, gamma, beta, mean, var, eps, relu, relu)
    return y, mean, var, mask


def batch_norm_gradients(
    gy: Any, x: Any, gamma: Any, mean: Any, var: Any, *, eps: float, mask: Any = None, adds: bool = False
) -> tuple[Any, Any, Any, Any]:
    """gx, ggamma, gbeta and, if there was an addend (`adds`), its gradient, else None.

    mask: what batch_norm_learn gave; None if there was no rectifier
    """
    xp = cupy()
    if not x.size:
        wide = np.float64 if x.dtype == np.float64 else np.float32
        empty = as_channels(new_rows(x))
        return empty, xp.zeros(x.shape[1], wide), xp.zeros(x.shape[1], wide), empty.copy() if adds else None
    rows = _Rows(x, gy)
    (gy,) = rows.others
    gamma, mean, var = [rows.parameter(v) for v in (gamma, mean, var)]
    step, parts = rows.sharing()
    partial = xp.empty((2, parts, rows.c), rows.wide)
    ggamma, gbeta = xp.empty(rows.c, rows.wide), xp.empty(rows.c, rows.wide)
    _KERNELS.launch(
        f"bn_gradient_sums_{rows.suffix}",
        (rows.groups, parts, 1),
        _BLOCK,
        (gy, rows.x, mask, mean, partial, *rows.shape(step)),
    )
    _KERNELS.launch(
        f"bn_gradient_merge_{rows.wide_suffix}",
        (-(-rows.c // 32), 1, 1),
        (32, 8, 1),
        (partial, var, ggamma, gbeta, np.float64(eps), np.int32(rows.c), np.int32(parts)),
    )
    gx = xp.empty_like(rows.x)
    gadd = xp.empty_like(rows.x) if adds else None
    step, grid = rows.grid()
    _KERNELS.launch(
        f"bn_gradient_apply_{rows.suffix}",
        grid,
        _BLOCK,
        (gy, rows.x, mask, gx, gadd, gamma, mean, var, ggamma, gbeta, np.float64(eps), *rows.shape(step)),
    )
    return as_channels(gx), ggamma, gbeta, None if gadd is None else as_channels(gadd)


def batch_norm_train(x: Any, gamma: Any, beta: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.batch_norm_train says."""
    return batch_norm_learn(x, gamma, beta, eps=eps)[:3]


def batch_norm_fixed(x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, eps: float) -> Any:
    """As AbstractBackend.batch_norm_fixed says."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps)


def batch_norm_grad(gy: Any, x: Any, gamma: Any, mean: Any, var: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.batch_norm_grad says."""
    return batch_norm_gradients(gy, x, gamma, mean, var, eps=eps)[:3]


def batch_norm_relu_train(
    x: Any, gamma: Any, beta: Any, *, eps: float, add: Any | None = None
) -> tuple[Any, Any, Any, Any]:
    """As AbstractBackend.batch_norm_relu_train says; the mask has one bit a number. NaN stays NaN."""
    return batch_norm_learn(x, gamma, beta, eps=eps, add=add, relu=True)


def batch_norm_relu_fixed(
    x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, eps: float, add: Any | None = None
) -> Any:
    """As AbstractBackend.batch_norm_relu_fixed says. NaN stays NaN."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps, add=add, relu=True)


def batch_norm_relu_grad(
    gy: Any, x: Any, gamma: Any, mean: Any, var: Any, mask: Any, *, eps: float, adds: bool = False
) -> tuple[Any, ...]:
    """As AbstractBackend.batch_norm_relu_grad says."""
    found = batch_norm_gradients(gy, x, gamma, mean, var, eps=eps, mask=mask, adds=adds)
    return found if adds else found[:3]
