"""Two-dimensional convolution, its transpose and its weights' gradient: each is another's derivative.

In inference, convolution, sum and activation are fused in one pass over memory.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.prepared_weights import PreparedWeights
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.float_types import rounded
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import fits_weight, for_product, rounded_weight
from cvzoo.functions.connection.channel_sum import ChannelSum
from cvzoo.shapes.check import pair
from cvzoo.shapes.sizes import conv_out_size, deconv_out_size, end_pad, pads
from cvzoo.typing.aliases import Array

Sizes = int | Sequence[int]


class Convolution2D(FunctionNode):
    """x (B, C, H, W), W (O, C / groups, KH, KW), perhaps b (O,), to (B, O, OH, OW).

    window: stride, pad, dilate and groups as the kernels' arguments
    pack: where the backend may keep reordered copies of W
    W and b of float32 beside an x of 16 bits are rounded to its dtype; their gradients are float32 again.
    """

    def __init__(self, window: dict[str, Any], pack: PreparedWeights | None = None):
        self._window = window
        self._pack = pack
        self._winograd = switches.allows_winograd

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x = inputs[0]
        b = rounded(inputs[2], x.dtype) if len(inputs) == 3 else None
        self.retain_inputs((0, 1))
        W, pack = rounded_weight(inputs[1], x.dtype, self._pack)
        return (backend_of(x).conv_2d(x, W, b, pack=pack, winograd=self._winograd, **self._window),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, W = self.get_retained_inputs()
        (gy,) = gys
        grads = []
        for i in indexes:
            if i == 0:
                grads.append(Deconvolution2D(self._window, x.shape[2:]).apply((gy, W))[0])
            elif i == 1:
                # activations may have 16 bits while W has 32; its gradient has W's dtype
                grads.append(Convolution2DWeightGrad(self._window, W.shape[2:], W.dtype).apply((x, gy))[0])
            else:
                grads.append(ChannelSum().apply((gy,))[0])
        return tuple(grads)


class Deconvolution2D(FunctionNode):
    """x (B, C, H, W), W (C, O / groups, KH, KW), perhaps b (O,), to (B, O, *out_size)."""

    def __init__(self, window: dict[str, Any], out_size: Sequence[int]):
        self._window = window
        self._out_size = (int(out_size[0]), int(out_size[1]))

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x = inputs[0]
        self.retain_inputs((0, 1))
        backend = backend_of(x)
        y = backend.conv_2d_input_grad(x, rounded(inputs[1], x.dtype), self._out_size, **self._window)
        if len(inputs) == 3:
            y = backend.add(y, rounded(inputs[2], x.dtype)[:, None, None], out=y)
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, W = self.get_retained_inputs()
        (gy,) = gys
        grads = []
        for i in indexes:
            if i == 0:
                grads.append(Convolution2D(self._window).apply((gy, W))[0])
            elif i == 1:
                grads.append(Convolution2DWeightGrad(self._window, W.shape[2:], W.dtype).apply((gy, x))[0])
            else:
                grads.append(ChannelSum().apply((gy,))[0])
        return tuple(grads)


class Convolution2DWeightGrad(FunctionNode):
    """x (B, C, H, W), gy (B, O, OH, OW) to gW (O, C / groups, *w_size) of `dtype`."""

    def __init__(self, window: dict[str, Any], w_size: Sequence[int], dtype: np.dtype):
        self._window = window
        self._w_size = (int(w_size[0]), int(w_size[1]))
        self._dtype = dtype

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, gy = inputs
        self.retain_inputs((0, 1))
        gW = backend_of(x).conv_2d_weight_grad(x, gy, self._w_size, **self._window)
        return (rounded(gW, self._dtype),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, gy = self.get_retained_inputs()
        (ggW,) = gys
        grads = []
        for i in indexes:
            if i == 0:
                grads.append(Deconvolution2D(self._window, x.shape[2:]).apply((gy, ggW))[0])
            else:
                grads.append(Convolution2D(self._window).apply((x, ggW))[0])
        return tuple(grads)


# a layer passes the same settings in every call; typed, since True equals 1 but is refused
@functools.lru_cache(1024, typed=True)
def _cached_window(function: str, stride: Sizes, pad: Sizes, dilate: Sizes, groups: int) -> dict[str, Any]:
    window: dict[str, Any] = {
        "stride": pair(stride, name="stride", function=function),
        "pad": pads(pad, function=function),
        "dilate": pair(dilate, name="dilate", function=function),
        "groups": groups,
    }
    if not isinstance(groups, int):
        raise DtypeError(f"{function}: groups must be a number", got=repr(groups))
    for name in ("stride", "dilate"):
        if min(window[name]) < 1:
            raise ValueRangeError(f"{function}: {name} must be at least 1", got=repr(window[name]))
    if groups < 1:
        raise ValueRangeError(f"{function}: groups must be at least 1", got=groups)
    return window


def convolution_window(function: str, stride: Sizes, pad: Sizes, dilate: Sizes, groups: int) -> dict[str, Any]:
    """How the window slides, as the kernels' arguments.

    Raises ValueRangeError or DtypeError that names `function` if a number is not at least 1.
    """
    try:
        return _cached_window(function, stride, pad, dilate, groups)
    except TypeError as error:
        if isinstance(error, DtypeError):
            raise
        plain = [tuple(v) if isinstance(v, list) else v for v in (stride, pad, dilate)]
        return _cached_window.__wrapped__(function, *plain, groups)  # arrays and the like cannot be looked up


def _letters(x_shape: Sequence[int], w_shape: Sequence[int], w_letters: str) -> str:
    return f"x {tuple(x_shape)}  B C H W\n            W {tuple(w_shape)}  {w_letters}"


def _check_arrays(function: str, x: Variable, W: Variable, b: Variable | None, w_letters: str) -> None:
    """Checks of ranks and dtypes that both functions share."""
    if W.shape is None or (b is not None and b.shape is None):
        raise GraphError(f"{function}: a parameter has no value yet", hint="parameter.initialize(shape)")
    if x.ndim != 4 or len(W.shape) != 4:
        hint = "x[None] makes a batch of one image" if x.ndim == 3 else None
        raise ShapeError(f"{function}: x and W must be 4-D", got=_letters(x.shape, W.shape, w_letters), hint=hint)
    if not fits_weight(x.dtype, W.dtype) or (b is not None and b.dtype != W.dtype):
        raise DtypeError(
            f"{function}: x, W and b must have one dtype",
            got=f"x {x.dtype}, W {W.dtype}" + ("" if b is None else f", b {b.dtype}"),
            hint=f"x.astype('{W.dtype}'); images as read are uint8" if x.dtype != W.dtype else None,
        )


def convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    *,
    cover_all: bool = False,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """The cross-correlation of x with the filters W: (B, O, OH, OW).

    x: (B, C, H, W)
    W: (O, C / groups, KH, KW); with groups = C it is a depthwise convolution
    b: (O,), added to every pixel, or None
    stride, dilate: a number or (rows, columns)
    pad: zeros around x: a number, (rows, columns) or (top, bottom, left, right)
    cover_all: one more window at the end if it would cover remaining pixels
    groups: channels and filters are split into this many groups, each convolved separately
    Raises ShapeError if channels, groups or sizes do not fit, DtypeError if dtypes differ.
    """
    x = for_product(as_variable(x))
    W = as_variable(W)
    if b is not None:
        b = as_variable(b)
    x_shape, w_shape = x.shape, W.shape
    is_plain = w_shape is not None and len(x_shape) == len(w_shape) == 4 and x._array.dtype == W._array.dtype
    if not is_plain or (b is not None and (b._array is None or b._array.dtype != W._array.dtype)):
        _check_arrays("convolution_2d", x, W, b, "O C/groups KH KW")
    window = convolution_window("convolution_2d", stride, pad, dilate, groups)
    o, c_group, kh, kw = w_shape
    if x_shape[1] != c_group * groups or o % groups or (b is not None and b.shape != (o,)):
        _refuse_channels(x_shape, w_shape, None if b is None else b.shape, groups)
    (sy, sx), (top, bottom, left, right), (dy, dx) = window["stride"], window["pad"], window["dilate"]
    if cover_all:
        bottom = end_pad(x_shape[2], kh, sy, top, bottom, dy)
        right = end_pad(x_shape[3], kw, sx, left, right, dx)
        window = {**window, "pad": (top, bottom, left, right)}
    if x_shape[2] + top + bottom <= dy * (kh - 1) or x_shape[3] + left + right <= dx * (kw - 1):
        conv_out_size(x_shape[2], kh, sy, top, bottom, dy)
        conv_out_size(x_shape[3], kw, sx, left, right, dx)
    # only a parameter's value is guarded against changes, so only its reordered copies may be cached
    node = Convolution2D(window, W.packs() if isinstance(W, Parameter) else None)
    return node.apply((x, W) if b is None else (x, W, b))[0]


def _refuse_channels(
    x_shape: Sequence[int], w_shape: Sequence[int], b_shape: Sequence[int] | None, groups: int
) -> None:
    o, c_group = w_shape[:2]
    got = _letters(x_shape, w_shape, "O C/groups KH KW")
    if x_shape[1] != c_group * groups:
        raise ShapeError(
            f"convolution_2d: x has {x_shape[1]} channels, W wants {c_group * groups} (groups={groups})",
            expected=f"x (B, {c_group * groups}, H, W)",
            got=got,
            hint=f"W of shape ({o}, {x_shape[1] // groups}, ...)" if x_shape[1] % groups == 0 else None,
        )
    if o % groups:
        raise ShapeError(f"convolution_2d: {o} filters cannot be split into {groups} groups", got=got)
    raise ShapeError("convolution_2d: b needs one number for each filter", expected=(o,), got=b_shape)


def deconvolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    outsize: Sequence[int] | None = None,
    *,
    dilate: Sizes = 1,
    groups: int = 1,
) -> Variable:
    """The transpose of a convolution (not its inverse): (B, O, OH, OW).

    x: (B, C, H, W)
    W: (C, O / groups, KH, KW)
    b: (O,) or None
    outsize: (OH, OW); by default the smallest that a convolution would bring back to (H, W)
    stride, pad, dilate, groups: those of the convolution that it is the transpose of
    Raises ShapeError if channels, groups or sizes do not fit, DtypeError if dtypes differ.
    """
    x = for_product(as_variable(x))
    W = as_variable(W)
    if b is not None:
        b = as_variable(b)
    _check_arrays("deconvolution_2d", x, W, b, "C O/groups KH KW")
    window = convolution_window("deconvolution_2d", stride, pad, dilate, groups)
    (sy, sx), (top, bottom, left, right), (dy, dx) = window["stride"], window["pad"], window["dilate"]
    _, c, h, w = x.shape
    c_w, o_group, kh, kw = W.shape
    got = _letters(x.shape, W.shape, "C O/groups KH KW")
    if c != c_w:
        raise ShapeError(
            f"deconvolution_2d: x has {c} channels, W wants {c_w}", expected=f"x (B, {c_w}, H, W)", got=got
        )
    if c % groups:
        raise ShapeError(f"deconvolution_2d: {c} channels cannot be split into {groups} groups", got=got)
    if b is not None and b.shape != (o_group * groups,):
        raise ShapeError(
            "deconvolution_2d: b needs one number for each filter", expected=(o_group * groups,), got=b.shape
        )
    if outsize is None:
        outsize = deconv_out_size(h, kh, sy, top, bottom, dy), deconv_out_size(w, kw, sx, left, right, dx)
    else:
        outsize = pair(outsize, name="outsize", function="deconvolution_2d")
        # of several sizes that a convolution would bring to x's, the smallest may lie in the padding: not a size
        least = sy * (h - 1) + dy * (kh - 1) + 1 - top - bottom, sx * (w - 1) + dx * (kw - 1) + 1 - left - right
        most = least[0] + sy - 1, least[1] + sx - 1
        if not all(max(a, 1) <= size <= b for a, size, b in zip(least, outsize, most)):
            raise ShapeError(
                f"deconvolution_2d: a convolution of outsize {outsize} would not give x's size {(h, w)}",
                expected=f"from {least} to {most}, at least (1, 1)",
                got=outsize,
            )
    node = Deconvolution2D(window, outsize)
    return node.apply((x, W) if b is None else (x, W, b))[0]


def dilated_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: Sizes = 1,
    pad: Sizes = 0,
    dilate: Sizes = 1,
    cover_all: bool = False,
) -> Variable:
    """`convolution_2d` with `dilate` - 1 pixels between neighboring taps of the filter; the same arguments."""
    return convolution_2d(x, W, b, stride, pad, cover_all=cover_all, dilate=dilate)


class DeconvolutionAndSum(FunctionNode):
    """x (B, C, H, W), W (C, O / groups, KH, KW), other (B, O, *out_size) to the transposed convolution plus `other`.

    It is never part of a graph.
    """

    def __init__(self, window: dict[str, Any], out_size: Sequence[int]):
        self._window = window
        self._out_size = (int(out_size[0]), int(out_size[1]))

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, W, other = inputs
        W = rounded(W, x.dtype)
        return (backend_of(x).conv_2d_input_grad(x, W, self._out_size, add=other, **self._window),)


class FusedConvolution2D(FunctionNode):
    """x, W, perhaps b and what is added, to activation(conv(x, W) + b + add). It is never part of a graph."""

    def __init__(self, settings: dict[str, Any], has_b: bool, has_add: bool):
        self._settings = settings
        self._has = has_b, has_add

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, W, *rest = inputs
        has_b, has_add = self._has
        b = rounded(rest.pop(0), x.dtype) if has_b else None
        add = rest.pop(0) if has_add else None
        W, pack = rounded_weight(W, x.dtype, self._settings.get("pack"))
        return (backend_of(x).conv_2d(x, W, b, add=add, **{**self._settings, "pack": pack}),)


def fused_convolution_2d(
    x: Variable | Array,
    W: Variable | Array,
    b: Variable | Array | None = None,
    stride: int | Sequence[int] = 1,
    pad: int | Sequence[int] = 0,
    *,
    dilate: int | Sequence[int] = 1,
    groups: int = 1,
    add: Variable | Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: PreparedWeights | None = None,
) -> Variable:
    """activation(convolution_2d(x, W, b) + add), (B, O, OH, OW), without a gradient.

    x, W, b, stride, pad, dilate, groups: as in `convolution_2d`
    add: (B, O, OH, OW), or None
    activation, alpha, beta: "relu", or another kind of the backends' `eltwise` and its numbers; None leaves the values
    pack: a cache of reordered copies of W, which the caller clears when W changes; a Parameter has its own
    Raises GraphError where gradients are being taken, ShapeError or DtypeError if the arrays do not fit.
    """
    if switches.enable_backprop:
        raise GraphError("fused_convolution_2d has no gradient", hint="with cvzoo.no_backprop_mode(): ...")
    x, W = for_product(as_variable(x)), as_variable(W)
    if isinstance(W, Parameter) and pack is None:
        pack = W.packs()
    window = convolution_window("fused_convolution_2d", stride, pad, dilate, groups)
    _check_fused(x, W, b, add, window)
    extra = [as_variable(v) for v in (b, add) if v is not None]
    after = {"activation": activation, "alpha": alpha, "beta": beta}
    settings = {**window, **after, "pack": pack, "winograd": switches.allows_winograd}
    return FusedConvolution2D(settings, b is not None, add is not None).apply((x, W, *extra))[0]


def _check_fused(
    x: Variable, W: Variable, b: Variable | Array | None, add: Variable | Array | None, window: dict[str, Any]
) -> None:
    x_shape, w_shape = x.shape, W.shape
    if w_shape is None or len(x_shape) != 4 or len(w_shape) != 4 or x_shape[1] != w_shape[1] * window["groups"]:
        raise ShapeError(
            "fused_convolution_2d: x and W do not fit",
            expected="x (B, C, H, W), W (O, C / groups, KH, KW)",
            got=f"x {x_shape}, W {w_shape}, groups {window['groups']}",
        )
    fits = fits_weight(x.dtype, W.dtype) and (b is None or b.dtype == W.dtype)
    if not fits or (add is not None and add.dtype != x.dtype):
        raise DtypeError("fused_convolution_2d: all arrays must have one dtype", expected=W.dtype, got=x.dtype)
    if b is not None and b.shape != w_shape[:1]:
        raise ShapeError("fused_convolution_2d: b needs one number for each filter", expected=w_shape[:1], got=b.shape)
    check_added(add, x_shape, w_shape, window, "fused_convolution_2d")


def check_added(
    add: Variable | Array | None, x_shape: Sequence[int], w_shape: Sequence[int], window: dict[str, Any], function: str
) -> None:
    """Raises ShapeError if the addend does not have the shape of the result, or x is smaller than a window."""
    stride, pad, dilate = window["stride"], window["pad"], window["dilate"]
    out = [
        conv_out_size(x_shape[2 + k], w_shape[2 + k], stride[k], pad[2 * k], pad[2 * k + 1], dilate[k]) for k in (0, 1)
    ]
    y_shape = (x_shape[0], w_shape[0], *out)
    if add is not None and add.shape != y_shape:
        raise ShapeError(f"{function}: the addend has the wrong shape", expected=y_shape, got=add.shape)
