"""Gradients are handed over as soon as they are final, while the backward pass continues."""

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cvzoo.autodiff.function_hook import this_thread

if TYPE_CHECKING:
    from cvzoo.autodiff.variable import Variable


@contextlib.contextmanager
def final_gradients(call: "Callable[[Variable], object]") -> Iterator[None]:
    """A block in which `backward()` calls `call(leaf)` for each leaf whose gradient is final, in this thread.

    A gradient is final after the last function that uses the leaf. It is in `leaf.grad` then, and may be read, but must
    not be changed before `backward()` returns, which may still need its memory. With `enable_double_backprop`, there
    are no calls.

    >>> with final_gradients(lambda leaf: order.append(leaf.name)):
    ...     loss.backward()
    """
    before, this_thread.on_final = this_thread.on_final, call
    try:
        yield
    finally:
        this_thread.on_final = before
