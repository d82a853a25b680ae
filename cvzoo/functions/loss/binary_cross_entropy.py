"""Cross entropy of independent yes-or-no answers, from probabilities."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside, check_like
from cvzoo.functions.loss.reduced import check_reduce, reduced
from cvzoo.functions.math.add import add, subtract
from cvzoo.functions.math.clip import clip
from cvzoo.functions.math.exponential import log
from cvzoo.functions.math.multiply import multiply
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
    p = clip(p, step, 1 - step)
    log_likelihood = add(multiply(log(p), t), multiply(log(subtract(1.0, p)), 1 - t))
    return reduced(multiply(log_likelihood, -1.0), reduce, t.size)
