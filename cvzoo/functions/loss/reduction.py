"""Checks of losses' targets, and reduction of losses."""

from typing import TypeVar

from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import is_float
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.math.sum import sum
from cvzoo.typing.aliases import Array

T = TypeVar("T")


def check_labels(t: Array, valid: Array | bool, n_class: int, *, function: str) -> None:
    """Raise ValueRangeError naming the first label that is neither ignored nor one of 0 to n_class - 1.

    t: integers of any shape
    valid: bool of the same shape, False where a label is ignored; True: none is

    Labels on a GPU are not checked, which would synchronize: their losses are NaN instead.
    """
    extremes = range_of(t)
    if extremes is None or (extremes[0] >= 0 and extremes[1] < n_class):
        return
    bad = ((t < 0) | (t >= n_class)) & valid
    if bad.any():
        first = tuple([int(i) for i in backend_of(t).xp.unravel_index(int(bad.argmax()), t.shape)])
        raise ValueRangeError(
            f"{function}: a label is out of range",
            expected=f"0 to {n_class - 1}" + ("" if valid is True else ", or the ignore_label"),
            got=f"{t[first]} at index {first[0] if len(first) == 1 else first}",
        )


def beside(t: T, x: Variable) -> T:
    """t as an array on the device of x."""
    return to_device_of(t, x.array)


def check_like(x: Variable, t: Variable | Array, *, function: str, names: tuple[str, str] = ("x", "t")) -> None:
    """Raise unless x is floating and t is an array of its shape. names: of the two arguments"""
    backend_of(as_array(t))
    if not is_float(x.dtype):
        raise DtypeError(f"{function}: {names[0]} must be floating", got=x.dtype, hint=f"{names[0]}.astype('float32')")
    if x.shape != t.shape:
        raise ShapeError(
            f"{function}: {names[0]} and {names[1]} must have one shape",
            got=f"{names[0]} {x.shape}, {names[1]} {t.shape}",
        )


def check_reduce(reduce: str, *, function: str) -> None:
    """Raise ValueRangeError unless `reduce` is "mean", "sum" or "no"."""
    if reduce not in ("mean", "sum", "no"):
        raise ValueRangeError(f"{function}: there is no reduce={reduce!r}", expected="mean, sum or no")


def reduced(loss: Variable, reduce: str, count: Array | int) -> Variable:
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
