"""Negative sampling loss, for very many classes."""

from collections.abc import Callable

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.sigmoid import softplus
from cvzoo.functions.array.axes import expand_dims
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.connection.embed_id import embed_id
from cvzoo.functions.loss.reduction import beside, check_labels, reduced
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array


@on_device_of_arguments
def negative_sampling(
    x: Variable | Array,
    t: Variable | Array,
    W: Variable | Array,
    sampler: Callable[[tuple[int, int]], Array],
    sample_size: int,
    reduce: str = "sum",
    *,
    return_samples: bool = False,
) -> Variable | tuple[Variable, Array]:
    """-log(sigmoid(x W[t])) and, of classes that are drawn, the sum of -log(sigmoid(-x W[k])): a number, or (B,).

    x: (B, I)
    t: (B,) integers, 0 to L - 1; rows with -1 are not counted
    W: (L, I)
    sampler: a function of a shape that gives an array of classes, such as `WalkerAlias.sample`
    sample_size: number of negative classes per row
    reduce: "sum" over the batch, "mean", or "no"
    return_samples: also (B, 1 + sample_size): t, then the classes that were drawn
    Raises ShapeError or DtypeError if the arrays do not fit, ValueRangeError that names the first label out of range;
    labels on a GPU are not checked.
    Source: Mikolov et al., "Distributed representations of words and phrases and their compositionality", NIPS 2013.
    """
    x, W = widened(x), widened(as_variable(W))
    t = as_array(t)
    backend_of(t)
    if reduce not in ("sum", "mean", "no"):
        raise ValueRangeError(f"negative_sampling: there is no reduce={reduce!r}", expected="sum, mean or no")
    if x.ndim != 2 or W.ndim != 2 or x.shape[1] != W.shape[1] or t.shape != x.shape[:1]:
        raise ShapeError(
            "negative_sampling: x, t and W do not fit",
            expected="x (B, I), t (B,), W (L, I)",
            got=f"x {x.shape}, t {t.shape}, W {W.shape}",
        )
    if t.dtype.kind not in "iu":
        raise DtypeError("negative_sampling: t must be of integers", got=t.dtype, hint="t.astype('int32')")
    check_labels(t, t != -1, W.shape[0], function="negative_sampling")
    t = beside(t, x)
    drawn = as_array(sampler((len(t), sample_size)))
    if drawn.shape != (len(t), sample_size):
        raise ShapeError(
            "negative_sampling: the sampler gave another shape than requested",
            expected=(len(t), sample_size),
            got=drawn.shape,
        )
    drawn = to_device_of(drawn.astype(t.dtype), t)
    xp = backend_of(t).xp
    samples = xp.concatenate([t[:, None], drawn], axis=1)
    counted = (t != -1).astype(x.dtype)
    rows = embed_id(xp.maximum(samples, 0), W)  # (B, 1 + sample_size, I)
    scores = sum(multiply(rows, expand_dims(x, 1)), axis=2)
    signs = xp.ones(sample_size + 1, x.dtype)
    signs[0] = -1
    loss = multiply(sum(softplus(multiply(scores, signs)), axis=1), counted)
    loss = reduced(loss, reduce, len(t))
    return (loss, samples) if return_samples else loss
