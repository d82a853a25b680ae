"""Binary cross entropy, from probabilities and from logits."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_labels, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.functions.math.exponential import log
from cvzoo.functions.math.extremum import clip
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def binary_cross_entropy(p: Variable | Array, t: Variable | Array, *, reduce: str = "mean") -> Variable:
    """-(t * log(p) + (1 - t) * log(1 - p)): a number, or p's shape with reduce="no".

    p: probabilities of any shape; clipped to the dtype's epsilon and 1 minus it, so that the loss of a
        confident wrong prediction is finite (with a gradient of 0: for logits, prefer sigmoid_cross_entropy)
    t: p's shape, 0 to 1, integers or floating
    reduce: "mean", "sum" or "no"
    Raises ShapeError if the shapes differ, ValueRangeError if p or t leaves 0 to 1. Arrays on a GPU are not checked:
    such a p is clipped, and such a t makes the loss NaN.
    """
    p = widened(p)
    t = as_array(t)
    check_reduce(reduce, function="binary_cross_entropy")
    check_like(p, t, function="binary_cross_entropy", names=("p", "t"))
    for name, value in (("p", as_array(p)), ("t", t)):
        extremes = range_of(value)
        if extremes and not (extremes[0] >= 0 and extremes[1] <= 1):
            raise ValueRangeError(
                f"binary_cross_entropy: {name} must be within 0 and 1",
                got=f"{extremes[0]} to {extremes[1]}",
                hint="sigmoid_cross_entropy takes scores" if name == "p" else None,
            )
    t = beside(t, p)
    t = backend_of(t).binary_targets(t, p.dtype)
    step = float(backend_of(t).xp.finfo(p.dtype).eps)
    # log(0) is infinite, and 0 * inf would be NaN
    p = clip(p, step, 1 - step)
    log_likelihood = add(multiply(log(p), t), multiply(log(subtract(1.0, p)), 1 - t))
    return reduced(multiply(log_likelihood, -1.0), reduce, t.size)


class SigmoidCrossEntropy(FunctionNode):
    """x to softplus(x) - t * x, or 0 where `valid` is False. t and valid have x's shape, t its dtype."""

    def __init__(self, t: Array, valid: Array | None):
        self._t = t
        self._valid = valid

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        self.retain_inputs((0,))
        return (backend_of(x).sigmoid_cross_entropy(x, self._t, self._valid),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        (x,) = self.get_retained_inputs()
        slope = subtract(sigmoid(x), self._t)
        if self._valid is not None:
            slope = multiply(slope, self._valid.astype(x.dtype))
        return (multiply(slope, gys[0]),)


@on_device_of_arguments
def sigmoid_cross_entropy(
    x: Variable | Array, t: Variable | Array, *, normalize: bool = True, reduce: str = "mean", ignore_label: int = -1
) -> Variable:
    """-(t * log(sigmoid(x)) + (1 - t) * log(1 - sigmoid(x))): a number, or x's shape with reduce="no".

    x: scores of any shape
    t: x's shape; integers 0, 1 or ignore_label, or probabilities of a floating dtype
    normalize: the mean is over the answers that are not ignored; else the sum is divided by x.shape[0]
    reduce: "mean", "sum" or "no"
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError if a target is out of range (on a GPU,
    unchecked on a GPU, where the loss is NaN instead).
    """
    x = widened(x)
    t = as_array(t)
    check_reduce(reduce, function="sigmoid_cross_entropy")
    check_like(x, t, function="sigmoid_cross_entropy")
    if is_float(t.dtype):
        extremes = range_of(t)
        if extremes and not (extremes[0] >= 0 and extremes[1] <= 1):
            raise ValueRangeError(
                "sigmoid_cross_entropy: a target is not a probability", got=f"{extremes[0]} to {extremes[1]}"
            )
        targets = beside(t, x)
        valid, count = None, t.size
    else:
        valid = t != ignore_label
        check_labels(t, valid, 2, function="sigmoid_cross_entropy")
        targets = beside(backend_of(t).xp.where(valid, t, 0), x)
        valid = beside(valid, x)
        count = valid
    loss = SigmoidCrossEntropy(backend_of(targets).binary_targets(targets, x.dtype), valid).apply((x,))[0]
    return reduced(loss, reduce, count if normalize else (x.shape[0] if x.ndim else 1))
