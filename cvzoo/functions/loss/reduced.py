"""Reduction of losses."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.sum import sum


def check_reduce(reduce: str, *, function: str) -> None:
    """Raise ValueRangeError unless `reduce` is "mean", "sum" or "no"."""
    if reduce not in ("mean", "sum", "no"):
        raise ValueRangeError(f"{function}: there is no reduce={reduce!r}", expected="mean, sum or no")


def reduced(loss: Variable, reduce: str, count: Any) -> Variable:
    """`loss` itself ("no"), its sum ("sum"), or its sum divided by `count`, 0 if that is 0 ("mean").

    count: a number, or a bool array of the elements that count
    """
    if reduce == "no":
        return loss
    total = sum(loss)
    if reduce == "sum":
        return total
    factor = 1.0 / max(count, 1) if isinstance(count, int) else backend_of(count).mean_factor(count, total.dtype)
    return multiply(total, factor)
