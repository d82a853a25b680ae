"""The one check of sizes (H, W) for boxes and photos."""

from cvzoo.errors.exceptions import ShapeError


def as_size(size, name="size"):
    """The size as a pair of positive Python integers (H, W); whole floats and NumPy integers pass.

    Raises ShapeError if it is not a pair of positive whole numbers.
    """
    try:
        height, width = size
        pair = int(height), int(width)
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} must be a pair (H, W) of integers", got=size) from error
    if pair != (height, width) or min(pair) < 1:
        raise ShapeError(f"{name} must be a pair (H, W) of positive integers", got=size)
    return pair
