"""Operation graphs for cuDNN as plain data: tensors and nodes, without calls of the library."""

import math
from typing import NamedTuple

from cvzoo.backends.abstract import Pair

ALIGNMENT = 16  # bytes; CuPy's allocations are aligned to 512 bytes, views of them may be less


class Tensor(NamedTuple):
    """A tensor of an operation graph. Dims are in the order N C H W (weights O C KH KW) whatever the strides.

    uid: identifies the tensor's pointer; virtual: it exists only inside a kernel, without memory
    dtype: "float32", "float16" or "bfloat16"
    """

    uid: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    virtual: bool = False


class Convolution(NamedTuple):
    """One of "forward" (y from x, w), "input_grad" (x from y, w) and "weight_grad" (w from x, y).

    x, w, y: uids; pre, post: the padding at the beginning and at the end, (rows, columns)
    beta: 1.0 accumulates into the result, 0.0 overwrites it
    """

    kind: str
    x: int
    w: int
    y: int
    pre: Pair
    post: Pair
    stride: Pair
    dilate: Pair
    beta: float = 0.0


class Pointwise(NamedTuple):
    """ "add" (y = x + b, b broadcast) or "relu" (y = max(x, 0)); x, b and y are uids."""

    mode: str
    x: int
    b: int | None
    y: int


class Graph(NamedTuple):
    """Nodes in the order of computation, in float32; results are rounded once.

    name: its purpose, for people
    """

    name: str
    tensors: tuple[Tensor, ...]
    nodes: tuple[Convolution | Pointwise, ...]

    def uids(self) -> tuple[int, ...]:
        """The uids of tensors with memory, in the order of the pointers of a call."""
        return tuple(tensor.uid for tensor in self.tensors if not tensor.virtual)


def channels_last(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of channels-last (N, C, H, W), or weights (O, C, KH, KW)."""
    return (math.prod(dims[1:]), 1, *(dims[1] * math.prod(dims[k + 1 :]) for k in range(2, len(dims))))


class Window(NamedTuple):
    """Padding, stride and dilation of a sliding window, each (rows, columns)."""

    pre: Pair
    post: Pair
    stride: Pair
    dilate: Pair


def forward_graph(
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    window: Window,
    dtype: str,
    *,
    add: bool,
    bias: bool,
    relu: bool,
) -> Graph:
    """y of x and w, then plus an array like y, then plus a bias, then relu.

    uids: x 1, w 2, y 3, addend 4, bias 5
    """
    # for another order, or a bias of another dtype, cuDNN has no precompiled kernel (9.19, H100)
    steps = [("add", 4)] * add + [("add", 5)] * bias + [("relu", None)] * relu
    tensors = [Tensor(1, x, channels_last(x), dtype), Tensor(2, w, channels_last(w), dtype)]
    if add:
        tensors.append(Tensor(4, y, channels_last(y), dtype))
    if bias:
        dims = (1, y[1], 1, 1)
        tensors.append(Tensor(5, dims, channels_last(dims), dtype))
    tensors.append(Tensor(3, y, channels_last(y), dtype))
    ends = [*range(10, 10 + len(steps)), 3]  # the uid that each node writes
    tensors += [Tensor(uid, y, channels_last(y), "float32", True) for uid in ends[:-1]]
    nodes: list[Convolution | Pointwise] = [Convolution("forward", 1, 2, ends[0], *window)]
    nodes += [Pointwise(mode, ends[k], b, ends[k + 1]) for k, (mode, b) in enumerate(steps)]
    name = "-".join(["conv", *["add"] * add, *["bias"] * bias, *["relu"] * relu])
    return Graph(name, tuple(tensors), tuple(nodes))


def input_grad_graph(
    x: tuple[int, ...], w: tuple[int, ...], y: tuple[int, ...], window: Window, dtype: str, *, add: bool
) -> Graph:
    """The gradient of x from y's and w, added to its values if `add`; uids: x 1, w 2, y 3."""
    tensors = (
        Tensor(3, y, channels_last(y), dtype),
        Tensor(2, w, channels_last(w), dtype),
        Tensor(1, x, channels_last(x), dtype),
    )
    node = Convolution("input_grad", 1, 2, 3, *window, 1.0 if add else 0.0)
    return Graph("input_grad-add" if add else "input_grad", tensors, (node,))


def weight_grad_graph(x: tuple[int, ...], w: tuple[int, ...], y: tuple[int, ...], window: Window, dtype: str) -> Graph:
    """The gradient of w from x and y's; uids: x 1, w 2, y 3."""
    tensors = (
        Tensor(1, x, channels_last(x), dtype),
        Tensor(3, y, channels_last(y), dtype),
        Tensor(2, w, channels_last(w), dtype),
    )
    return Graph("weight_grad", tensors, (Convolution("weight_grad", 1, 2, 3, *window),))
