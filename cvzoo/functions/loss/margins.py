"""Margin losses: hinge, contrastive and triplet."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside, check_labels, check_like, check_reduce, reduced
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import norm, sum
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


@on_device_of_arguments
def triplet(
    anchor: Variable | Array,
    positive: Variable | Array,
    negative: Variable | Array,
    margin: float = 0.2,
    reduce: str = "mean",
) -> Variable:
    """max(|anchor - positive|**2 - |anchor - negative|**2 + margin, 0): a number, or (N,) with reduce="no".

    anchor, positive, negative: (N, K) embeddings of one shape and dtype; the positive one is of the anchor's class
    margin: how much farther away the negative one has to be, in squared distance
    reduce: "mean" or "sum" over the triplets, or "no"
    Raises ShapeError or DtypeError if the arrays differ, ValueRangeError if margin is not positive.
    Source: Wang et al., "Learning fine-grained image similarity with deep ranking", CVPR 2014.
    """
    anchor = widened(anchor)
    positive, negative = [widened(beside(each, anchor)) for each in (positive, negative)]
    check_reduce(reduce, function="triplet")
    check_margin(margin, function="triplet")
    for name, other in (("positive", positive), ("negative", negative)):
        check_like(anchor, other, function="triplet", names=("anchor", name))
    if anchor.ndim != 2:
        raise ShapeError("triplet: embeddings must be (N, K)", got=anchor.shape)
    gap = subtract(square(subtract(anchor, positive)), square(subtract(anchor, negative)))
    loss = relu(add(sum(gap, axis=1), float(margin)))
    return reduced(loss, reduce, loss.size)
