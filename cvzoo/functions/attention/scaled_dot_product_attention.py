"""Scaled dot-product attention."""

import math

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.softmax import Softmax
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.dtypes import agreed, for_product
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.math.arithmetic import check_broadcast
from cvzoo.functions.math.matmul import matmul
from cvzoo.typing.aliases import Array

_AT_ONCE = 1 << 22  # scores, 16 MB


def scaled_dot_product_attention(
    q: Variable | Array,
    k: Variable | Array,
    v: Variable | Array,
    *,
    bias: Variable | Array | None = None,
    scale: float | None = None,
) -> Variable:
    """softmax(scale * q k^T + bias) v, over the keys.

    q: (..., N, D), N queries
    k: (..., M, D), v: (..., M, E): keys and their values; leading axes as q's, or such that they broadcast
    bias: added to the scores (..., N, M), with which it broadcasts; a large negative number hides a key
    scale: None: 1 / sqrt(D)
    Returns (..., N, E).
    Raises ShapeError if the shapes do not fit, DtypeError if dtypes differ.

    Where no gradients are taken, scores that would fill much memory are computed part by part of the first axis.
    Source: Vaswani et al., Attention is all you need, NeurIPS 2017.
    """
    queries, keys, values = agreed(*[for_product(as_variable(each)) for each in (q, k, v)])
    return _attention(queries, keys, values, bias, scale)


def _attention(
    q: Variable, k: Variable, v: Variable, given_bias: Variable | Array | None, scale: float | None
) -> Variable:
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ShapeError(
            "scaled_dot_product_attention: queries, keys and values do not fit",
            expected="q (..., N, D), k (..., M, D), v (..., M, E)",
            got=f"q {q.shape}, k {k.shape}, v {v.shape}",
        )
    scale = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
    check_broadcast(q.shape[:-2], k.shape[:-2], "scaled_dot_product_attention, leading axes")
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    shape = (*lead, q.shape[-2], k.shape[-2])
    bias = None if given_bias is None else as_variable(given_bias)
    if bias is not None:
        check_broadcast(shape, bias.shape, "scaled_dot_product_attention, bias")
    at_once = max(_AT_ONCE * shape[0] // max(math.prod(shape), 1), 1)
    is_single_block = at_once >= shape[0] or max(q.ndim, v.ndim, 0 if bias is None else bias.ndim) > len(shape)
    if switches.enable_backprop or len(shape) == 2 or is_single_block:
        return _attend(q, k, v, bias, scale)
    parts = []
    for start in range(0, shape[0], at_once):
        rows = slice(start, start + at_once)
        given = [_part(each, len(shape), rows) for each in (q, k, v)]
        some_bias = None if bias is None else _part(bias, len(shape), rows)
        parts.append(_attend(given[0], given[1], given[2], some_bias, scale))
    return concat(parts, axis=0)


def _attend(q: Variable, k: Variable, v: Variable, bias: Variable | None, scale: float) -> Variable:
    scores = matmul(q if scale == 1 else q * scale, k, transb=True)  # (..., N, M)
    # 16-bit scores get 16-bit weights: `softmax` would widen them only for the product to round them again
    return matmul(Softmax(-1).apply((scores if bias is None else scores + bias,))[0], v)


def _part(x: Variable, ndim: int, part: slice) -> Variable:
    """The part of x, which broadcasts with an array of `ndim` axes, along its first axis."""
    return x if x.ndim < ndim or x.shape[0] == 1 else get_item(x, part)
