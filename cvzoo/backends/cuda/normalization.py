"""Batch, layer and local response normalization by our own CUDA C."""

import numpy as np

from cvzoo.backends.cuda.layout import as_channels, as_vector, can_vectorize, lanes_for, new_rows, pixel_rows, sum_dtype
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelModule, blocks, suffix
from cvzoo.typing.aliases import Array

__all__ = [
    "batch_norm_fixed",
    "batch_norm_grad",
    "batch_norm_relu_fixed",
    "batch_norm_relu_grad",
    "batch_norm_relu_train",
    "batch_norm_statistics",
    "batch_norm_train",
    "layer_norm",
    "layer_norm_grad",
    "local_response_norm",
    "local_response_norm_grad",
    "n_strip",
]


_KERNELS = KernelModule("batch_norm")
_BLOCK = (256, 1, 1)
_ENOUGH = 1024  # blocks that keep any GPU busy; chosen per GPU, it would change the order of sums, and so their bits
_TURNS = 8  # rows per thread, to amortize the loads of its channels' parameters


class _Rows:
    """x as rows of channels, and their division among thread blocks."""

    def __init__(self, x: Array, *others: Array | None):
        self.x = pixel_rows(x)
        self.others = [None if other is None else pixel_rows(other) for other in others]
        self.c = x.shape[1]
        self.count = x.size // self.c
        self.suffix = suffix(x.dtype)
        self.wide = sum_dtype(x.dtype)
        self.wide_suffix = suffix(self.wide)
        self.lanes = lanes_for(self.c)
        self.groups = -(-self.c // (self.lanes * 8))
        self.height = 256 // self.lanes
        self.vectorized = can_vectorize(self.c, self.x, *self.others)

    def division(self) -> tuple[int, int]:
        """Rows per block, and the number of blocks."""
        blocks = max(1, min(-(-_ENOUGH // self.groups), -(-self.count // (4 * self.height))))
        step = -(-self.count // blocks)
        return step, -(-self.count // step)

    def shape(self, step: int) -> tuple[np.generic, ...]:
        """The last arguments of most kernels."""
        return np.int64(self.count), np.int32(self.c), np.int64(step), np.int32(self.lanes), self.vectorized

    def grid(self) -> tuple[int, tuple[int, int, int]]:
        """Rows per block, and the grid, of kernels that make one pass over x."""
        step = self.height * _TURNS
        return step, (-(-self.count // step), self.groups, 1)

    def parameter(self, v: Array) -> Array:
        """v (C,) in the kernels' dtype."""
        return as_vector(v, self.wide)


def n_strip(x: Array) -> int:
    """See `AbstractBackend.n_strip`: the kernel's threads sum strips of their own."""
    return 1


def batch_norm_statistics(x: Array) -> tuple[Array, Array]:
    """See `AbstractBackend.batch_norm_statistics`: float64 of float64, else float32; 0 of no pixels."""
    xp = cupy()
    if not x.size:
        wide = sum_dtype(x.dtype)
        return xp.zeros(x.shape[1], wide), xp.zeros(x.shape[1], wide)
    return _statistics(_Rows(x))


def _statistics(rows: _Rows) -> tuple[Array, Array]:
    xp = cupy()
    step, parts = rows.division()
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


def _apply(
    rows: _Rows, gamma: Array, beta: Array, mean: Array, var: Array, eps: float, relu: bool, masked: bool
) -> tuple:
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
    x: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    var: Array,
    *,
    eps: float,
    add: Array | None = None,
    relu: bool = False,
) -> Array:
    """gamma * (x - mean) / sqrt(var + eps) + beta + add, and with `relu` the ReLU of that (NaN stays NaN).

    x, add: (B, C, ...); gamma, beta, mean, var: (C,), float32 for 16-bit x
    """
    if not x.size:
        return as_channels(new_rows(x))
    return _apply(_Rows(x, add), gamma, beta, mean, var, eps, relu, False)[0]


def batch_norm_forward(
    x: Array, gamma: Array, beta: Array, *, eps: float, add: Array | None = None, relu: bool = False
) -> tuple[Array, Array, Array, Array | None]:
    """y of batch_norm_apply with the mean and variance of x, these two, and a mask.

    mask: (pixels, ceil(C / 8)) uint8, a bit per value, set where y > 0; None without `relu`
    """
    if not x.size:
        mask = cupy().empty((0, -(-x.shape[1] // 8)), np.uint8) if relu else None
        return (as_channels(new_rows(x)), *batch_norm_statistics(x), mask)
    rows = _Rows(x, add)
    mean, var = _statistics(rows)
    y, mask = _apply(rows, gamma, beta, mean, var, eps, relu, relu)
    return y, mean, var, mask


def batch_norm_gradients(
    gy: Array,
    x: Array,
    gamma: Array,
    mean: Array,
    var: Array,
    *,
    eps: float,
    mask: Array | None = None,
    adds: bool = False,
) -> tuple[Array, Array, Array, Array | None]:
    """gx, ggamma, gbeta and, if there was an addend (`adds`), its gradient, else None.

    mask: of batch_norm_forward; None without ReLU
    """
    xp = cupy()
    if not x.size:
        wide = sum_dtype(x.dtype)
        empty = as_channels(new_rows(x))
        return empty, xp.zeros(x.shape[1], wide), xp.zeros(x.shape[1], wide), empty.copy() if adds else None
    rows = _Rows(x, gy)
    (rows_gy,) = rows.others
    gamma, mean, var = [rows.parameter(v) for v in (gamma, mean, var)]
    step, parts = rows.division()
    partial = xp.empty((2, parts, rows.c), rows.wide)
    ggamma, gbeta = xp.empty(rows.c, rows.wide), xp.empty(rows.c, rows.wide)
    _KERNELS.launch(
        f"bn_gradient_sums_{rows.suffix}",
        (rows.groups, parts, 1),
        _BLOCK,
        (rows_gy, rows.x, mask, mean, partial, *rows.shape(step)),
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
        (rows_gy, rows.x, mask, gx, gadd, gamma, mean, var, ggamma, gbeta, np.float64(eps), *rows.shape(step)),
    )
    return as_channels(gx), ggamma, gbeta, None if gadd is None else as_channels(gadd)


def batch_norm_train(x: Array, gamma: Array, beta: Array, *, eps: float) -> tuple[Array, Array, Array]:
    """See `AbstractBackend.batch_norm_train`."""
    return batch_norm_forward(x, gamma, beta, eps=eps)[:3]


def batch_norm_fixed(x: Array, gamma: Array, beta: Array, mean: Array, var: Array, *, eps: float) -> Array:
    """See `AbstractBackend.batch_norm_fixed`."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps)


def batch_norm_grad(
    gy: Array, x: Array, gamma: Array, mean: Array, var: Array, *, eps: float
) -> tuple[Array, Array, Array]:
    """See `AbstractBackend.batch_norm_grad`."""
    return batch_norm_gradients(gy, x, gamma, mean, var, eps=eps)[:3]


def batch_norm_relu_train(
    x: Array, gamma: Array, beta: Array, *, eps: float, add: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """See `AbstractBackend.batch_norm_relu_train`; the mask has one bit per value. NaN stays NaN."""
    y, mean, var, mask = batch_norm_forward(x, gamma, beta, eps=eps, add=add, relu=True)
    assert mask is not None  # with relu
    return y, mean, var, mask


def batch_norm_relu_fixed(
    x: Array, gamma: Array, beta: Array, mean: Array, var: Array, *, eps: float, add: Array | None = None
) -> Array:
    """See `AbstractBackend.batch_norm_relu_fixed`. NaN stays NaN."""
    return batch_norm_apply(x, gamma, beta, mean, var, eps=eps, add=add, relu=True)


def batch_norm_relu_grad(
    gy: Array, x: Array, gamma: Array, mean: Array, var: Array, mask: Array, *, eps: float, adds: bool = False
) -> tuple[Array, ...]:
    """See `AbstractBackend.batch_norm_relu_grad`."""
    gx, ggamma, gbeta, gadd = batch_norm_gradients(gy, x, gamma, mean, var, eps=eps, mask=mask, adds=adds)
    return (gx, ggamma, gbeta) if gadd is None else (gx, ggamma, gbeta, gadd)


_LAYER_KERNELS = KernelModule("layer_norm")
_LONG = 4096  # elements of a row from which on it gets a block; shorter rows get a warp each
_ENOUGH_ROWS = 512  # likewise, for one block per row


def _team(count: int, length: int) -> tuple[str, tuple[int, int, int]]:
    return ("block", (count, 1, 1)) if length >= _LONG else ("warp", (-(-count // 8), 1, 1))


def layer_norm(x: Array, gamma: Array, beta: Array, *, eps: float) -> tuple[Array, Array, Array]:
    """See `AbstractBackend.layer_norm`."""
    xp, wide = cupy(), sum_dtype(x.dtype)
    n, length = x.shape
    x = xp.ascontiguousarray(x)
    y = xp.empty_like(x)
    if not x.size:
        return y, xp.zeros(n, wide), xp.zeros(n, wide)
    mean, var = xp.empty(n, wide), xp.empty(n, wide)
    gamma, beta = as_vector(gamma, wide), as_vector(beta, wide)
    vectorized = can_vectorize(length, x, gamma, beta)
    team, grid = _team(n, length)
    _LAYER_KERNELS.launch(
        f"ln_forward_{team}_{suffix(x.dtype)}",
        grid,
        _BLOCK,
        (x, gamma, beta, y, mean, var, np.float64(eps), np.int64(n), np.int32(length), vectorized),
    )
    return y, mean, var


def layer_norm_grad(
    gy: Array, x: Array, gamma: Array, mean: Array, var: Array, *, eps: float
) -> tuple[Array, Array, Array]:
    """See `AbstractBackend.layer_norm_grad`."""
    xp, wide = cupy(), sum_dtype(x.dtype)
    n, length = x.shape
    x, gy = xp.ascontiguousarray(x), xp.ascontiguousarray(gy)
    gx = xp.empty_like(x)
    if not x.size:
        return gx, xp.zeros(length, wide), xp.zeros(length, wide)
    gamma, mean, var = [as_vector(v, wide) for v in (gamma, mean, var)]
    name, vectorized = suffix(x.dtype), can_vectorize(length, x, gy, gamma)
    team, grid = _team(n, length)
    _LAYER_KERNELS.launch(
        f"ln_gradient_{team}_{name}",
        grid,
        _BLOCK,
        (gy, x, gamma, mean, var, gx, np.float64(eps), np.int64(n), np.int32(length), vectorized),
    )
    lanes = lanes_for(length)
    groups, height = -(-length // (lanes * 8)), 256 // lanes
    parts = max(1, min(-(-_ENOUGH_ROWS // groups), -(-n // (4 * height))))
    step = -(-n // parts)
    parts = -(-n // step)
    partial = xp.empty((2, parts, length), wide)
    ggamma, gbeta = xp.empty(length, wide), xp.empty(length, wide)
    _LAYER_KERNELS.launch(
        f"ln_gradient_sums_{name}",
        (groups, parts, 1),
        _BLOCK,
        (gy, x, mean, var, partial, np.float64(eps), np.int64(n), np.int32(length), np.int64(step), np.int32(lanes))
        + (vectorized,),
    )
    _LAYER_KERNELS.launch(
        f"ln_gradient_merge_{suffix(wide)}",
        (-(-length // 32), 1, 1),
        (32, 8, 1),
        (partial, ggamma, gbeta, np.int32(length), np.int32(parts)),
    )
    return gx, ggamma, gbeta


_RESPONSE_KERNELS = KernelModule("response_norm")


def _numbers(x: Array, n: int, k: float, alpha: float, beta: float) -> tuple[np.generic, ...]:
    below = n // 2
    return (np.int64(x.size), np.int32(x.shape[-1]), np.int32(below), np.int32(n - 1 - below)) + tuple(
        np.float64(v) for v in (k, alpha, beta)
    )


def local_response_norm(x: Array, *, n: int, k: float, alpha: float, beta: float) -> Array:
    """See `AbstractBackend.local_response_norm`; of an even n, the window has one more channel below than above."""
    if not x.size:
        return as_channels(new_rows(x))
    x = pixel_rows(x)
    y = cupy().empty_like(x)
    name = f"lrn_forward_{suffix(x.dtype)}"
    _RESPONSE_KERNELS.launch(name, blocks(x.size), _BLOCK, (x, y, *_numbers(x, n, k, alpha, beta)))
    return as_channels(y)


def local_response_norm_grad(gy: Array, x: Array, *, n: int, k: float, alpha: float, beta: float) -> Array:
    """See `AbstractBackend.local_response_norm_grad`."""
    if not x.size:
        return as_channels(new_rows(x))
    xp = cupy()
    x, gy = pixel_rows(x), pixel_rows(gy)
    terms = xp.empty(x.shape, sum_dtype(x.dtype))
    gx = xp.empty_like(x)
    name, grid, numbers = suffix(x.dtype), blocks(x.size), _numbers(x, n, k, alpha, beta)
    _RESPONSE_KERNELS.launch(f"lrn_terms_{name}", grid, _BLOCK, (gy, x, terms, *numbers))
    _RESPONSE_KERNELS.launch(f"lrn_gradient_{name}", grid, _BLOCK, (gy, x, terms, gx, *numbers))
    return as_channels(gx)
