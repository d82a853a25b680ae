"""One number from the losses of many elements."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda.loss import share_of
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.sum import sum


def check_reduce(reduce: str, *, function: str) -> None:
    """Raise ValueRangeError unless `reduce` is "mean", "sum" or "no"."""
    if reduce not in ("mean", "sum", "no"):
        raise ValueRangeError(f"{function}: there is no reduce={reduce!r}", expected="mean, sum or no")


def counted(valid: Any) -> Any:
    """How many of a bool array are True: a number; an array on a GPU stays as it is, to be counted there."""
    return valid if is_device_array(valid) else int(valid.sum())


def reduced(loss: Variable, reduce: str, count: Any) -> Variable:
    """`loss` itself ("no"), its sum ("sum"), or its sum divided by `count`, 0 if that is 0 ("mean").

    count: a number, or what `counted` gives
    """
    if reduce == "no":
        return loss
    total = sum(loss)
    if reduce == "sum":
        return total
    return multiply(total, share_of(count, total.dtype) if is_device_array(count) else 1.0 / max(count, 1))
