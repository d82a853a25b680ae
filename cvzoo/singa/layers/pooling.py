"""Pooling layers."""

from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d, max_pooling_2d
from cvzoo.singa.layers.layer import Layer, check_input
from cvzoo.singa.layers.windows import Padding, Pair, Sizes, as_padding, as_pair, check_pad_mode, same_padding
from cvzoo.singa.tensor_class import Tensor, apply


class Pooling2d(Layer):
    """Max pooling, or average pooling over the pixels of each window without padding.

    kernel_size: a number or (rows, columns)
    stride: likewise; None for kernel_size
    padding: a number, (rows, columns), or (top, bottom, left, right)
    is_max: max pooling, else average pooling
    pad_mode: "NOTSET", or "SAME_UPPER" or "SAME_LOWER", which compute `padding`
    A padding that is wider on one side replicates the image's edge there, as in SINGA.
    """

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        is_max: bool = True,
        pad_mode: str = "NOTSET",
    ):
        check_pad_mode("Pooling2d", pad_mode)
        self.kernel_size = as_pair(kernel_size, "kernel_size")
        self.stride = self.kernel_size if stride is None else as_pair(stride, "stride")
        self.padding = as_padding(padding)
        self.is_max = is_max
        self.pad_mode = pad_mode

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, OH, OW) of x (B, C, H, W)."""
        check_input(type(self).__name__, x, 4)
        padding = self.padding
        if self.pad_mode != "NOTSET":
            padding = same_padding(self.pad_mode, x.shape[2:], self.kernel_size, self.stride)
        return apply(_pool, x, self.kernel_size, self.stride, padding, self.is_max)


def _pool(x: Variable, kernel: Pair, stride: Pair, padding: Padding, is_max: bool) -> Variable:
    rows, columns = min(padding[:2]), min(padding[2:])
    odd = padding.top - rows, padding.bottom - rows, padding.left - columns, padding.right - columns
    x = _with_edges(_with_edges(x, 2, *odd[:2]), 3, *odd[2:])
    if is_max:
        return max_pooling_2d(x, kernel, stride, (rows, columns), cover_all=False)
    return average_pooling_2d(x, kernel, stride, (rows, columns), count_pad=False)


def _with_edges(x: Variable, axis: int, before: int, after: int) -> Variable:
    if not before and not after:
        return x
    n = x.shape[axis]
    lead = (slice(None),) * axis
    parts = [get_item(x, (*lead, slice(0, before)))] if before else []
    parts.append(x)
    parts += [get_item(x, (*lead, slice(n - after, n)))] if after else []
    return concat(parts, axis)


class MaxPool2d(Pooling2d):
    """2-dimensional max pooling; see Pooling2d."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, pad_mode: str = "NOTSET"):
        super().__init__(kernel_size, stride, padding, True, pad_mode)


class AvgPool2d(Pooling2d):
    """2-dimensional average pooling; see Pooling2d."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, pad_mode: str = "NOTSET"):
        super().__init__(kernel_size, stride, padding, False, pad_mode)


class MaxPool1d(Pooling2d):
    """Max pooling along the last axis of (B, C, H, W)."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0, pad_mode: str = "NOTSET"):
        stride = kernel_size if stride is None else stride
        super().__init__((1, kernel_size), (1, stride), (0, padding), True, pad_mode)


class AvgPool1d(Pooling2d):
    """Average pooling along the last axis of (B, C, H, W)."""

    def __init__(self, kernel_size: int, stride: int | None = None, padding: int = 0, pad_mode: str = "NOTSET"):
        stride = kernel_size if stride is None else stride
        super().__init__((1, kernel_size), (1, stride), (0, padding), False, pad_mode)
