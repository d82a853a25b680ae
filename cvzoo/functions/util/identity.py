"""The identity function."""

from typing import overload

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.typing.aliases import Array


@overload
def identity(x: Variable | Array, /) -> Variable: ...  # pyright: ignore[reportOverlappingOverload]  # one input is the special case
@overload
def identity(*inputs: Variable | Array) -> tuple[Variable, ...]: ...
def identity(*inputs: Variable | Array) -> Variable | tuple[Variable, ...]:
    """The input itself as a Variable; of several inputs a tuple of them."""
    xs = tuple([as_variable(x) for x in inputs])
    return xs[0] if len(xs) == 1 else xs
