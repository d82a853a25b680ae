"""Convolution and its gradients by cuDNN.

The backend `cupy` computes float64, integers, depthwise convolutions and whatever cuDNN has no kernel for. A repeated
call costs two dictionary lookups and one C call.
"""

import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import numpy as np

from cvzoo.backends.arrays import device_address
from cvzoo.backends.cudnn.arrangement import (
    Shapes,
    arranged,
    arranged_bias,
    arranged_weights,
    cut_back,
    name_of,
    weights_back,
)
from cvzoo.backends.cudnn.graph import Graph, forward_graph, input_grad_graph, weight_grad_graph
from cvzoo.backends.cudnn.plans import find_plan, rules_now
from cvzoo.backends.cudnn.session import BoundPlan, Session, current_session
from cvzoo.backends.cupy.conv import conv_2d as cupy_conv_2d
from cvzoo.backends.cupy.conv import conv_2d_input_grad as cupy_conv_2d_input_grad
from cvzoo.backends.cupy.conv import conv_2d_weight_grad as cupy_conv_2d_weight_grad
from cvzoo.backends.cupy.conv import finished
from cvzoo.backends.cupy.eltwise import add as add_arrays
from cvzoo.backends.cupy.memory import empty
from cvzoo.backends.interface import Dims, Pad, Pair
from cvzoo.backends.numpy.windows import out_size
from cvzoo.config.switches import switches
from cvzoo.typing.aliases import Array

__all__ = ["conv_2d", "conv_2d_input_grad", "conv_2d_weight_grad"]

_MOST_CALLS = 4096  # cached per thread; a network has some hundred per image size
T = TypeVar("T")


class _Calls(threading.local):
    def __init__(self) -> None:
        self.cache: dict[tuple, Any] = {}  # the type of a value depends on the function in the key


_calls = _Calls()


def forget_calls() -> None:
    """Clear this thread's cache of calls."""
    _calls.cache.clear()


def _cached(session: Session, key: tuple, make: Callable[..., T]) -> T:
    """The result of make(session, *key), cached per thread, device and state of the switches."""
    settings = (switches.dtype == "tf32", switches.deterministic, switches.autotune)
    key = (session, settings, *key)
    call: T | None = _calls.cache.get(key)
    if call is None:
        if len(_calls.cache) >= _MOST_CALLS:
            _calls.cache.clear()
        call = _calls.cache[key] = make(session, *key[2:])
    return call


def _bound(session: Session, graph: Graph) -> BoundPlan | None:
    if any(min(tensor.dims) < 1 for tensor in graph.tensors):
        return None  # windows that cover only padding
    plan = find_plan(graph, rules_now(), session, autotune=switches.autotune)
    return None if plan is None else BoundPlan(plan)


def _is_for_cudnn(x: Array, w: Array, group_channels: int, groups: int) -> bool:
    """Whether cuDNN may compute a convolution or gradient of x and w; depthwise ones have kernels of our own."""
    if x.dtype != w.dtype or name_of(x.dtype) is None or not x.size or not w.size:
        return False
    return groups == 1 or group_channels > 1


class _Forward:
    """A convolution. fused: the kernel also computes `add`, bias and ReLU; relu: whether there is a ReLU."""

    __slots__ = ("fused", "relu", "run", "shapes")

    def __init__(self, shapes: Shapes, run: BoundPlan, fused: bool, relu: bool):
        self.shapes = shapes
        self.run = run
        self.fused = fused
        self.relu = relu


def _make_forward(
    session: Session,
    dtype: np.dtype,
    x_shape: Dims,
    w_shape: Dims,
    geometry: tuple,
    has_bias: bool,
    has_add: bool,
    relu: bool,
) -> _Forward | Literal[False]:
    out = out_size(x_shape[2:], w_shape[2:], *geometry[:3])
    shapes = Shapes(x_shape, w_shape[0], out, w_shape[2:], dtype, *geometry, strict=rules_now().strict, may_block=True)
    dims = (shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype)
    if has_bias or has_add or relu:
        # cuDNN has precompiled fused kernels only with a bias, which is zeros where there is none
        run = _bound(session, forward_graph(*dims, add=has_add, bias=True, relu=relu))
        if run is not None:
            return _Forward(shapes, run, True, relu)
    run = _bound(session, forward_graph(*dims, add=False, bias=False, relu=False))
    return False if run is None else _Forward(shapes, run, False, False)


