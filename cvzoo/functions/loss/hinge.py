"""The loss of support vector machines, one against all others."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside, check_labels
from cvzoo.functions.loss.reduced import check_reduce, reduced
from cvzoo.functions.math.add import subtract
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def hinge(x: Variable | Array, t: Variable | Array, norm: str = "L1", reduce: str = "mean") -> Variable:
    """max(1 - s * x, 0) with s = 1 for the true class and -1 for others: summed over classes, a mean over the batch.

    x: (N, C) scores
    t: (N,) integers, 0 to C - 1
    norm: "L1", or "L2" for the squares
    reduce: "mean" over the batch, "sum", or "no": (N, C)
    Raises ShapeError or DtypeError if x and t do not fit, ValueRangeError that names the first label out of range, or
    an unknown norm; labels on a GPU are not looked at.
    """
    x = widened(x)
    t = as_array(t)
    backend_of(t)
    check_reduce(reduce, function="hinge")
    if norm not in ("L1", "L2"):
        raise ValueRangeError(f"hinge: there is no norm {norm!r}", expected="'L1' or 'L2'")
    if x.ndim != 2 or t.shape != x.shape[:1]:
        raise ShapeError("hinge: t needs one label for each row of scores", got=f"x {x.shape}, t {t.shape}")
    if t.dtype.kind not in "iu":
        raise DtypeError("hinge: t must be of integers", got=t.dtype, hint="t.astype('int32')")
    check_labels(t, True, x.shape[1], function="hinge")
    t = beside(t, x)
    xp = backend_of(t).xp
    true = t[:, None] == xp.arange(x.shape[1], dtype=t.dtype)
    loss = relu(subtract(1.0, multiply(x, 2 * true.astype(x.dtype) - 1)))
    return reduced(square(loss) if norm == "L2" else loss, reduce, len(t))
