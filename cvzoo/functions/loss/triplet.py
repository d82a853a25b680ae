"""The loss of an embedding that should lie nearer to one than to another."""

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.contrastive import check_margin
from cvzoo.functions.loss.labels import beside, check_like
from cvzoo.functions.loss.reduced import check_reduce, reduced
from cvzoo.functions.math.add import add, subtract
from cvzoo.functions.math.power import square
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


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
