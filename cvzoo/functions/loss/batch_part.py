"""Divisors of losses on several ranks, each of which has a part of the batch."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TypeAlias

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.math.arithmetic import multiply

# a number of this part to (its sum over all parts, this part's fraction of the batch's examples)
Count: TypeAlias = Callable[[float], tuple[float, float]]


class _Held(threading.local):
    count: Count | None = None


_held = _Held()


class AbstractBatchLoss:
    """Base class of loss links that call `batch_count`: on several ranks, each needs an example of every batch."""


@contextlib.contextmanager
def using_part(count: Count) -> Iterator[None]:
    """A block in which losses are those of a part of a batch, and `count` communicates with the other parts."""
    before, _held.count = _held.count, count
    try:
        yield
    finally:
        _held.count = before


def is_part() -> bool:
    """Whether the loss is that of a part of a batch."""
    return _held.count is not None


def batch_count(n: float) -> tuple[float, float]:
    """(number in the whole batch, this part's fraction of the batch's examples); (n, 1.0) in one process.

    n: the number in this part, such as that of its positive anchors
    All ranks must call it equally often.
    """
    if _held.count is None:
        return n, 1.0
    return _held.count(n)


def batch_divisor(n: float) -> float:
    """What the sum of a part's losses is divided by, n counted in all parts, at least 1; in one process max(n, 1).

    The mean of the ranks' losses, weighted by their examples, is then the sum of the whole batch divided by its number.
    """
    if not is_part():
        return max(n, 1)
    total, share = batch_count(n)
    return max(total, 1) * share


def as_batch_mean(loss: Variable, n: float) -> Variable:
    """The mean over n elements of this part, divided as `batch_divisor` says instead; in one process `loss` itself."""
    return multiply(loss, n / batch_divisor(n)) if is_part() else loss
