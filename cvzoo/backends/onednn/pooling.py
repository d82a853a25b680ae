"""Max and average pooling of channels-last arrays."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.interface import Dims, Pad, Pair, State
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import AveragePoolPlan, SumPlan, sum_plan
from cvzoo.backends.numpy.pooling import FEW, Stage, average_stages
from cvzoo.backends.numpy.pooling import average_pool_2d as numpy_average_pool_2d
from cvzoo.backends.numpy.pooling import average_pool_2d_grad as numpy_average_pool_2d_grad
from cvzoo.backends.numpy.pooling import max_pool_2d as numpy_max_pool_2d
from cvzoo.backends.numpy.pooling import max_pool_2d_grad as numpy_max_pool_2d_grad
from cvzoo.backends.numpy.windows import out_size
from cvzoo.backends.onednn.algorithms import ELTWISE
from cvzoo.backends.onednn.memory import as_kernels_want, channels_last, new_bytes, new_channels_last
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    F32,
    FORWARD_INFERENCE,
    FORWARD_TRAINING,
    QUERY_WORKSPACE,
    S8,
    SRC,
    U8,
    WORKSPACE,
    Handle,
    Primitive,
    attributes,
    describe_image,
    dims,
    local,
    primitive_descriptor,
    queried,
    recall,
    size_of,
)

__all__ = ["average_pool_2d", "average_pool_2d_grad", "max_pool_2d", "max_pool_2d_grad"]

_SELDOM = 6  # windows that cover a pixel: for more, rows first and then columns are faster
_WIDEST = 4096  # pixels of a row of a window that our kernel supports
_LANES = 16  # elements of a register
_NARROW = 64  # channels
_MAX, _MEAN_WITH_PAD, _MEAN = 0x1FF, 0x2FF, 0x3FF


class _Pooling:
    __slots__ = ("kept_size", "run", "shape")
    kept_size: int
    run: Primitive | NativePrimitive
    shape: Dims


def _plan(
    kind: int, prop: int, x_shape: Dims, ksize: Pair, stride: Pair, pad: Pad, factor: float = 1.0, dtype: np.dtype = F32
) -> tuple | None:
    """The forward plan, the descriptors of x and y, the geometry, and y's shape; None if oneDNN does not support it.

    factor: of y; dtype: of x and y
    """
    size = out_size(x_shape[2:], ksize, stride, pad)
    after = []
    for k in (0, 1):
        needed = (size[k] - 1) * stride[k] + ksize[k] - x_shape[2 + k] - pad[2 * k]
        after.append(0 if -stride[k] < needed < 0 else needed)
        # for a window entirely in the padding the library's maximum differs, and there is no mean
        if pad[2 * k] >= ksize[k] or needed >= ksize[k]:
            return None
    y_shape = (*x_shape[:2], *size)
    source, target = (
        describe_image(x_shape, dtype),
        describe_image(y_shape, dtype),
    )
    geometry = (dims(stride), dims(ksize), dims((0, 0)), dims((pad[0], pad[2])), dims(after))
    attr = attributes([("eltwise", *ELTWISE["linear"](factor, 0.0))] if factor != 1 else [])
    plan = primitive_descriptor("pooling_forward", prop, kind, source, target, *geometry, attr)
    return None if plan is None else (plan, source, target, geometry, y_shape)


def _make(
    kind: int,
    keep: bool,
    x_shape: Dims,
    ksize: Pair,
    stride: Pair,
    pad: Pad,
    factor: float = 1.0,
    dtype: np.dtype = F32,
) -> _Pooling | Literal[False]:
    planned = _plan(kind, FORWARD_TRAINING if keep else FORWARD_INFERENCE, x_shape, ksize, stride, pad, factor, dtype)
    if planned is None:
        return False
    plan, source, target, _, y_shape = planned
    pooling = _Pooling()
    slots: list[tuple[int, Handle | int]] = [(SRC, source), (DST, target)]
    workspace = queried(plan, QUERY_WORKSPACE)
    pooling.kept_size = size_of(workspace) if keep else 0
    if pooling.kept_size:
        slots.append((WORKSPACE, workspace))
    pooling.run = Primitive(plan, slots)
    pooling.shape = y_shape
    return pooling


def _make_grad(kind: int, keep: bool, x_shape: Dims, ksize: Pair, stride: Pair, pad: Pad) -> Primitive | Literal[False]:
    planned = _plan(kind, FORWARD_TRAINING, x_shape, ksize, stride, pad)
    if planned is None:
        return False
    plan, source, target, geometry, _ = planned
    backward = primitive_descriptor("pooling_backward", kind, source, target, *geometry, plan, attributes())
    if backward is None:
        return False
    slots: list[tuple[int, Handle | int]] = [(DIFF_DST, target), (DIFF_SRC, source)]
    if keep:
        slots.append((WORKSPACE, queried(plan, QUERY_WORKSPACE)))
    return Primitive(backward, slots)


class _Kept:
    """The indices of the maxima in oneDNN's workspace format."""

    __slots__ = ("workspace",)

    def __init__(self, workspace: np.ndarray):
        self.workspace = workspace


@in_float32
def max_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, keep: bool) -> tuple[np.ndarray, State]:
    """See `AbstractBackend.max_pool_2d`. NaN is ignored; the maximum of nothing else (or of -inf) is the lowest
    finite value."""
    if x.size and (x.dtype == F32 or (x.dtype in (S8, U8) and not keep)):
        key = ("max_pool", keep, x.shape, x.dtype, ksize, stride, pad)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make, _MAX, keep, x.shape, ksize, stride, pad, 1.0, x.dtype)
        if op:
            b, c, oh, ow = op.shape
            y = new_channels_last(b, c, oh, ow, x.dtype)
            if not op.kept_size:
                op.run(as_kernels_want(x) if x.dtype == F32 else channels_last(x), y)
                return y, None
            workspace = new_bytes(op.kept_size)
            op.run(as_kernels_want(x), y, workspace)
            return y, _Kept(workspace)
    return numpy_max_pool_2d(x, ksize=ksize, stride=stride, pad=pad, keep=keep)


