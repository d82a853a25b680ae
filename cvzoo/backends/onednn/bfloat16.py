"""Convolution in bfloat16, for CPUs with instructions for it."""

from typing import Any, Literal

import numpy as np

from cvzoo.backends.interface import Dims, Pad, Pair
from cvzoo.backends.numpy.bfloat16 import conv_2d_bf16 as numpy_conv_2d_bf16
from cvzoo.backends.numpy.bfloat16 import from_bits, rounded, to_bits
from cvzoo.backends.onednn.conv import conv_2d
from cvzoo.backends.onednn.forward_convolution import ForwardConvolution, make_forward
from cvzoo.backends.onednn.library import library
from cvzoo.backends.onednn.memory import as_kernels_want, channels_last, new_channels_last, with_plain_strides
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

__all__ = ["conv_2d_bf16"]


def _make_conversion(x_shape: Dims) -> Primitive | Literal[False]:
    given, source = describe_image(x_shape), describe_image(x_shape, BF16)
    descriptor = primitive_descriptor("reorder", given, source, attributes())
    return Primitive(descriptor, [(SRC, given), (DST, source)]) if descriptor else False


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
    out_bits: bool = False,
    pack: dict | None = None,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_bf16`; `pack` holds reordered weights by the name of their order."""
    how: dict[str, Any] = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    how |= {"add": add, "activation": activation, "alpha": alpha, "beta": beta}
    if x.dtype not in (F32, BF16) or w.dtype != F32 or not x.size or not w.size:
        return numpy_conv_2d_bf16(x, w, b, out_bits=out_bits, **how)
    if not library().has_bf16:
        how["add"] = from_bits(add) if add is not None and add.dtype == BF16 else add
        # products of two bfloat16 values are exact in float32, so only the order of summation differs
        y = conv_2d(from_bits(x) if x.dtype == BF16 else rounded(x), rounded(w), b, **how)
        return to_bits(y) if out_bits else y
    w = with_plain_strides(w)
    case = (b is not None, (stride, pad, dilate, groups), add is not None, activation, alpha, beta)
    kinds = (BF16 if out_bits else F32, F32 if add is None or add.dtype != BF16 else BF16)
    key = ("conv_bf16", x.shape, w.shape, w.strides, case, kinds)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_convolution, x.shape, w, case, kinds)
    source = _bits(x) if op else None
    if source is None:
        return numpy_conv_2d_bf16(x, w, b, out_bits=out_bits, **how)
    batch, channels, height, width = op.shape
    y = new_channels_last(batch, channels, height, width, kinds[0])
    op(source, w, b, add, y, pack)
    return y


def _make_convolution(
    x_shape: Dims, w: np.ndarray, case: tuple, kinds: tuple[np.dtype, np.dtype]
) -> ForwardConvolution | Literal[False]:
    return make_forward(x_shape, w, *case, source=BF16, factors=BF16, target=kinds[0], added=kinds[1], name="bf16")


def _bits(x: np.ndarray) -> np.ndarray | None:
    """x channels-last as bits; None if the library does not do that."""
    if x.dtype == BF16:
        return channels_last(x)
    key = ("bf16", x.shape)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_conversion, x.shape)
    if not run:
        return None
    b, c, h, w = x.shape
    bits = new_channels_last(b, c, h, w, BF16)
    run(as_kernels_want(x), bits)
    return bits
