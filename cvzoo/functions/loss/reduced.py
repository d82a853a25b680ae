"""One number from the losses of many elements."""

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.sum import sum


def check_reduce(reduce: str, *, function: str) -> None:
    """Raise ValueRangeError unless `reduce` is "mean", "sum" or "no"."""
    if reduce not in ("mean", "sum", "no"):
        raise ValueRangeError(f"{function}: there is no reduce={reduce!r}", expected="mean, sum or no")


def reduced(loss: Variable, reduce: str, count: int) -> Variable:
    """`loss` itself ("no"), its sum ("sum"), or its sum divided by `count`, 0 if that is 0 ("mean")."""
    if reduce == "no":
        return loss
    total = sum(loss)
    return total if reduce == "sum" else multiply(total, 1.0 / max(count, 1))
