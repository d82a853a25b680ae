"""Several element-wise operations in one launch."""

import functools
import operator
from collections.abc import Sequence

from cvzoo.backends.cuda.elementwise import are_floats, elementwise
from cvzoo.backends.cuda.elementwise_source import BINARY, VALUES, chain_body
from cvzoo.backends.cupy.eltwise import eltwise
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.typing.aliases import Array

__all__ = ["chain"]

_OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
}


@functools.lru_cache(1024)
def _body(steps: tuple[tuple, ...]) -> tuple[str, str, tuple[float, ...]]:
    """The kernel's name, its statements and its numbers."""
    for kind, *_ in steps:
        if kind not in BINARY and kind not in VALUES:
            raise ValueRangeError(f"chain has an unknown kind {kind!r}", expected=", ".join([*BINARY, *VALUES]))
    body, _, numbers = chain_body(steps)
    return "_".join(["chain", *[step[0] for step in steps][:6]]), body, tuple(numbers)


def chain(x: Array, steps: Sequence[tuple], others: Sequence[Array]) -> Array:
    """See `AbstractBackend.chain`; 16-bit floats are rounded once, after the last step."""
    if not steps:
        return x
    name, body, numbers = _body(tuple([tuple(step) for step in steps]))
    if are_floats(x, *others):
        return elementwise(name, body, (x, *others), numbers=numbers, order=x)
    rest = iter(others)
    for kind, *parameters in steps:
        if kind in _OPERATORS:
            x = _OPERATORS[kind](x, next(rest))
        else:
            x = eltwise(kind, x, alpha=parameters[0], beta=parameters[1])
    return x
