"""Convolution of numbers of 16 bits, for processors that have instructions for it."""

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.numpy.bfloat16 import conv_2d_bf16 as numpy_conv_2d_bf16
from cvzoo.backends.numpy.bfloat16 import rounded
from cvzoo.backends.onednn.conv import conv_2d
from cvzoo.backends.onednn.forward_convolution import make_forward
from cvzoo.backends.onednn.library import library
from cvzoo.backends.onednn.memory import as_kernels_want, new_channels_last
from cvzoo.backends.onednn.packing import with_plain_strides
from cvzoo.backends.onednn.primitives import (
    BF16,
    DST,
    F32,
    SRC,
    Primitive,
    attributes,
    describe_image,
    local,
    primitive_descriptor,
    recall,
)


def _make_conversion(x_shape: tuple[int, ...]) -> Primitive | bool:
    given, source = describe_image(x_shape), describe_image(x_shape, BF16)
    descriptor = primitive_descriptor("reorder", given, source, attributes())
    return Primitive(descriptor, [(SRC, given), (DST, source)]) if descriptor else False


class _Convolution:
    __slots__ = ("convert", "run")


def _make_convolution(x_shape: tuple[int, ...], w: np.ndarray, case: tuple) -> _Convolution | bool:
    made = _Convolution()
    made.run = make_forward(x_shape, w, *case, source=BF16, factors=BF16, name="bf16")
    made.convert = _make_conversion(x_shape)
    return made if made.run and made.convert else False


def conv_2d_bf16(
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: dict | None = None,
) -> np.ndarray:
    """As AbstractBackend.conv_2d_bf16 says; `pack` holds reordered weights by the name of their order."""
    how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    how |= {"add": add, "activation": activation, "alpha": alpha, "beta": beta}
    if x.dtype is not F32 or w.dtype is not F32 or not x.size or not w.size:
        return numpy_conv_2d_bf16(x, w, b, **how)
    if not library().has_bf16:
        return conv_2d(rounded(x), rounded(w), b, **how)
    w = with_plain_strides(w)
    case = (b is not None, (stride, pad, dilate, groups), add is not None, activation, alpha, beta)
    key = ("conv_bf16", x.shape, w.shape, w.strides, case)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_convolution, x.shape, w, case)
    if not op:
        return numpy_conv_2d_bf16(x, w, b, **how)
    y, source = new_channels_last(*op.run.shape), new_channels_last(*x.shape, BF16)
    op.convert(as_kernels_want(x), source)
    op.run(source, w, b, add, y, pack)
    return y
