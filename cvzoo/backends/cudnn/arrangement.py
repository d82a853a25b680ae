"""Memory format for cuDNN: channels-last, channels padded for tensor cores, 16-byte aligned."""

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cudnn.graph import ALIGNMENT, Window
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import channels_last, empty, zeros
from cvzoo.backends.gpu_kernels import KernelModule, blocks
from cvzoo.backends.interface import Dims, Pad, Pair
from cvzoo.typing.aliases import Array

# the dtypes of plans by NumPy's character codes, and the number of channels in 16 bytes
NAMES = {"f": "float32", "e": "float16", "E": "bfloat16"}
_FULL = {"f": 4, "e": 8, "E": 8}
_KERNELS = KernelModule("arrange")
_THREADS = 256
_ONE = (1, 1)


def name_of(dtype: np.dtype) -> str | None:
    """The dtype's name if cuDNN supports it, else None."""
    char = dtype.char
    # ml_dtypes' int4, float8 and so on share character codes with floats
    return NAMES[char] if char in NAMES and dtype.itemsize in (2, 4) and dtype.name == NAMES[char] else None


def whole_channels(count: int, dtype: np.dtype, groups: int, strict: bool) -> int:
    """The number of channels after padding for tensor cores: `count`, rounded up.

    strict: float32 is not rounded to TF32, so that tensor cores are not used
    """
    full = _FULL[dtype.char]
    if groups > 1 or (strict and full == 4):
        return count
    return -(-count // full) * full


def fitted(size: Pair, out: Pair, ksize: Pair, stride: Pair, pad: Pad, dilate: Pair) -> tuple[Window, Pair]:
    """The window with padding that cuDNN takes, and the number of rows and columns of the image that it covers.

    Pixels that the last windows do not reach may be padded or not: of all paddings with the same result, the most
    symmetric one is chosen. Where the padding at the end must be negative, the image is cropped.
    """
    post, covered = [], []
    for k in (0, 1):
        begin = pad[2 * k]
        least = (out[k] - 1) * stride[k] + dilate[k] * (ksize[k] - 1) + 1 - size[k] - begin
        most = least + stride[k] - 1
        post.append(max(min(max(begin, least), most), 0))
        covered.append(size[k] + min(most, 0))
    return Window((pad[0], pad[2]), (post[0], post[1]), stride, dilate), (covered[0], covered[1])


class Shapes:
    """Dims of one convolution as passed to cuDNN.

    x, w, y: dims with padded channels and without cropped rows; window: stride, padding and dilation; dtype: its name
    block: (1, 1), or space to depth: a block of pixels of the image is one pixel of x, and of the window one of w, so
        that an image of few channels and a strided window become many channels and stride 1, which fill tensor cores
    begin: rows and columns of zeros before the image that are part of x
    """

    __slots__ = ("begin", "block", "dtype", "w", "window", "x", "y")

    def __init__(
        self,
        x: Dims,
        o: int,
        out: Pair,
        ksize: Pair,
        dtype: np.dtype,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        *,
        strict: bool,
        may_block: bool = False,
    ):
        b, c, height, width = x
        o = whole_channels(o, dtype, groups, strict)
        channels = whole_channels(c, dtype, groups, strict)
        few = c < channels == _FULL[dtype.char]
        self.block, self.begin = _ONE, (0, 0)
        if may_block and few and dilate == _ONE != stride and ksize[0] >= stride[0] and ksize[1] >= stride[1]:
            self.block, self.begin = stride, (pad[0], pad[2])
            taps = tuple(-(-ksize[k] // stride[k]) for k in (0, 1))
            channels = whole_channels(c * stride[0] * stride[1], dtype, groups, strict)
            self.window = Window((0, 0), (0, 0), _ONE, _ONE)
            self.x = (b, channels, out[0] + taps[0] - 1, out[1] + taps[1] - 1)
            self.w = (o, channels, taps[0], taps[1])
        else:
            self.window, covered = fitted((height, width), out, ksize, stride, pad, dilate)
            self.x = (b, channels, *covered)
            self.w = (o, channels // groups, *ksize)
        self.y = (b, o, *out)
        self.dtype = NAMES[dtype.char]


def is_aligned(x: Array) -> bool:
    """Whether kernels may load 16 bytes at a time."""
    return device_address(x) % ALIGNMENT == 0


def arranged(x: Array, dims: Dims, block: Pair = _ONE, begin: Pair = (0, 0)) -> Array:
    """x (B, C, H, W) channels-last with these dims, block by block as in `Shapes`; x itself if it is so already.

    Images, channels, rows and columns missing in x are zeros; those missing in dims are cropped.
    """
    if x.shape == dims and block == _ONE and is_aligned(x) and x.transpose(0, 2, 3, 1).flags.c_contiguous:
        return x
    y = empty(dims, x.dtype)
    size = x.itemsize
    n = 16 // size if dims[1] * size % 16 == 0 else 1
    name = f"to_blocks_b{8 * size}" + (f"_{n}" if n > 1 else "")
    count = dims[0] * dims[2] * dims[3] * (dims[1] // n)
    numbers = [np.int32(k) for k in x.shape] + [np.int64(step // size) for step in x.strides]
    numbers += [np.int32(k) for k in (dims[0], dims[2], dims[3], dims[1], *block, *begin)]
    _KERNELS.launch(name, blocks(count, _THREADS), (_THREADS, 1, 1), (x, y, *numbers))
    return y


def arranged_weights(w: Array, shapes: Shapes, pack: dict | None) -> Array:
    """w (O, C, KH, KW) as (O, KH, KW, C) in memory with shapes.w; more filters, channels and rows are zeros."""
    key = ("cudnn", shapes.w, shapes.block, w.dtype.char)
    packed = None if pack is None else pack.get(key)
    if packed is None:
        packed = arranged(w, shapes.w, shapes.block)
        if pack is not None and packed is not w:  # a cached w itself would keep the parameter alive
            pack[key] = packed
    return packed


def weights_back(gw: Array, shape: Dims, block: Pair) -> Array:
    """gw, in the memory format of `arranged_weights`, as (O, C, KH, KW) of this shape in C order."""
    if gw.shape == shape and gw.flags.c_contiguous:
        return gw
    y = cupy().empty(shape, gw.dtype)
    numbers = [np.int32(k) for k in (*shape, gw.shape[2], gw.shape[3], gw.shape[1], *block)]
    name = f"from_blocks_b{8 * gw.itemsize}"
    _KERNELS.launch(name, blocks(y.size, _THREADS), (_THREADS, 1, 1), (gw, y, *numbers))
    return y


def arranged_bias(b: Array, count: int, dtype: np.dtype) -> Array:
    """b (O,) as (count,) of this dtype, padded with zeros."""
    if b.shape == (count,):
        b = cupy().ascontiguousarray(b.astype(dtype, copy=False))
        if is_aligned(b):
            return b
    y = cupy().zeros(count, dtype)
    y[: b.shape[0]] = b
    return y


def cut_back(y: Array, shape: Dims, rest: Array | None = None) -> Array:
    """The first channels of y, of this shape; rows and columns that y lacks are those of `rest`, or zeros."""
    if y.shape == shape:
        return y
    if y.shape[2:] == shape[2:]:
        return channels_last(y[:, : shape[1]])
    if rest is None:
        result = zeros(shape, y.dtype)
    else:
        result = empty(shape, y.dtype)
        result[...] = rest
    result[:, :, : y.shape[2], : y.shape[3]] = y[:, : shape[1]]
    return result
