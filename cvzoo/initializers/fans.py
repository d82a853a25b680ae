"""Fan-in and fan-out of weights."""

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array


def fans(array: Array) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight array (out, in, ...), whose other axes are those of the kernel.

    Raises ShapeError if it has fewer than two axes.
    """
    if array.ndim < 2:
        raise ShapeError(
            "this initializer needs a weight of at least two axes (out, in, ...)",
            got=f"shape {array.shape}",
            hint="Normal(scale) or Uniform(scale) for vectors",
        )
    window = 1
    for size in array.shape[2:]:
        window *= size
    return array.shape[1] * window, array.shape[0] * window