def conv_2d(
    x: Array,
    w: Array,
    b: Array | None,
    *,
    stride: Pair,
    pad: Pad,
    dilate: Pair,
    groups: int,
    add: Array | None = None,
    activation: str | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    pack: dict | None = None,
    winograd: bool = False,
    adds_last: bool = False,
) -> Array:
    """See `AbstractBackend.conv_2d`; `pack` caches w with its channels last.

    The same kernel adds `add` and b and computes ReLU, in float32; other activations are a second kernel.
    """
    if adds_last and add is not None:
        y = conv_2d(
            *(x, w, b),
            stride=stride,
            pad=pad,
            dilate=dilate,
            groups=groups,
            activation=activation,
            alpha=alpha,
            beta=beta,
            pack=pack,
        )
        return add_arrays(y, add)
    session = current_session() if _is_for_cudnn(x, w, w.shape[1], groups) else None
    key = (x.shape, w.shape, (stride, pad, dilate, groups), b is not None, add is not None, activation == "relu")
    call = session is not None and _cached(session, (x.dtype, *key), _make_forward)
    if session is None or not call:
        return cupy_conv_2d(
            x,
            w,
            b,
            stride=stride,
            pad=pad,
            dilate=dilate,
            groups=groups,
            add=add,
            activation=activation,
            alpha=alpha,
            beta=beta,
            pack=pack,
        )
    shapes, dtype = call.shapes, x.dtype
    y = empty(shapes.y, dtype)
    arrays = [arranged(x, shapes.x, shapes.block, shapes.begin), arranged_weights(w, shapes, pack)]
    if call.fused:
        if add is not None:
            arrays.append(arranged(add.astype(dtype, copy=False), shapes.y))
        o = shapes.y[1]
        arrays.append(session.zeros(o, dtype) if b is None else arranged_bias(b, o, dtype))
    call.run(session, (*[device_address(array) for array in arrays], device_address(y)))
    y = cut_back(y, (y.shape[0], w.shape[0], *y.shape[2:]))
    if call.fused:
        unfused = None if call.relu else activation
        return y if unfused is None else finished(y, None, None, unfused, alpha, beta)
    return finished(y, b, add, activation, alpha, beta)


class _Gradient:
    """A gradient. adds: the kernel accumulates into its result, which was initialized with `add`."""

    __slots__ = ("adds", "run", "shapes")

    def __init__(self, shapes: Shapes, run: BoundPlan, adds: bool = False):
        self.shapes = shapes
        self.run = run
        self.adds = adds


def _make_input_grad(
    session: Session, dtype: np.dtype, gy_shape: Dims, w_shape: Dims, x_size: Pair, geometry: tuple, has_add: bool
) -> _Gradient | Literal[False]:
    x_shape = (gy_shape[0], w_shape[1] * geometry[3], *x_size)
    shapes = Shapes(x_shape, gy_shape[1], gy_shape[2:], w_shape[2:], dtype, *geometry, strict=rules_now().strict)
    for adds in [True, False] if has_add else [False]:
        run = _bound(session, input_grad_graph(shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype, add=adds))
        if run is not None:
            return _Gradient(shapes, run, adds)
    return False


def conv_2d_input_grad(
    gy: Array, w: Array, x_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int, add: Array | None = None
) -> Array:
    """See `AbstractBackend.conv_2d_input_grad`; `add` is added by the kernel, before anything is rounded."""
    x_size = (x_size[0], x_size[1])  # hashable
    session = current_session() if _is_for_cudnn(gy, w, w.shape[1], groups) else None
    key = (gy.dtype, gy.shape, w.shape, x_size, (stride, pad, dilate, groups), add is not None)
    call = session is not None and _cached(session, key, _make_input_grad)
    if session is None or not call:
        return cupy_conv_2d_input_grad(gy, w, x_size, stride=stride, pad=pad, dilate=dilate, groups=groups, add=add)
    shapes = call.shapes
    if add is not None and call.adds:
        gx = arranged(add.astype(gy.dtype, copy=False), shapes.x)
        # the kernel accumulates into gx, and `add` must not change
        gx = gx.copy(order="K") if device_address(gx) == device_address(add) else gx
    else:
        gx = empty(shapes.x, gy.dtype)
    arrays = [arranged(gy, shapes.y), arranged_weights(w, shapes, None), gx]
    call.run(session, tuple([device_address(array) for array in arrays]))
    gx = cut_back(gx, (gx.shape[0], w.shape[1] * groups, *x_size), add if call.adds else None)
    return gx if add is None or call.adds else add_arrays(gx, add, out=gx)


def _make_weight_grad(
    session: Session, dtype: np.dtype, x_shape: Dims, gy_shape: Dims, w_size: Pair, geometry: tuple
) -> _Gradient | Literal[False]:
    shapes = Shapes(
        x_shape, gy_shape[1], gy_shape[2:], w_size, dtype, *geometry, strict=rules_now().strict, may_block=True
    )
    run = _bound(session, weight_grad_graph(shapes.x, shapes.w, shapes.y, shapes.window, shapes.dtype))
    return False if run is None else _Gradient(shapes, run)


def conv_2d_weight_grad(
    x: Array, gy: Array, w_size: Pair, *, stride: Pair, pad: Pad, dilate: Pair, groups: int
) -> Array:
    """See `AbstractBackend.conv_2d_weight_grad`."""
    w_size = (w_size[0], w_size[1])  # hashable
    session = current_session() if _is_for_cudnn(x, gy, x.shape[1] // groups, groups) else None
    key = (x.dtype, x.shape, gy.shape, w_size, (stride, pad, dilate, groups))
    call = session is not None and _cached(session, key, _make_weight_grad)
    if session is None or not call:
        return cupy_conv_2d_weight_grad(x, gy, w_size, stride=stride, pad=pad, dilate=dilate, groups=groups)
    shapes = call.shapes
    gw = empty(shapes.w, x.dtype)
    arrays = [arranged(x, shapes.x, shapes.block, shapes.begin), arranged(gy, shapes.y), gw]
    call.run(session, tuple([device_address(array) for array in arrays]))
    return weights_back(gw, (gy.shape[1], x.shape[1] // groups, *w_size), shapes.block)
