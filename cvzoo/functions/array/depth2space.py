"""Channels spread over pixels, and pixels gathered into channels."""

from typing import Any

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose

# both go by way of (B, H, W, C), which is how the pixels lie in memory


def depth2space(x: Variable | Any, r: int) -> Variable:
    """(B, C, r * H, r * W) of x (B, r * r * C, H, W): channel (i * r + j) * C + c goes to row i, column j of its block.

    Raises ShapeError if the channels do not divide by r * r.
    Source: Real-time single image and video super-resolution using an efficient sub-pixel convolutional neural
    network (Shi et al., CVPR 2016).
    """
    b, c, h, w = _sizes(x, r, "depth2space")
    if c % (r * r):
        raise ShapeError(
            f"depth2space: channels must divide by {r} * {r}", expected="(B, r * r * C, H, W)", got=x.shape
        )
    y = reshape(transpose(x, (0, 2, 3, 1)), (b, h, w, r, r, c // (r * r)))
    y = reshape(transpose(y, (0, 1, 3, 2, 4, 5)), (b, h * r, w * r, c // (r * r)))
    return transpose(y, (0, 3, 1, 2))


def space2depth(x: Variable | Any, r: int) -> Variable:
    """(B, r * r * C, H, W) of x (B, C, r * H, r * W): what `depth2space` undoes.

    Raises ShapeError if height and width do not divide by r.
    """
    b, c, h, w = _sizes(x, r, "space2depth")
    if h % r or w % r:
        raise ShapeError(
            f"space2depth: height and width must divide by {r}", expected="(B, C, r * H, r * W)", got=x.shape
        )
    y = reshape(transpose(x, (0, 2, 3, 1)), (b, h // r, r, w // r, r, c))
    y = reshape(transpose(y, (0, 1, 3, 2, 4, 5)), (b, h // r, w // r, r * r * c))
    return transpose(y, (0, 3, 1, 2))


def _sizes(x: Variable | Any, r: int, function: str) -> tuple[int, ...]:
    x = as_variable(x)
    if x.ndim != 4 or r < 1:
        raise ShapeError(f"{function}: wants x (B, C, H, W) and r at least 1", got=f"x {x.shape}, r {r}")
    return x.shape
