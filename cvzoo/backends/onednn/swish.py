"""Swish, x / (1 + exp(-alpha * x)), from our library in C: oneDNN takes two to three times as long."""

import math
from collections.abc import Sequence

from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import SwishPlan
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import DST, SRC

# elements; for fewer, NumPy is faster than a call. For functions the size of one image decides, not that of the
# batch, so that an image's bits do not depend on its batch
FEW = 1 << 11


def is_own_swish(kind: str | None, alpha: float, shape: Sequence[int]) -> bool:
    """Whether our own kernel computes this function of elements for an array of this shape."""
    return kind == "swish" and alpha > 0 and math.prod(shape[1:]) >= FEW and native() is not None


def make_swish(size: int, alpha: float) -> NativePrimitive:
    """The kernel for arrays of so many elements, in any order; its result may replace its operand."""
    return NativePrimitive("eltwise", "swish", SwishPlan(size, alpha), (SRC, DST))
