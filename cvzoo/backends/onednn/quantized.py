"""int8 kernels: oneDNN's on CPUs with VNNI instructions, our own with AVX2; others compute the same sums in float32."""

from typing import Any, Literal

import numpy as np

from cvzoo.backends.abstract import Pad, Pair
from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.quantized import conv_2d_int8 as numpy_conv_2d_int8
from cvzoo.backends.numpy.quantized import linear_int8 as numpy_linear_int8
from cvzoo.backends.numpy.quantized import quantize as numpy_quantize
from cvzoo.backends.onednn.conv import conv_2d
from cvzoo.backends.onednn.forward_convolution import ForwardConvolution, make_forward, vector
from cvzoo.backends.onednn.int8_sums import has_int8_sums, make_int8_sums
from cvzoo.backends.onednn.library import library
from cvzoo.backends.onednn.matmul import linear
from cvzoo.backends.onednn.memory import (
    PackedWeights,
    channels_last,
    new_bytes_like,
    new_channels_last,
    new_dense,
    with_plain_strides,
)
from cvzoo.backends.onednn.primitives import (
    BIAS,
    DST,
    F32,
    QUERY_WEIGHTS,
    S8,
    SCALES,
    SRC,
    U8,
    WEIGHTS,
    Handle,
    Primitive,
    attributes,
    describe,
    local,
    primitive_descriptor,
    queried,
    recall,
    strides_of,
)

__all__ = ["conv_2d_int8", "linear_int8", "quantize"]

_BYTES = (S8, U8)
_FEW = 1 << 12  # elements; for fewer, NumPy is faster than a oneDNN call, but not replayed without Python
_HOMOGENEOUS = (None, "relu", "leaky_relu")  # f(c * x) = c * f(x) for c > 0
_POINT: dict[str, Any] = {"stride": (1, 1), "pad": (0, 0, 0, 0), "dilate": (1, 1), "groups": 1}
_CERTAINLY_LAST = 254.75  # steps, which are rounded to 255 whatever the last bits


def _has_bytes() -> bool:
    """Whether the CPU has int8 dot products without saturation."""
    return library().has_int8


# --- quantization to int8 -------------------------------------------------------------------------------------------
class _Quantize:
    __slots__ = ("inverse", "run")
    inverse: np.ndarray
    run: Primitive


def _make_quantize(x: np.ndarray, scale: float, signed: bool) -> _Quantize | Literal[False]:
    flat = (x.size,)
    source, target = describe(flat, (1,)), describe(flat, (1,), S8 if signed else U8)
    descriptor = primitive_descriptor("reorder", source, target, attributes((), [(SRC, 0)]))
    if descriptor is None:
        return False
    made = _Quantize()
    made.run = Primitive(descriptor, [(SRC, source), (DST, target), (SCALES | SRC, describe((1,), (1,)))])
    # a reorder multiplies by its scale
    made.inverse = np.float32(1) / np.array([scale], F32)
    return made


@in_float32(rounds=False)
def quantize(x: np.ndarray, *, scale: float, signed: bool) -> np.ndarray:
    """See `AbstractBackend.quantize`."""
    if x.dtype != F32 or not x.size or (x.size < _FEW and local.recorder is None):
        return numpy_quantize(x, scale=scale, signed=signed)
    x = channels_last(x) if x.ndim == 4 else np.ascontiguousarray(x)
    key = ("quantize", x.size, scale, signed)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_quantize, x, scale, signed)
    if not op:
        return numpy_quantize(x, scale=scale, signed=signed)
    y = new_bytes_like(x, S8 if signed else U8)
    op.run(x, y, op.inverse)
    return y


# --- convolution ----------------------------------------------------------------------------------------------------
class _Convolution:
    __slots__ = ("out_scale", "run")

    def __init__(self, run: ForwardConvolution, out_scale: tuple[np.ndarray, ...] = ()):
        self.run = run
        self.out_scale = out_scale


def _make_convolution(
    x: np.ndarray,
    w: np.ndarray,
    case: tuple,
    added: tuple[np.dtype, float | None],
    out_scale: float | None,
    out_dtype: np.dtype,
) -> _Convolution | Literal[False]:
    dtype, add_scale = added
    if not _has_bytes():
        has_bias, geometry, has_add, activation, alpha, beta = case
        own = has_int8_sums() and make_int8_sums(
            *(x.shape, x.dtype, w.shape, has_bias, geometry, dtype if has_add else None),
            *(activation, alpha, beta, add_scale, out_scale, out_dtype),
        )
        return _Convolution(own) if own else False
    # one multiplication less: sums stay divided by the scale of the addend, and are divided once by what remains
    counts_as_added = out_scale is not None and add_scale is not None and case[3] in _HOMOGENEOUS
    run = make_forward(
        x.shape,
        w,
        *case,
        source=x.dtype,
        factors=S8,
        target=out_dtype,
        added=dtype,
        add_scale=add_scale,
        scaled=True,
        out_scaled=out_scale is not None,
        counts_as_added=counts_as_added,
        name=x.dtype.str,
    )
    if not run:
        return False
    if out_scale is not None and add_scale is not None and counts_as_added:
        out_scale /= add_scale
    return _Convolution(run, () if out_scale is None else (np.array([out_scale], F32),))


