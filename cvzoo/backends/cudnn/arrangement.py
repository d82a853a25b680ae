"""How arrays must lie for cuDNN: channels last, as many as tensor cores take, where 16-byte loads can read them."""

from typing import Any

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.cudnn.graph import ALIGNMENT, Window
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.memory import channels_last, empty, zeros

Dims = tuple[int, int, int, int]
# the dtypes that plans are made for, by their letters, and how many channels fill 16 bytes
NAMES = {"f": "float32", "e": "float16", "E": "bfloat16"}
_FULL = {"f": 4, "e": 8, "E": 8}


def name_of(dtype: Any) -> str | None:
    """The dtype's name if plans are made for it, else None."""
    char = dtype.char
    # int1 and its kin have letters that floats have, too
    return NAMES[char] if char in NAMES and dtype.itemsize in (2, 4) and dtype.name == NAMES[char] else None


def whole_channels(count: int, dtype: Any, groups: int, strict: bool) -> int:
    """So many channels as the kernels are fast for: `count`, or a few more of zeros.

    strict: float32 is not rounded, so that there are no tensor cores to fill
    """
    full = _FULL[dtype.char]
    if groups > 1 or (strict and full == 4):
        return count
    return -(-count // full) * full


def fitted(size: Pair, out: Pair, ksize: Pair, stride: Pair, pad: Pad, dilate: Pair) -> tuple[Window, Pair]:
    """The window with padding that cuDNN takes, and how many rows and columns of the photo it may see.

    What the last windows do not reach may be padded or not: of all paddings with the same result the one that is
    nearest to being the same on both sides is taken. Where the end's padding must be negative the photo is cut.
    """
    post, kept = [], []
    for k in (0, 1):
        begin = pad[2 * k]
        least = (out[k] - 1) * stride[k] + dilate[k] * (ksize[k] - 1) + 1 - size[k] - begin
        most = least + stride[k] - 1
        post.append(max(min(max(begin, least), most), 0))
        kept.append(size[k] + min(most, 0))
    return Window((pad[0], pad[2]), tuple(post), stride, dilate), tuple(kept)


class Shapes:
    """Dims of one convolution as cuDNN is given them.

    x, w, y: dims with the channels that make them whole and without cut rows; window: how it slides; dtype: its name
    """

    __slots__ = ("dtype", "w", "window", "x", "y")

    def __init__(
        self,
        x: Dims,
        o: int,
        out: Pair,
        ksize: Pair,
        dtype: Any,
        stride: Pair,
        pad: Pad,
        dilate: Pair,
        groups: int,
        *,
        strict: bool,
    ):
        b, c, *size = x
        self.window, kept = fitted(tuple(size), out, ksize, stride, pad, dilate)
        c, o = (whole_channels(count, dtype, groups, strict) for count in (c, o))
        self.x = (b, c, *kept)
        self.w = (o, c // groups, *ksize)
        self.y = (b, o, *out)
        self.dtype = NAMES[dtype.char]


def is_aligned(x: Any) -> bool:
    """Whether kernels may load 16 bytes at a time."""
    return x.data.ptr % ALIGNMENT == 0


def arranged(x: Any, dims: Dims) -> Any:
    """x (B, C, H, W) channels-last with these dims: more channels are zeros, more rows and columns are cut off."""
    if x.shape == dims:
        x = channels_last(x)
        if is_aligned(x):
            return x
    c = x.shape[1]
    y = empty(dims, x.dtype) if c == dims[1] else zeros(dims, x.dtype)
    y[:, :c] = x[:, :, : dims[2], : dims[3]]
    return y


def arranged_weights(w: Any, dims: Dims, pack: dict | None) -> Any:
    """w (O, C, KH, KW) as (O, KH, KW, C) in memory with these dims: more filters and channels are zeros."""
    key = ("cudnn", dims)
    kept = None if pack is None else pack.get(key)
    if kept is None:
        if w.shape == dims:
            kept = arranged(w, dims)
            if kept is w:
                return w  # nothing was copied, which spares the owner's memory too
        else:
            kept = zeros(dims, w.dtype)
            kept[: w.shape[0], : w.shape[1]] = w
        if pack is not None:
            pack[key] = kept
    return kept


def arranged_bias(b: Any, count: int, dtype: Any) -> Any:
    """b (O,) as (count,) of this dtype, zeros behind."""
    if b.shape == (count,):
        b = cupy().ascontiguousarray(b.astype(dtype, copy=False))
        if is_aligned(b):
            return b
    y = cupy().zeros(count, dtype)
    y[: b.shape[0]] = b
    return y


def cut_back(y: Any, shape: Dims, rest: Any = None) -> Any:
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