@in_float32
def max_pool_2d_grad(
    gy: np.ndarray, state: State, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad
) -> np.ndarray:
    """See `AbstractBackend.max_pool_2d_grad`."""
    if not isinstance(state, _Kept):
        return numpy_max_pool_2d_grad(gy, state, x_shape, ksize=ksize, stride=stride, pad=pad)
    key = ("max_pool_grad", tuple(x_shape), ksize, stride, pad)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_grad, _MAX, True, x_shape, ksize, stride, pad)
    b, c, h, w = x_shape
    gx = new_channels_last(b, c, h, w)
    run(as_kernels_want(np.asarray(gy, F32)), gx, state.workspace)
    return gx


@in_float32
def average_pool_2d(x: np.ndarray, *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> np.ndarray:
    """See `AbstractBackend.average_pool_2d`."""
    if x.dtype == F32 and x.size:
        key = ("average_pool", count_pad, x.shape, ksize, stride, pad)
        ops = local.young.get(key)
        if ops is None:
            ops = recall(key, _make_average, x.shape, ksize, stride, pad, count_pad)
        if ops:
            y = as_kernels_want(x)
            for op in ops:
                x, y = y, new_channels_last(*op.shape)
                op.run(x, y)
            return y
    return numpy_average_pool_2d(x, ksize=ksize, stride=stride, pad=pad, count_pad=count_pad)


def _make_average(
    x_shape: Dims, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> list[_Pooling] | Literal[False]:
    apart = stride[0] >= ksize[0] and stride[1] >= ksize[1]
    ours = apart or (ksize == tuple(x_shape[2:]) and not any(pad)) or _is_narrow(x_shape[1], ksize, stride)
    if native() is not None and ksize[0] * ksize[1] > FEW and ours and ksize[1] <= _WIDEST:
        return [_make_native_average(x_shape, ksize, stride, pad, count_pad)]
    ops = []
    for stage in average_stages(tuple(x_shape[2:]), ksize, stride, pad):
        kind = _MEAN_WITH_PAD if count_pad or not any(pad) else _MEAN
        op = _make(kind, False, x_shape, *stage)
        if not op:
            return False
        ops.append(op)
        x_shape = op.shape
    return ops


def _is_narrow(c: int, ksize: Pair, stride: Pair) -> bool:
    """Whether our own kernel is faster: few channels that fill no register, and little overlap of windows."""
    seldom = ksize[0] * ksize[1] <= _SELDOM * stride[0] * stride[1]
    return c % _LANES != 0 and c < _NARROW and seldom and ksize[1] <= _WIDEST


def _make_native_average(x_shape: Dims, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool) -> _Pooling:
    b, c, h, w = x_shape
    oh, ow = out_size(x_shape[2:], ksize, stride, pad)
    plan: AveragePoolPlan | SumPlan | None
    if ksize != (h, w) or any(pad):
        name = "average_pool"
        plan = AveragePoolPlan(b, h, w, c, oh, ow, *ksize, *stride, pad[0], pad[2], count_pad)
    else:
        name = "sum"
        kept = [(b, h * w * c), (oh, stride[0] * w * c), (ow, stride[1] * c), (c, 1)]
        plan = sum_plan(kept, [(ksize[0], w * c), (ksize[1], c)], ksize[0] * ksize[1])
    pooling = _Pooling()
    assert plan is not None  # two summed axes are few enough
    pooling.run = NativePrimitive("pooling", name, plan, (SRC, DST))
    pooling.shape = (b, c, oh, ow)
    pooling.kept_size = 0
    return pooling


@in_float32
def average_pool_2d_grad(
    gy: np.ndarray, x_shape: Sequence[int], *, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> np.ndarray:
    """See `AbstractBackend.average_pool_2d_grad`."""
    if gy.dtype == F32 and gy.size:
        key = ("average_pool_grad", count_pad, tuple(x_shape), ksize, stride, pad)
        runs = local.young.get(key)
        if runs is None:
            runs = recall(key, _make_average_grad, tuple(x_shape), ksize, stride, pad, count_pad)
        if runs:
            gx = as_kernels_want(gy)
            for run, shape in runs:
                gy, gx = gx, new_channels_last(*shape)
                run(gy, gx)
            return gx
    return numpy_average_pool_2d_grad(gy, x_shape, ksize=ksize, stride=stride, pad=pad, count_pad=count_pad)


def _make_average_grad(
    x_shape: Dims, ksize: Pair, stride: Pair, pad: Pad, count_pad: bool
) -> list[tuple[Primitive, Dims]] | Literal[False]:
    """The calls, the last pooling's first, and the shapes of their results."""
    overlap = stride[0] < ksize[0] or stride[1] < ksize[1]
    stages = average_stages(x_shape[2:], ksize, stride, pad) if overlap and ksize != x_shape[2:] else ()
    runs: list[tuple[Primitive, Dims]] = []
    for stage in stages or (Stage(ksize, stride, pad),):  # without stages, one pass is enough
        run = _make_grad(_MEAN_WITH_PAD if count_pad else _MEAN, False, x_shape, *stage[:3])
        if not run:
            return False
        runs.insert(0, (run, x_shape))
        x_shape = (*x_shape[:2], *out_size(x_shape[2:], *stage[:3]))
    return runs
