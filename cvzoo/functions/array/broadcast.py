"""Several arrays repeated to one shape."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.broadcast_to import broadcast_to


def broadcast(*xs: Variable | Any) -> tuple[Variable, ...]:
    """The arrays, each repeated to the shape that all of them broadcast to; views.

    Raises ShapeError if they do not broadcast.
    """
    xs = tuple([as_variable(x) for x in xs])
    ndim = max((x.ndim for x in xs), default=0)
    shape = []
    for i in range(-ndim, 0):
        sizes = {x.shape[i] for x in xs if x.ndim >= -i} - {1}
        if len(sizes) > 1:
            raise ShapeError(
                "broadcast: the shapes do not broadcast",
                expected="equal sizes, or 1, axis by axis from the last",
                got=", ".join(str(x.shape) for x in xs),
            )
        shape.append(sizes.pop() if sizes else 1)
    return tuple([broadcast_to(x, tuple(shape)) for x in xs])
