"""Layer normalization by kernels/layer_norm.cu."""

from typing import Any

import numpy as np

from cvzoo.backends.cuda.kernel_module import KernelModule
from cvzoo.backends.cuda.pixel_rows import are_whole, as_vector, lanes_for
from cvzoo.backends.cuda.suffix import suffix
from cvzoo.backends.cupy.library import cupy

__all__ = ["layer_norm", "layer_norm_grad"]

_KERNELS = KernelModule("layer_norm")
_BLOCK = (256, 1, 1)
_LONG = 4096  # a row of so many numbers is worth a block, shorter ones a warp each
_ENOUGH = 512  # blocks that keep any GPU busy; a number of its own would change the sums' order


def _team(count: int, length: int) -> tuple[str, tuple[int, int, int]]:
    return ("block", (count, 1, 1)) if length >= _LONG else ("warp", (-(-count // 8), 1, 1))


def _wide(x: Any) -> Any:
    return np.float64 if x.dtype == np.float64 else np.float32


def layer_norm(x: Any, gamma: Any, beta: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.layer_norm says."""
    xp, wide = cupy(), _wide(x)
    n, length = x.shape
    x = xp.ascontiguousarray(x)
    y = xp.empty_like(x)
    if not x.size:
        return y, xp.zeros(n, wide), xp.zeros(n, wide)
    mean, var = xp.empty(n, wide), xp.empty(n, wide)
    gamma, beta = as_vector(gamma, wide), as_vector(beta, wide)
    whole = are_whole(length, x, gamma, beta)
    team, grid = _team(n, length)
    _KERNELS.launch(
        f"ln_forward_{team}_{suffix(x.dtype)}",
        grid,
        _BLOCK,
        (x, gamma, beta, y, mean, var, np.float64(eps), np.int64(n), np.int32(length), whole),
    )
    return y, mean, var


def layer_norm_grad(gy: Any, x: Any, gamma: Any, mean: Any, var: Any, *, eps: float) -> tuple[Any, Any, Any]:
    """As AbstractBackend.layer_norm_grad says."""
    xp, wide = cupy(), _wide(x)
    n, length = x.shape
    x, gy = xp.ascontiguousarray(x), xp.ascontiguousarray(gy)
    gx = xp.empty_like(x)
    if not x.size:
        return gx, xp.zeros(length, wide), xp.zeros(length, wide)
    gamma, mean, var = [as_vector(v, wide) for v in (gamma, mean, var)]
    name, whole = suffix(x.dtype), are_whole(length, x, gy, gamma)
    team, grid = _team(n, length)
    _KERNELS.launch(
        f"ln_gradient_{team}_{name}",
        grid,
        _BLOCK,
        (gy, x, gamma, mean, var, gx, np.float64(eps), np.int64(n), np.int32(length), whole),
    )
    lanes = lanes_for(length)
    groups, height = -(-length // (lanes * 8)), 256 // lanes
    parts = max(1, min(-(-_ENOUGH // groups), -(-n // (4 * height))))
    step = -(-n // parts)
    parts = -(-n // step)
    partial = xp.empty((2, parts, length), wide)
    ggamma, gbeta = xp.empty(length, wide), xp.empty(length, wide)
    _KERNELS.launch(
        f"ln_gradient_sums_{name}",
        (groups, parts, 1),
        _BLOCK,
        (gy, x, mean, var, partial, np.float64(eps), np.int64(n), np.int32(length), np.int64(step), np.int32(lanes))
        + (whole,),
    )
    _KERNELS.launch(
        f"ln_gradient_merge_{suffix(np.dtype(wide))}",
        (-(-length // 32), 1, 1),
        (32, 8, 1),
        (partial, ggamma, gbeta, np.int32(length), np.int32(parts)),
    )
    return gx, ggamma, gbeta
