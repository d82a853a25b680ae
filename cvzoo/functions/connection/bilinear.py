"""Products of two rows by a tensor."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.math.add import add
from cvzoo.functions.math.einsum import einsum
from cvzoo.functions.math.matmul import matmul
from cvzoo.typing.aliases import Array


def bilinear(
    e1: Variable | Array,
    e2: Variable | Array,
    W: Variable | Array,
    V1: Variable | Array | None = None,
    V2: Variable | Array | None = None,
    b: Variable | Array | None = None,
) -> Variable:
    """e1 W[:, :, k] e2 of each pair of rows and each k, plus e1 V1 + e2 V2 + b where these are given: (B, K).

    e1: (B, I); e2: (B, J)
    W: (I, J, K)
    V1, V2, b: (I, K), (J, K) and (K,), all three or none
    Raises ShapeError if the shapes do not fit, DtypeError if dtypes differ.
    """
    e1, e2, W = as_variable(e1), as_variable(e2), as_variable(W)
    if (e1.ndim, e2.ndim, W.ndim) != (2, 2, 3) or W.shape[:2] != (e1.shape[1], e2.shape[1]) or len(e1) != len(e2):
        raise ShapeError(
            "bilinear: e1, e2 and W do not fit",
            expected="e1 (B, I), e2 (B, J), W (I, J, K)",
            got=f"e1 {e1.shape}, e2 {e2.shape}, W {W.shape}",
        )
    given = [each is not None for each in (V1, V2, b)]
    if any(given) and not all(given):
        raise ShapeError("bilinear: V1, V2 and b come together", got=f"given: {given}")
    y = einsum("bi,bj,ijk->bk", e1, e2, W)
    if V1 is None or V2 is None or b is None:
        return y
    return add(add(y, matmul(e1, V1)), add(matmul(e2, V2), b))
