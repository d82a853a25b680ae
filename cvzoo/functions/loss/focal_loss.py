"""Focal loss of mutually exclusive and of independent classes."""

from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.label_weights import sign_and_weight
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.sigmoid import sigmoid, softplus
from cvzoo.functions.array.broadcast import broadcast_to
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_labels, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.functions.math.exponential import exp
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array

BACKGROUND = -1  # no class is the right one: every score is a negative
IGNORED = -2  # its scores count neither way


class FocalLoss(FunctionNode):
    """x (..., L) to a number: the sum over all scores. t: (N,) labels of the flat rows."""

    def __init__(self, t: Array, alpha: float | None, gamma: float):
        self._t = t
        self._weights = (1.0, 1.0) if alpha is None else (alpha, 1 - alpha)
        self._gamma = gamma

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (backend_of(x).focal_loss(x, self._t, weights=self._weights, gamma=self._gamma),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        return FocalLossGrad(self._t, self._weights, self._gamma).apply((x, gys[0]))


class FocalLossGrad(FunctionNode):
    def __init__(self, t: Array, weights: tuple[float, float], gamma: float):
        self._t = t
        self._weights = weights
        self._gamma = gamma

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        return (backend_of(x).focal_loss_grad(gy, x, self._t, weights=self._weights, gamma=self._gamma),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gy = self.get_retained_inputs()
        return _second_grads(indexes, x, gy, gys[0], self._t, self._weights, self._gamma)


def _second_grads(
    indexes: tuple[int, ...],
    x: Variable,
    gy: Variable,
    ggx: Variable,
    t: Array,
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


@on_device_of_arguments
def focal_loss(
    x: Variable | Array,
    t: Variable | Array,
    *,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    normalizer: float | None = None,
) -> Variable:
    """The sum of -alpha_t * (1 - p_t)**gamma * log(p_t) over all scores, divided by `normalizer`: a number.

    x: (..., L) floating, a score for each of L classes, each a yes or no of its own
    t: (...) integers: the true class 0 to L - 1, -1 where none is (background), -2 where no score counts (ignored)
    alpha: the weight of yes, 1 - alpha being that of no; None for 1 and 1
    gamma: how much less sure answers count; 0 gives the cross entropy
    normalizer: None: the number of t >= 0, at least 1
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError for a label, alpha or gamma out of range;
    labels on a GPU are not checked: one out of range makes the loss NaN.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017, section 4.1.
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
    _check_labels(t, x.shape[-1])
    t = beside(t, x)
    loss = FocalLoss(t, alpha, gamma).apply((x,))[0]
    if normalizer is not None:
        return multiply(loss, 1.0 / normalizer)
    return reduced(loss, "mean", t >= 0)


def _check_labels(t: Array, n_class: int) -> None:
    extremes = range_of(t)
    if extremes and not (extremes[0] >= IGNORED and extremes[1] < n_class):
        first = int(((t < IGNORED) | (t >= n_class)).argmax())
        raise ValueRangeError(
            "focal_loss: a label is out of range",
            expected=f"0 to {n_class - 1}, -1 for background or -2 for ignored",
            got=f"{t[first]} at flat index {first}",
        )


class SigmoidFocalLoss(FunctionNode):
    """x to weight * q**gamma * softplus(-z), q = sigmoid(-z) the probability of being wrong: z is x for yes, -x for no.

    t: x's shape, integers 1, 0 or ignore_label
    """

    def __init__(self, t: Array, weights: tuple[float, float], gamma: float, ignore_label: int):
        self._t = t
        self._settings: dict[str, Any] = {"weights": weights, "gamma": gamma, "ignore_label": ignore_label}

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (backend_of(x).sigmoid_focal_loss(x, self._t, **self._settings),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        return SigmoidFocalLossGrad(self._t, self._settings).apply((x, gys[0]))


class SigmoidFocalLossGrad(FunctionNode):
    """x, gy to gx = -gy * sign * weight * q**gamma * (gamma * (1 - q) * softplus(-z) + q)."""

    def __init__(self, t: Array, settings: dict[str, Any]):
        self._t = t
        self._settings = settings

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        return (backend_of(x).sigmoid_focal_loss_grad(gy, x, self._t, **self._settings),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gy = self.get_retained_inputs()
        weights, ignore_label = self._settings["weights"], self._settings["ignore_label"]
        sign, weight = sign_and_weight(x.xp, self._t, weights, ignore_label, x.dtype)
        return focal_slope_grads(indexes, x, gy, gys[0], sign, weight, self._settings["gamma"])


def focal_slope_grads(
    indexes: tuple[int, ...], x: Variable, gy: Variable, ggx: Variable, sign: Array, weight: Array, gamma: float
) -> tuple[Variable, ...]:
    """The gradients of SigmoidFocalLossGrad by x (0) and gy (1), those of `indexes`, all of x's shape.

    With p = 1 - q and s = softplus(-z), the derivative by z of -q**gamma * (gamma * p * s + q) is
    q**gamma * p * (gamma**2 * p * s + (2 * gamma + 1) * q - gamma * q * s).
    """
    z = multiply(x, sign)
    p, q, s = sigmoid(z), sigmoid(multiply(z, -1.0)), softplus(multiply(z, -1.0))
    # q ** gamma by its logarithm, which is finite even where q rounds to 0
    weighted = multiply(exp(multiply(softplus(z), -gamma)), weight)
    ps = multiply(p, s)
    grads = []
    for i in indexes:
        if i == 0:
            bend = add(multiply(ps, gamma * gamma), multiply(q, 2 * gamma + 1))
            bend = add(bend, multiply(multiply(q, s), -gamma))
            grads.append(multiply(multiply(multiply(weighted, p), bend), multiply(gy, ggx)))
        else:
            slope = multiply(weighted, add(multiply(ps, gamma), q))
            grads.append(multiply(multiply(slope, ggx), -sign))
    return tuple(grads)


@on_device_of_arguments
def sigmoid_focal_loss(
    x: Variable | Array,
    t: Variable | Array,
    *,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    reduce: str = "mean",
    ignore_label: int = -1,
) -> Variable:
    """-alpha_t * (1 - p_t)**gamma * log(p_t), p_t being the probability of the true label: a number, or x's shape.

    x: scores of any shape
    t: x's shape; integers 1 (yes), 0 (no) or ignore_label
    alpha: the weight of yes, 1 - alpha being that of no; None for 1 and 1
    gamma: how much less sure answers count; 0 gives the cross entropy
    reduce: "mean" (over what is not ignored), "sum" or "no"
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError that names the first label out of range;
    labels on a GPU are not checked: one out of range makes the loss and the gradient NaN.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017. Where we differ: the paper divides the sum by
    the number of boxes that are assigned to an object; take reduce="sum" and divide by that.
    """
    x = widened(x)
    t = as_array(t)
    check_reduce(reduce, function="sigmoid_focal_loss")
    check_like(x, t, function="sigmoid_focal_loss")
    check_labels(t, t != ignore_label, 2, function="sigmoid_focal_loss")
    weights = (1.0, 1.0) if alpha is None else (alpha, 1 - alpha)
    t = beside(t, x)
    loss = SigmoidFocalLoss(t, weights, gamma, ignore_label).apply((x,))[0]
    return reduced(loss, reduce, t != ignore_label)
