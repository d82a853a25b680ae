"""The argument check of image sizes (H, W)."""

from collections.abc import Sequence

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array, Size


def as_size(size: Sequence[int] | Array, name: str = "size") -> Size:
    """The size as a pair of positive Python integers (H, W); accepts integral floats and NumPy integers.

    Raises ShapeError if it is not a pair of positive integers.
    """
    try:
        height, width = size
        pair = int(height), int(width)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} must be a pair (H, W) of integers", got=size) from error
    if pair != (height, width) or min(pair) < 1:
        raise ShapeError(f"{name} must be a pair (H, W) of positive integers", got=size)
    return pair
