"""The loss of pairs of embeddings that are similar or not."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.labels import beside, check_labels, check_like
from cvzoo.functions.loss.reduced import check_reduce, reduced
from cvzoo.functions.math.add import add, subtract
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.norm import norm
from cvzoo.functions.math.power import square
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def contrastive(
    x0: Variable | Array, x1: Variable | Array, y: Variable | Array, margin: float = 1, reduce: str = "mean"
) -> Variable:
    """Half of d**2 for similar pairs, half of max(margin - d, 0)**2 for others, d being the Euclidean distance.

    x0, x1: (N, K) embeddings of one dtype
    y: (N,) integers, 1 for a similar pair, 0 for one that is not
    margin: the distance from which dissimilar pairs cost nothing
    reduce: "mean" or "sum" over the pairs, or "no": (N,)
    Raises ShapeError or DtypeError if the arrays do not fit, ValueRangeError if margin is not positive or y is neither
    0 nor 1; a y on a GPU is not looked at.
    Source: Hadsell, Chopra and LeCun, "Dimensionality reduction by learning an invariant mapping", CVPR 2006. Two equal
    embeddings have gradient 0.
    """
    x0 = widened(x0)
    x1 = widened(beside(x1, x0))
    y = as_array(y)
    backend_of(y)
    check_reduce(reduce, function="contrastive")
    check_like(x0, x1, function="contrastive", names=("x0", "x1"))
    check_margin(margin, function="contrastive")
    if x0.ndim != 2 or y.shape != x0.shape[:1]:
        raise ShapeError(
            "contrastive: y needs one number for each pair of embeddings", got=f"x0 {x0.shape}, y {y.shape}"
        )
    if y.dtype.kind not in "iub":
        raise DtypeError("contrastive: y must be of integers", got=y.dtype, hint="y.astype('int32')")
    check_labels(y, True, 2, function="contrastive")
    similar = beside(y, x0).astype(x0.dtype)
    distance = norm(subtract(x0, x1), axis=1)
    apart = square(relu(subtract(float(margin), distance)))
    loss = multiply(add(multiply(square(distance), similar), multiply(apart, 1 - similar)), 0.5)
    return reduced(loss, reduce, loss.size)


def check_margin(margin: float, *, function: str) -> None:
    """Raise ValueRangeError unless the margin is positive."""
    if not margin > 0:
        raise ValueRangeError(f"{function}: margin must be positive", got=margin)
