"""The focal loss of many anchors: class scores against one whole number an anchor, without a one-hot target."""

from collections.abc import Iterator
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.there import there
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda import loss as on_device
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.broadcast_to import broadcast_to
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside
from cvzoo.functions.loss.reduced import counted, reduced
from cvzoo.functions.loss.sigmoid_focal_loss import focal_slope_grads
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.sum import sum

BACKGROUND = -1
IGNORED = -2

# Scores of one block: they and what is computed from them stay in a level-2 cache
_BLOCK = 1 << 15


class _Places:
    """Where in the flat scores the rare cases are: all else is background, computed without looking.

    xp: the array module; t: (N,) labels; n_class: L
    yes: (P,) places of the true classes among the N * L scores, ascending; ignored: (I,) rows, ascending
    """

    def __init__(self, xp: Any, t: Any, n_class: int):
        rows = xp.flatnonzero(t >= 0)
        self.xp = xp
        self.n_class = n_class
        self.yes = rows * n_class + t[rows]
        self.ignored = xp.flatnonzero(t == IGNORED)

    def blocks(self, n_row: int) -> Iterator[tuple[slice, Any, Any]]:
        """(slice of the flat scores, places of `yes` in it, its ignored rows), rows never cut in two."""
        step = max(_BLOCK // self.n_class, 1)
        bounds = self.xp.arange(0, n_row + step, step)
        yes = self.xp.searchsorted(self.yes, bounds * self.n_class)
        ignored = self.xp.searchsorted(self.ignored, bounds)
        for i, start in enumerate(range(0, n_row, step)):
            first, last = start * self.n_class, min(start + step, n_row) * self.n_class
            yield (
                slice(first, last),
                self.yes[yes[i] : yes[i + 1]] - first,
                self.ignored[ignored[i] : ignored[i + 1]] - start,
            )


def _softplus(xp: Any, x: Any, out: Any, spare: Any) -> Any:
    """log(1 + exp(x)) into out: max(x, 0) + log1p(exp(-|x|)) neither overflows nor loses small numbers."""
    xp.abs(x, out=out)
    xp.negative(out, out=out)
    xp.exp(out, out=out)
    xp.log1p(out, out=out)
    xp.maximum(x, 0, out=spare)
    out += spare
    return out


def _wrongness(xp: Any, x: Any, softplus: Any, gamma: float, out: Any) -> Any:
    """sigmoid(x)**gamma into out, as exp(gamma * (x - softplus(x))): no 0 ** 0."""
    xp.subtract(x, softplus, out=out)
    if gamma != 1:
        out *= x.dtype.type(gamma)
    return xp.exp(out, out=out)


class FocalLoss(FunctionNode):
    """x (..., L) to a number: the sum over all scores. t: (N,) int64 labels of the flat rows."""

    def __init__(self, t: Any, alpha: float | None, gamma: float):
        self._t = t
        self._weights = (1.0, 1.0) if alpha is None else (alpha, 1 - alpha)
        self._gamma = gamma

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        xp = backend_of(x).xp
        n_class = x.shape[-1]
        flat = x.reshape(-1)
        places = _Places(xp, self._t, n_class)
        loss, spare, focus = xp.empty((3, max(_BLOCK, n_class)), x.dtype)
        negative = 0.0
        for block, yes, ignored in places.blocks(len(self._t)):
            now = flat[block]
            size = len(now)
            _softplus(xp, now, loss[:size], spare[:size])
            loss[:size] *= _wrongness(xp, now, loss[:size], self._gamma, focus[:size])
            loss[yes] = 0
            if len(ignored):
                loss[:size].reshape(-1, n_class)[ignored] = 0
            negative += float(loss[:size].sum())
        z = flat[places.yes]
        cost = xp.logaddexp(0, -z)
        positive = float((xp.exp(-self._gamma * xp.logaddexp(0, z)) * cost).sum())
        self._places = places
        total = self._weights[0] * positive + self._weights[1] * negative
        return (xp.asarray(total, x.dtype),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = self.get_retained_inputs()
        return FocalLossGrad(self._t, self._weights, self._gamma, self._places).apply((x, gys[0]))


class FocalLossGrad(FunctionNode):
    """x (..., L), gy () to gx: gy * weight * p**gamma * (gamma * (1 - p) * softplus(x) + p) where the answer is no.

    For the true class x counts as -x, and so does the slope. t: (N,) labels; weights: of yes and of no
    """

    def __init__(self, t: Any, weights: tuple[float, float], gamma: float, places: _Places):
        self._t = t
        self._weights = weights
        self._gamma = gamma
        self._places = places

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        xp = backend_of(x).xp
        n_class = x.shape[-1]
        flat = x.reshape(-1)
        gx = xp.empty(flat.shape, x.dtype)
        scale = x.dtype.type(self._weights[1] * float(gy))
        cost, spare = xp.empty((2, max(_BLOCK, n_class)), x.dtype)
        gamma = x.dtype.type(self._gamma)
        for block, _, ignored in self._places.blocks(len(self._t)):
            now, out = flat[block], gx[block]
            size = len(now)
            softplus, other = _softplus(xp, now, cost[:size], spare[:size]), spare[:size]
            xp.negative(softplus, out=other)
            xp.exp(other, out=other)  # 1 - p
            xp.multiply(other, softplus, out=out)
            out *= gamma
            out += 1
            out -= other  # gamma * (1 - p) * softplus + p
            _wrongness(xp, now, softplus, self._gamma, other)
            other *= scale
            out *= other
            if len(ignored):
                out.reshape(-1, n_class)[ignored] = 0
        z = flat[self._places.yes]
        cost = xp.logaddexp(0, -z)
        log_wrong = -xp.logaddexp(0, z)
        slope = xp.exp(gamma * log_wrong) * (gamma * xp.exp(-cost) * cost + xp.exp(log_wrong))
        gx[self._places.yes] = slope * x.dtype.type(-self._weights[0] * float(gy))
        return (gx.reshape(x.shape),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gy = self.get_retained_inputs()
        return _second_grads(indexes, x, gy, gys[0], self._t, self._weights, self._gamma)


class FocalLossOnDevice(FunctionNode):
    """The same on a GPU, in two launches; nobody looks for the rare cases there."""

    def __init__(self, t: Any, alpha: float | None, gamma: float):
        self._t = t
        self._weights = (1.0, 1.0) if alpha is None else (alpha, 1 - alpha)
        self._gamma = gamma

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (on_device.focal_loss(x, self._t, weights=self._weights, gamma=self._gamma),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = self.get_retained_inputs()
        return FocalLossOnDeviceGrad(self._t, self._weights, self._gamma).apply((x, gys[0]))


class FocalLossOnDeviceGrad(FunctionNode):
    def __init__(self, t: Any, weights: tuple[float, float], gamma: float):
        self._t = t
        self._weights = weights
        self._gamma = gamma

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        return (on_device.focal_loss_grad(gy, x, self._t, weights=self._weights, gamma=self._gamma),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        x, gy = self.get_retained_inputs()
        return _second_grads(indexes, x, gy, gys[0], self._t, self._weights, self._gamma)


def _second_grads(
    indexes: tuple[int, ...],
    x: Variable,
    gy: Variable,
    ggx: Variable,
    t: Any,
    weights: tuple[float, float],
    gamma: float,
) -> tuple[Variable, ...]:
    """The gradients of FocalLossGrad by x (0) and gy (1), those of `indexes`.

    They are asked for so rarely that the dense formula of sigmoid_focal_loss will do.
    """
    xp = x.xp
    t = t.reshape(-1, 1)
    yes = t == xp.arange(x.shape[-1])
    sign = xp.where(yes, 1, -1).astype(x.dtype).reshape(x.shape)
    weight = xp.where(t == IGNORED, 0.0, xp.where(yes, *weights)).astype(x.dtype).reshape(x.shape)
    grads = focal_slope_grads(indexes, x, broadcast_to(gy, x.shape), ggx, sign, weight, gamma)
    return tuple([grad if i == 0 else sum(grad) for i, grad in zip(indexes, grads)])


@there
def focal_loss(
    x: Any, t: Any, *, alpha: float | None = 0.25, gamma: float = 2.0, normalizer: float | None = None
) -> Variable:
    """The sum of -alpha_t * (1 - p_t)**gamma * log(p_t) over all scores, divided by `normalizer`: a number.

    x: (..., L) floating, a score for each of L classes, each a yes or no of its own
    t: (...) integers: the true class 0 to L - 1, -1 where none is (background), -2 where no score counts (ignored)
    alpha: the weight of yes, 1 - alpha being that of no; None for 1 and 1
    gamma: how much less sure answers count; 0 gives the cross entropy
    normalizer: None: the number of t >= 0, at least 1
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError for a label, alpha or gamma out of range;
    labels on a GPU are not looked at, and there one out of range makes the loss NaN.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017, section 4.1. Nearly all anchors are background,
    so that is computed in blocks which stay in the cache, and only the true classes get their own formula; the
    gradient is a second such pass.
    """
    x = widened(x)
    t = as_array(t)
    backend_of(t)
    if not is_float(x.dtype) or t.dtype.kind not in "iu":
        raise DtypeError("focal_loss: x must be floating and t of integers", got=f"x {x.dtype}, t {t.dtype}")
    if x.ndim < 1 or t.shape != x.shape[:-1]:
        raise ShapeError(
            "focal_loss: t needs one label where x has L scores",
            expected="x (..., L), t (...)",
            got=f"x {x.shape}, t {t.shape}",
            hint="sigmoid_focal_loss takes a 0 or 1 for each score" if t.shape == x.shape else None,
        )
    if alpha is not None and not 0 <= alpha <= 1:
        raise ValueRangeError("focal_loss: alpha must be within 0 and 1, or None", got=alpha)
    if not gamma >= 0:
        raise ValueRangeError("focal_loss: gamma must not be negative", got=gamma)
    if normalizer is not None and not normalizer > 0:
        raise ValueRangeError("focal_loss: normalizer must be positive", got=normalizer)
    t = t.reshape(-1)
    if not is_device_array(t):
        t = t.astype("int64")
        _check_labels(t, x.shape[-1])
    t = beside(t, x)
    if is_device_array(x.array):
        loss = FocalLossOnDevice(t, alpha, gamma).apply((x,))[0]
    else:
        loss = FocalLoss(t, alpha, gamma).apply((x,))[0]
    if normalizer is not None:
        return multiply(loss, 1.0 / normalizer)
    return reduced(loss, "mean", counted(t >= 0))


def _check_labels(t: Any, n_class: int) -> None:
    bad = (t < IGNORED) | (t >= n_class)
    if bad.any():
        first = int(bad.argmax())
        raise ValueRangeError(
            "focal_loss: a label is out of range",
            expected=f"0 to {n_class - 1}, -1 for background or -2 for ignored",
            got=f"{t[first]} at flat index {first}",
        )
