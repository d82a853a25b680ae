"""im2col: the windows of images as rows of a matrix, and col2im, its gradient."""

import functools
from typing import NamedTuple

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.arrays import device_address
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.gpu_kernels import KernelArgument, KernelModule, blocks
from cvzoo.typing.aliases import Array

_KERNELS = KernelModule("im2col")
_BLOCK = 256
_WIDTHS = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}  # by the bytes that one access moves
_SUFFIXES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}


class Window(NamedTuple):
    """A sliding window: the image's (H, W), the number of positions (OH, OW), size, stride, padding and dilation."""

    size: Pair
    out: Pair
    ksize: Pair
    stride: Pair
    pad: Pad
    dilate: Pair

    def numbers(self) -> tuple[np.int32, ...]:
        """The kernels' arguments."""
        return _numbers(self)

    @property
    def is_single(self) -> bool:
        """Whether every window is one pixel, and every pixel has one."""
        return self.ksize == (1, 1) and self.stride == (1, 1) and self.size == self.out and self.pad == (0, 0, 0, 0)


@functools.lru_cache(4096)
def _numbers(window: Window) -> tuple[np.int32, ...]:
    top, _, left, _ = window.pad
    values = (*window.size, *window.out, *window.ksize, *window.stride, top, left, *window.dilate)
    return tuple([np.int32(number) for number in values])


def _launch(name: str, n: int, arguments: tuple[KernelArgument, ...]) -> None:
    _KERNELS.launch(name, blocks(n, _BLOCK), (_BLOCK, 1, 1), arguments)


def row_length(n: int, itemsize: int) -> int:
    """The stride of rows of n elements, rounded up to 16 bytes, as tensor cores require."""
    unit = max(16 // itemsize, 1)
    return -(-n // unit) * unit


def im2col(x: Array, window: Window, groups: int, first: int, count: int) -> Array:
    """(groups, count, length) of x (B, C, H, W), whose channels are adjacent in memory.

    length: row_length(KH * KW * C / groups, x.itemsize); padded with zeros
    first, count: range of window positions over all images; pixels outside of an image are 0
    """
    c = x.shape[1]
    taps = window.ksize[0] * window.ksize[1]
    columns = cupy().empty((groups, count, row_length(taps * (c // groups), x.itemsize)), x.dtype)
    if not columns.size:
        return columns
    steps = x.strides[0], x.strides[2], x.strides[3]
    # the widest access to which all addresses are aligned
    width = x.itemsize
    while width < 16 and not any(n % (2 * width) for n in (c // groups * x.itemsize, device_address(x), *steps)):
        width *= 2
    channels = c // groups * x.itemsize // width
    arguments: tuple[KernelArgument, ...] = (
        *(x, columns, np.int64(first), np.int64(count), np.int32(groups), np.int32(channels)),
        *[np.int64(step // width) for step in steps],
        np.int32(columns.shape[2] * x.itemsize // width),
        *window.numbers(),
    )
    _launch(f"im2col_{_WIDTHS[width]}", columns.nbytes // width, arguments)
    return columns


def col2im(columns: Array, gx: Array, window: Window, added: Array | None = None) -> None:
    """Sum the windows' gradients into the pixels of gx (B, H, W, C), contiguous, plus `added`, in a fixed order.

    columns: (groups, B * OH * OW, KH * KW * C / groups) float32, float64 for gx of float64
    added: None, or in gx's memory format
    """
    b, _, _, c = gx.shape
    groups = columns.shape[0]
    if not gx.size:
        return
    arguments = (
        *(columns, added, gx),
        *(np.int64(b), np.int32(groups), np.int32(c // groups)),
        *window.numbers(),
    )
    _launch(f"col2im_{_SUFFIXES[gx.dtype.name]}", gx.size, arguments)
