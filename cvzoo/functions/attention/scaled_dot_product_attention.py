"""Values averaged by how well their keys answer a query."""

import math
from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.math.matmul import matmul
from cvzoo.functions.math.operands import check_broadcast


def scaled_dot_product_attention(
    q: Variable | Any, k: Variable | Any, v: Variable | Any, *, bias: Variable | Any = None, scale: float | None = None
) -> Variable:
    """softmax(scale * q k^T + bias) v, over the keys.

    q: (..., N, D), N queries
    k: (..., M, D), v: (..., M, E): keys and their values; leading axes as q's, or such that they broadcast
    bias: added to the scores (..., N, M), with which it broadcasts; a large negative number hides a key
    scale: None: 1 / sqrt(D)
    Returns (..., N, E).
    Raises ShapeError if the shapes do not fit, DtypeError if dtypes differ.
    Source: Vaswani et al., Attention is all you need, NeurIPS 2017.
    """
    q, k, v = as_variable(q), as_variable(k), as_variable(v)
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ShapeError(
            "scaled_dot_product_attention: queries, keys and values do not fit",
            expected="q (..., N, D), k (..., M, D), v (..., M, E)",
            got=f"q {q.shape}, k {k.shape}, v {v.shape}",
        )
    scale = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
    scores = matmul(q if scale == 1 else q * scale, k, transb=True)  # (..., N, M)
    if bias is not None:
        bias = as_variable(bias)
        check_broadcast(scores.shape, bias.shape, "scaled_dot_product_attention, bias")
        scores = scores + bias
    return matmul(softmax(scores, axis=-1), v)
