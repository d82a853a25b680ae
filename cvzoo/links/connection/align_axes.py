"""Laying a small array's axes on some of a larger one's."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import ShapeError


def aligned_shape(x_shape: Sequence[int], shape: Sequence[int], axis: int, *, function: str) -> tuple[int, ...]:
    """`shape` with ones around, so that its axes stand at x's axes `axis`, `axis` + 1, ... and broadcast over the rest.

    Raises ShapeError, naming `function`, if the sizes differ.
    """
    x_shape, shape = tuple(x_shape), tuple(shape)
    start = axis + len(x_shape) if axis < 0 else axis
    if not 0 <= start <= len(x_shape) - len(shape) or x_shape[start : start + len(shape)] != shape:
        raise ShapeError(
            f"{function}: the parameter does not fit x from axis {axis} on",
            expected=f"x's sizes {x_shape[max(start, 0) :][: len(shape)]} of {x_shape}",
            got=shape,
        )
    return (1,) * start + shape + (1,) * (len(x_shape) - start - len(shape))