def _is_implied(activation: str | None, alpha: float, beta: float, out_scale: float) -> bool:
    """Whether the rounding to 0 .. 255 steps of out_scale does what the activation would do."""
    if activation in ("clip", "clamp"):
        return alpha <= 0 and beta >= _CERTAINLY_LAST * out_scale
    return activation == "relu" or (activation == "leaky_relu" and alpha >= 0)


def conv_2d_int8(
    x: np.ndarray,
    w: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: np.ndarray | None = None,
    add_scale: float | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    out_scale: float | None = None,
    out_signed: bool = False,
    pack: dict | None = None,
) -> np.ndarray:
    """See `AbstractBackend.conv_2d_int8`; `pack` holds reordered weights by the name of their order."""
    if add is not None and add_scale is None:
        add = np.asarray(add, F32)
    how: dict[str, Any] = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    how |= {"add": add, "activation": activation, "alpha": alpha, "beta": beta}
    to: dict[str, Any] = {"add_scale": add_scale, "out_scale": out_scale, "out_signed": out_signed}
    if not x.size or not w.size or x.dtype not in _BYTES or w.dtype != S8:
        return numpy_conv_2d_int8(x, w, scale, b, **how, **to)
    w = with_plain_strides(w)
    out_dtype = F32 if out_scale is None else S8 if out_signed else U8
    if out_scale is not None and not out_signed and _is_implied(activation, alpha, beta, out_scale):
        activation, alpha, beta = None, 0.0, 0.0
    case = (b is not None, (stride, pad, dilate, groups), add is not None, activation, alpha, beta)
    added = (F32 if add is None else add.dtype, add_scale)
    key = ("conv_int8", x.shape, x.dtype, w.shape, w.strides, case, added, out_scale, out_dtype)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_convolution, x, w, case, added, out_scale, out_dtype)
    if not op and not _has_bytes():
        if add is not None and add_scale is not None:
            how["add"] = add * np.float32(add_scale)
        y = conv_2d(x.astype(F32), w * vector(scale)[:, None, None, None], b, **how)
        return y if out_scale is None else quantize(y, scale=out_scale, signed=out_signed)
    if not op:
        return numpy_conv_2d_int8(x, w, scale, b, **how, **to)
    batch, channels, height, width = op.run.shape
    y = new_channels_last(batch, channels, height, width, out_dtype)
    op.run(channels_last(x), w, b, add, y, pack, vector(scale), *op.out_scale)
    return y


# --- matrices -------------------------------------------------------------------------------------------------------
class _Linear:
    __slots__ = ("run", "shape", "weights")
    run: Primitive
    shape: tuple[int, int]
    weights: PackedWeights


def _make_linear(x: np.ndarray, w: np.ndarray, has_bias: bool) -> _Linear | Literal[False]:
    n, o = x.shape[0], w.shape[0]
    source, target = describe(x.shape, (x.shape[1], 1), x.dtype), describe((n, o), (o, 1))
    bias = describe((1, o), (o, 1)) if has_bias else None
    wanted = describe(w.shape[::-1], None, S8)
    descriptor = primitive_descriptor(
        "matmul",
        source,
        wanted,
        bias,
        target,
        attributes((), [(WEIGHTS, 0b10)]),  # a scale for each column
    )
    if descriptor is None:
        return False
    chosen = queried(descriptor, QUERY_WEIGHTS)
    slots: list[tuple[int, Handle | int]] = [(SRC, source), (WEIGHTS, chosen), (DST, target)]
    slots.append((SCALES | WEIGHTS, describe((o,), (1,))))
    if bias is not None:
        slots.append((BIAS, bias))
    made = _Linear()
    plain = describe(w.shape[::-1], strides_of(w)[::-1], S8)
    made.weights = PackedWeights(plain, chosen, name=x.dtype.str)
    made.run = Primitive(descriptor, slots)
    made.shape = (n, o)
    return made


def linear_int8(
    x: np.ndarray, w: np.ndarray, scale: np.ndarray, b: np.ndarray | None, *, pack: dict | None = None
) -> np.ndarray:
    """See `AbstractBackend.linear_int8`; `pack` holds reordered weights by the name of their order."""
    if not x.size or not w.size or x.dtype not in _BYTES or w.dtype != S8:
        return numpy_linear_int8(x, w, scale, b)
    if not _has_bytes() and not has_int8_sums():
        return linear(x.astype(F32), w * vector(scale)[:, None], b)
    if not _has_bytes():  # rows are the pixels of an image
        (n, c), o = x.shape, len(w)
        image, filters = np.ascontiguousarray(x).T.reshape(1, c, n, 1), w.reshape(o, c, 1, 1)
        y = conv_2d_int8(image, filters, scale, b, **_POINT, pack=pack)
        return y.transpose(0, 2, 3, 1).reshape(n, o)
    x, w = np.ascontiguousarray(x), with_plain_strides(w)
    has_bias = b is not None
    key = ("linear_int8", x.shape, x.dtype, w.shape, w.strides, has_bias)
    op = local.young.get(key)
    if op is None:
        op = recall(key, _make_linear, x, w, has_bias)
    if not op:
        return numpy_linear_int8(x, w, scale, b)
    y = new_dense(op.shape)
    arrays = [x, op.weights(w, pack), y, vector(scale)]
    op.run(*(arrays if b is None else [*arrays, vector(b)]))
    return y
