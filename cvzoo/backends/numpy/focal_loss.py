"""The focal loss of many anchors, one integer label per anchor.

Nearly all anchors are background, so that is computed in blocks that stay in the cache, and only the true classes get
their own formula; the gradient is a second such pass.
"""

from collections.abc import Iterator

import numpy as np

__all__ = ["focal_loss", "focal_loss_grad"]

_IGNORED = -2
# Scores of one block: they and what is computed from them stay in a level-2 cache
_BLOCK = 1 << 15


class _Places:
    """Where in the flat scores the rare cases are: all else is background, computed without looking.

    t: (N,) labels; n_class: L
    yes: (P,) places of the true classes among the N * L scores, ascending; ignored: (I,) rows, ascending
    """

    def __init__(self, t: np.ndarray, n_class: int):
        t = t.reshape(-1).astype(np.int64)
        rows = np.flatnonzero(t >= 0)
        self.n_row = len(t)
        self.n_class = n_class
        self.yes = rows * n_class + t[rows]
        self.ignored = np.flatnonzero(t == _IGNORED)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """(slice of the flat scores, places of `yes` in it, its ignored rows), rows never cut in two."""
        step = max(_BLOCK // self.n_class, 1)
        bounds = np.arange(0, self.n_row + step, step)
        yes = np.searchsorted(self.yes, bounds * self.n_class)
        ignored = np.searchsorted(self.ignored, bounds)
        for i, start in enumerate(range(0, self.n_row, step)):
            first, last = start * self.n_class, min(start + step, self.n_row) * self.n_class
            yield (
                slice(first, last),
                self.yes[yes[i] : yes[i + 1]] - first,
                self.ignored[ignored[i] : ignored[i + 1]] - start,
            )


def _softplus(x: np.ndarray, out: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)) into out: max(x, 0) + log1p(exp(-|x|)) neither overflows nor loses small numbers."""
    np.abs(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.maximum(x, 0, out=spare)
    out += spare
    return out


def _wrongness(x: np.ndarray, softplus: np.ndarray, gamma: float, out: np.ndarray) -> np.ndarray:
    """sigmoid(x)**gamma into out, as exp(gamma * (x - softplus(x))): no 0 ** 0."""
    np.subtract(x, softplus, out=out)
    if gamma != 1:
        out *= x.dtype.type(gamma)
    return np.exp(out, out=out)


def focal_loss(x: np.ndarray, t: np.ndarray, *, weights: tuple[float, float], gamma: float) -> np.ndarray:
    """See `AbstractBackend.focal_loss`."""
    n_class = x.shape[-1]
    flat = x.reshape(-1)
    places = _Places(t, n_class)
    loss, spare, focus = np.empty((3, max(_BLOCK, n_class)), x.dtype)
    negative = 0.0
    for block, yes, ignored in places.blocks():
        now = flat[block]
        size = len(now)
        _softplus(now, loss[:size], spare[:size])
        loss[:size] *= _wrongness(now, loss[:size], gamma, focus[:size])
        loss[yes] = 0
        if len(ignored):
            loss[:size].reshape(-1, n_class)[ignored] = 0
        negative += float(loss[:size].sum())
    z = flat[places.yes]
    cost = np.logaddexp(0, -z)
    positive = float((np.exp(-gamma * np.logaddexp(0, z)) * cost).sum())
    return np.asarray(weights[0] * positive + weights[1] * negative, x.dtype)


def focal_loss_grad(
    gy: np.ndarray, x: np.ndarray, t: np.ndarray, *, weights: tuple[float, float], gamma: float
) -> np.ndarray:
    """See `AbstractBackend.focal_loss_grad`.

    It is gy * weight * p**gamma * (gamma * (1 - p) * softplus(x) + p) where the answer is no; for the true class x
    counts as -x, and so does the slope.
    """
    n_class = x.shape[-1]
    flat = x.reshape(-1)
    places = _Places(t, n_class)
    gx = np.empty(flat.shape, x.dtype)
    scale = x.dtype.type(weights[1] * float(gy))
    cost, spare = np.empty((2, max(_BLOCK, n_class)), x.dtype)
    exponent = x.dtype.type(gamma)
    for block, _, ignored in places.blocks():
        now, out = flat[block], gx[block]
        size = len(now)
        softplus, other = _softplus(now, cost[:size], spare[:size]), spare[:size]
        np.negative(softplus, out=other)
        np.exp(other, out=other)  # 1 - p
        np.multiply(other, softplus, out=out)
        out *= exponent
        out += 1
        out -= other  # gamma * (1 - p) * softplus + p
        _wrongness(now, softplus, gamma, other)
        other *= scale
        out *= other
        if len(ignored):
            out.reshape(-1, n_class)[ignored] = 0
    z = flat[places.yes]
    right, log_wrong = np.logaddexp(0, -z), -np.logaddexp(0, z)
    slope = np.exp(exponent * log_wrong) * (exponent * np.exp(-right) * right + np.exp(log_wrong))
    gx[places.yes] = slope * x.dtype.type(-weights[0] * float(gy))
    return gx.reshape(x.shape)
