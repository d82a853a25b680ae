"""Channels rearranged: into space and back, and shuffled between groups."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.typing.aliases import Array

# both go by way of (B, H, W, C), which is how the pixels lie in memory


def depth2space(x: Variable | Array, r: int) -> Variable:
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


def space2depth(x: Variable | Array, r: int) -> Variable:
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


def _sizes(x: Variable | Array, r: int, function: str) -> tuple[int, ...]:
    x = as_variable(x)
    if x.ndim != 4 or r < 1:
        raise ShapeError(f"{function}: x must be (B, C, H, W), and r at least 1", got=f"x {x.shape}, r {r}")
    return x.shape


class ChannelShuffle(FunctionNode):
    def __init__(self, groups: int):
        self.groups = groups

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        b, c, h, w = x.shape
        # one pass over memory, with the channels innermost as 4-D arrays lie
        groups_last = x.transpose(0, 2, 3, 1).reshape(b, h, w, self.groups, c // self.groups).swapaxes(3, 4)
        self._channels = c
        return (backend_of(x).reshaped(groups_last, (b, h, w, c)).transpose(0, 3, 1, 2),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return ChannelShuffle(self._channels // self.groups).apply(gys)


def channel_shuffle(x: Variable | Array, groups: int) -> Variable:
    """x (B, C, H, W) with its channels taken in turn from `groups` equal parts: the first of each, the second of each.

    Raises ShapeError if x is not 4-D or its channels do not divide, ValueRangeError if groups is not positive.
    Source: ShuffleNet (Zhang et al., CVPR 2018).
    """
    x = as_variable(x)
    if groups < 1:
        raise ValueRangeError("channel_shuffle: groups must be positive", got=groups)
    if x.ndim != 4 or x.shape[1] % groups:
        raise ShapeError(
            "channel_shuffle: the channels cannot be split", expected=f"(B, multiple of {groups}, H, W)", got=x.shape
        )
    return ChannelShuffle(groups).apply((x,))[0]
