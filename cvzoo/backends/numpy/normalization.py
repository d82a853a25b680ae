"""Batch, layer and local response normalization."""

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.conv import channel_sum
from cvzoo.backends.numpy.memory import empty
from cvzoo.backends.sums import sum_along

__all__ = [
    "batch_norm_fixed",
    "batch_norm_grad",
    "batch_norm_statistics",
    "batch_norm_train",
    "layer_norm",
    "layer_norm_grad",
    "local_response_norm",
    "local_response_norm_grad",
    "n_strip",
]

_FEW = 256  # pixels that are summed sequentially
_WIDE = 4096  # the most channels of oneDNN's kernel for larger images


def n_strip(x: np.ndarray) -> int:
    """See `AbstractBackend.n_strip`: strips are as many channels for the kernel."""
    c, pixels = x.shape[1], x.shape[2] * x.shape[3]
    if pixels <= _FEW:
        return 1
    return next(k for k in range(max(min(_WIDE // c, pixels), 1), 0, -1) if pixels % k == 0)


def _across(v: np.ndarray, ndim: int) -> np.ndarray:
    """(C,) as (C, 1, ...): ready to be broadcast with (B, C, ...)."""
    return v.reshape(v.shape + (1,) * (ndim - 2))


def _centred(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x less its channels' means, these, and the biased variances."""
    count = max(x.size // max(x.shape[1], 1), 1)
    # two passes: the mean of squares less the squared mean would cancel
    mean = channel_sum(x) / x.dtype.type(count)
    centred = x - _across(mean, x.ndim)
    return centred, mean, channel_sum(centred * centred) / x.dtype.type(count)


@in_float32(rounds=False)
def batch_norm_statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_statistics`."""
    return _centred(x)[1:]


@in_float32
def batch_norm_train(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_train`."""
    centred, mean, var = _centred(x)
    centred *= _across(gamma / np.sqrt(var + x.dtype.type(eps)), x.ndim)
    centred += _across(beta, x.ndim)
    return centred, mean, var


@in_float32
def batch_norm_fixed(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> np.ndarray:
    """See `AbstractBackend.batch_norm_fixed`."""
    y = x - _across(mean, x.ndim)
    y *= _across(gamma / np.sqrt(var + var.dtype.type(eps)), x.ndim)
    y += _across(beta, x.ndim)
    return y


@in_float32
def batch_norm_grad(
    gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_grad`."""
    count = x.dtype.type(max(x.size // max(x.shape[1], 1), 1))
    inv_std = 1 / np.sqrt(var + var.dtype.type(eps))
    x_hat = x - _across(mean, x.ndim)
    x_hat *= _across(inv_std, x.ndim)
    gbeta = channel_sum(gy)
    ggamma = channel_sum(gy * x_hat)
    # gx is computed in place in x_hat, to save two arrays of x's size
    x_hat *= _across(-ggamma / count, x.ndim)
    x_hat += gy
    x_hat -= _across(gbeta / count, x.ndim)
    x_hat *= _across(gamma * inv_std, x.ndim)
    return x_hat, ggamma, gbeta


@in_float32
def layer_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.layer_norm`."""
    count = x.dtype.type(max(x.shape[1], 1))
    mean = sum_along(x, (1,)) / count
    y = x - mean[:, None]
    var = sum_along(y * y, (1,)) / count
    y *= 1 / np.sqrt(var + x.dtype.type(eps))[:, None]
    y *= gamma
    y += beta
    return y, mean, var


@in_float32
def layer_norm_grad(
    gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.layer_norm_grad`."""
    count = x.dtype.type(max(x.shape[1], 1))
    inv_std = 1 / np.sqrt(var + x.dtype.type(eps))[:, None]
    x_hat = (x - mean[:, None]) * inv_std
    ggamma, gbeta = sum_along(gy * x_hat, (0,)), sum_along(gy, (0,))
    gx = gy * gamma
    along = sum_along(gx * x_hat, (1,), keepdims=True) / count
    gx -= sum_along(gx, (1,), keepdims=True) / count
    gx -= x_hat * along
    gx *= inv_std
    return gx, ggamma, gbeta


def _channel_window_sum(x: np.ndarray, before: int, after: int) -> np.ndarray:
    """For each channel the sum over the channels from `before` below it to `after` above it."""
    y = empty(x.shape, x.dtype)
    y[...] = x
    c = x.shape[1]
    for k in range(1, min(before, c - 1) + 1):
        y[:, k:] += x[:, :-k]
    for k in range(1, min(after, c - 1) + 1):
        y[:, :-k] += x[:, k:]
    return y


@in_float32
def local_response_norm(x: np.ndarray, *, n: int, k: float, alpha: float, beta: float) -> np.ndarray:
    """See `AbstractBackend.local_response_norm`; an even n takes one more channel below than above."""
    scale = _channel_window_sum(x * x, n // 2, n - 1 - n // 2)
    scale *= alpha
    scale += k
    scale **= -beta
    scale *= x
    return scale


@in_float32
def local_response_norm_grad(
    gy: np.ndarray, x: np.ndarray, *, n: int, k: float, alpha: float, beta: float
) -> np.ndarray:
    """See `AbstractBackend.local_response_norm_grad`."""
    scale = _channel_window_sum(x * x, n // 2, n - 1 - n // 2)
    scale *= alpha
    scale += k
    power = scale**-beta
    through = _channel_window_sum(gy * x * power / scale, n - 1 - n // 2, n // 2)
    through *= x
    through *= -2 * alpha * beta
    power *= gy
    power += through
    return power
