"""Values as they are."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable


def identity(*inputs: Any) -> Variable | tuple[Variable, ...]:
    """The input itself as a Variable; of several inputs a tuple of them."""
    xs = tuple([as_variable(x) for x in inputs])
    return xs[0] if len(xs) == 1 else xs
