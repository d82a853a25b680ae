"""Batch, layer and local response normalization."""

import math
from typing import Literal

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.interface import Dims
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import BITS, BYTES, NO_MASK, BatchNormPlan, LayerNormPlan
from cvzoo.backends.numpy.normalization import batch_norm_fixed as numpy_batch_norm_fixed
from cvzoo.backends.numpy.normalization import batch_norm_grad as numpy_batch_norm_grad
from cvzoo.backends.numpy.normalization import batch_norm_statistics as numpy_batch_norm_statistics
from cvzoo.backends.numpy.normalization import batch_norm_train as numpy_batch_norm_train
from cvzoo.backends.numpy.normalization import layer_norm as numpy_layer_norm
from cvzoo.backends.numpy.normalization import layer_norm_grad as numpy_layer_norm_grad
from cvzoo.backends.numpy.normalization import local_response_norm as numpy_local_response_norm
from cvzoo.backends.numpy.normalization import local_response_norm_grad as numpy_local_response_norm_grad
from cvzoo.backends.onednn.batch_statistics import are_taken_apart, batch_statistics
from cvzoo.backends.onednn.memory import as_kernels_want, new_bytes, new_channels_last, new_dense, new_vector
from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    BACKWARD,
    DIFF_DST,
    DIFF_SCALE,
    DIFF_SHIFT,
    DIFF_SRC,
    DST,
    F32,
    FORWARD_INFERENCE,
    FORWARD_TRAINING,
    MEAN,
    QUERY_WORKSPACE,
    SCALE,
    SHIFT,
    SRC,
    VARIANCE,
    WORKSPACE,
    Handle,
    Primitive,
    attributes,
    describe,
    describe_image,
    implementation,
    local,
    primitive_descriptor,
    queried,
    recall,
    size_of,
    supported,
)

__all__ = [
    "batch_norm_fixed",
    "batch_norm_grad",
    "batch_norm_statistics",
    "batch_norm_train",
    "layer_norm",
    "layer_norm_grad",
    "local_response_norm",
    "local_response_norm_grad",
]

_GIVEN_STATISTICS, _USE_SCALE, _USE_SHIFT, _RELU = 1, 2, 4, 8
_ACROSS_CHANNELS = 0xAFF
_LONG = 1 << 13  # elements of a row; for more the library's sums are inaccurate
_N = 5  # channels of the window that the library has kernels for; with some others version 3.2 crashes


def is_case(x: np.ndarray, gamma: np.ndarray) -> bool:
    """Whether oneDNN supports batch normalization of x."""
    return x.dtype == F32 and gamma.dtype == F32 and x.size > 0 and x.ndim in (2, 4)


def to_image(x: np.ndarray) -> np.ndarray:
    """x (B, C, H, W) or (B, C) as a channels-last (B, C, H, W)."""
    if x.ndim == 2:
        x = x[:, :, None, None]
    return as_kernels_want(np.asarray(x, F32))


def to_vector(v: np.ndarray) -> np.ndarray:
    """v (C,) as contiguous float32."""
    return v if v.dtype == F32 and v.strides == (4,) else np.ascontiguousarray(v, F32)


def normalization_plan(
    shape: Dims, eps: float, given: bool, relu: bool, keeps: bool = False
) -> tuple[Primitive, int] | Literal[False]:
    """The primitive of x, y, gamma, beta, mean, var and an optional mask, and the mask's size in bytes; False if there
    is none.

    given: the statistics are inputs
    keeps: whether a mask is stored for a gradient, with relu
    """
    image, vector = describe_image(shape), describe(shape[1:2], (1,))
    flags = _USE_SCALE | _USE_SHIFT | (_GIVEN_STATISTICS if given else 0) | (_RELU if relu else 0)
    prop = FORWARD_INFERENCE if given and not keeps else FORWARD_TRAINING
    plan = primitive_descriptor("batch_normalization_forward", prop, image, image, eps, flags, attributes())
    if plan is None:
        return False
    slots: list[tuple[int, Handle | int]] = [(SRC, image), (DST, image)]
    slots += [(kind, vector) for kind in (SCALE, SHIFT, MEAN, VARIANCE)]
    kept = queried(plan, QUERY_WORKSPACE) if keeps else None
    if kept:
        slots.append((WORKSPACE, kept))
    return Primitive(plan, slots), size_of(kept)


def fuses_relu(shape: Dims, eps: float, given: bool) -> bool:
    """Whether training uses the same kernel with and without a fused ReLU.

    Without AVX2, version 3.2 has only a reference implementation with it, which is eight times slower, with other bits.
    """
    image, names = describe_image(shape), set()
    apart = _USE_SCALE | _USE_SHIFT | (_GIVEN_STATISTICS if given else 0)
    for flags in (apart, apart | _RELU):
        operation = "batch_normalization_forward"
        plan = primitive_descriptor(operation, FORWARD_TRAINING, image, image, eps, flags, attributes())
        names.add(None if plan is None else implementation(plan))
    return len(names) == 1


def _make_forward(shape: Dims, eps: float, given: bool) -> Primitive | Literal[False]:
    made = normalization_plan(shape, eps, given, False)
    return made[0] if made else False


def _forward(
    x: np.ndarray,
    image: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    eps: float,
    given: bool,
) -> np.ndarray | None:
    key = ("batch_norm", image.shape, eps, given)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_forward, image.shape, eps, given)
    if not run:
        return None
    y = new_channels_last(*image.shape)
    run(image, y, to_vector(gamma), to_vector(beta), mean, var)
    return y if x.ndim == 4 else y.reshape(x.shape)


@in_float32
def batch_norm_train(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_train`."""
    if is_case(x, gamma):
        image = to_image(x)
        given = are_taken_apart(image.shape)
        mean, var = batch_statistics(image) if given else (new_vector(x.shape[1]), new_vector(x.shape[1]))
        y = _forward(x, image, gamma, beta, mean, var, eps, given)
        if y is not None:
            return y, mean, var
    return numpy_batch_norm_train(x, gamma, beta, eps=eps)


@in_float32(rounds=False)
def batch_norm_statistics(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_statistics`."""
    if not is_case(x, x):
        return numpy_batch_norm_statistics(x)
    image = to_image(x)
    if are_taken_apart(image.shape):
        return batch_statistics(image)
    ones = np.ones(x.shape[1], F32)
    # the library has no kernel for statistics alone
    return batch_norm_train(x, ones, ones, eps=1.0)[1:]


@in_float32
def batch_norm_fixed(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> np.ndarray:
    """See `AbstractBackend.batch_norm_fixed`."""
    if is_case(x, gamma):
        y = _forward(x, to_image(x), gamma, beta, to_vector(mean), to_vector(var), eps, True)
        if y is not None:
            return y
    return numpy_batch_norm_fixed(x, gamma, beta, mean, var, eps=eps)


def _make_grad(shape: Dims, eps: float, mask: int | None) -> Primitive | NativePrimitive | Literal[False]:
    """mask: the size in bytes of the mask of the ReLU, None without a ReLU."""
    relu, size = mask is not None, math.prod(shape)
    if native() is not None and (mask is None or mask == size or mask * 8 == size):
        # oneDNN's workspace holds a bit per element, with some kernels a byte
        kind = NO_MASK if mask is None else BYTES if mask == size else BITS
        kinds = (SRC, DIFF_DST, DIFF_SRC, SCALE, MEAN, VARIANCE, DIFF_SCALE, DIFF_SHIFT, *([WORKSPACE] if relu else []))
        sums = BatchNormPlan(size // shape[1], shape[1], kind, eps)
        return NativePrimitive("batch normalization", "batch_norm_grad", sums, kinds)
    image, vector = describe_image(shape), describe(shape[1:2], (1,))
    flags = _USE_SCALE | _USE_SHIFT | (_RELU if relu else 0)
    name = "batch_normalization_forward"
    hint = primitive_descriptor(name, FORWARD_TRAINING, image, image, eps, flags, attributes())
    if hint is None:
        return False
    name = "batch_normalization_backward"
    plan = primitive_descriptor(name, BACKWARD, image, image, image, eps, flags, hint, attributes())
    if plan is None:
        return False
    slots: list[tuple[int, Handle | int]] = [(kind, vector) for kind in (SCALE, MEAN, VARIANCE, DIFF_SCALE, DIFF_SHIFT)]
    if relu:
        slots.append((WORKSPACE, queried(plan, QUERY_WORKSPACE)))
    return Primitive(plan, [(SRC, image), (DIFF_DST, image), (DIFF_SRC, image), *slots])


def normalization_grad(
    gy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    mask: np.ndarray | None,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """gx, ggamma, gbeta; None if oneDNN does not support it. mask: of a ReLU that was applied to the result."""
    if not is_case(x, gamma) or gy.dtype != F32:
        return None
    image = to_image(x)
    key = ("batch_norm_grad", image.shape, eps, mask is not None)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_grad, image.shape, eps, None if mask is None else mask.nbytes)
    if not run:
        return None
    gx = new_channels_last(*image.shape)
    ggamma, gbeta = new_vector(x.shape[1]), new_vector(x.shape[1])
    arrays = [image, to_image(gy), gx, to_vector(gamma), to_vector(mean), to_vector(var), ggamma, gbeta]
    run(*arrays) if mask is None else run(*arrays, mask)
    return (gx if x.ndim == 4 else gx.reshape(x.shape)), ggamma, gbeta


@in_float32
def batch_norm_grad(
    gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_grad`."""
    grads = normalization_grad(gy, x, gamma, mean, var, None, eps)
    return numpy_batch_norm_grad(gy, x, gamma, mean, var, eps=eps) if grads is None else grads


def _make_layer(shape: tuple[int, int], eps: float) -> Primitive | Literal[False]:
    rows, number, vector = describe(shape, (shape[1], 1)), describe(shape[:1], (1,)), describe(shape[1:], (1,))
    flags = _USE_SCALE | _USE_SHIFT
    plan = primitive_descriptor(
        "layer_normalization_forward", FORWARD_TRAINING, rows, rows, number, eps, flags, attributes()
    )
    if plan is None:
        return False
    vectors = [(SCALE, vector), (SHIFT, vector), (MEAN, number), (VARIANCE, number)]
    return Primitive(plan, [(SRC, rows), (DST, rows), *vectors])


@in_float32
def layer_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.layer_norm`."""
    if x.dtype != F32 or gamma.dtype != F32 or x.size == 0 or x.shape[1] > _LONG:
        return numpy_layer_norm(x, gamma, beta, eps=eps)
    key = ("layer_norm", x.shape, eps)
    run = local.young.get(key)
    if run is None:
        run = recall(key, _make_layer, x.shape, eps)
    if not run:
        return numpy_layer_norm(x, gamma, beta, eps=eps)
    mean, var = new_vector(len(x)), new_vector(len(x))
    y = new_dense(x.shape)
    # version 3.2 computes rows with gaps between them incorrectly
    run(np.ascontiguousarray(x), y, to_vector(gamma), to_vector(beta), mean, var)
    return y, mean, var


def _make_layer_grad(shape: tuple[int, int], eps: float) -> Primitive | NativePrimitive | Literal[False]:
    if native() is not None:
        kinds = (SRC, DIFF_DST, DIFF_SRC, MEAN, VARIANCE, SCALE, SHIFT, DIFF_SCALE, DIFF_SHIFT)
        return NativePrimitive("layer normalization", "layer_norm_grad", LayerNormPlan(*shape, eps), kinds)
    rows, number, vector = describe(shape, (shape[1], 1)), describe(shape[:1], (1,)), describe(shape[1:], (1,))
    flags = _USE_SCALE | _USE_SHIFT
    hint = primitive_descriptor(
        "layer_normalization_forward", FORWARD_TRAINING, rows, rows, number, eps, flags, attributes()
    )
    if hint is None:
        return False
    plan = primitive_descriptor(
        "layer_normalization_backward", BACKWARD, rows, rows, rows, number, eps, flags, hint, attributes()
    )
    if plan is None:
        return False
    vectors = [(kind, vector) for kind in (SCALE, SHIFT, DIFF_SCALE, DIFF_SHIFT)]
    numbers = [(MEAN, number), (VARIANCE, number)]
    return Primitive(plan, [(SRC, rows), (DIFF_DST, rows), (DIFF_SRC, rows), *numbers, *vectors])


@in_float32
def layer_norm_grad(
    gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.layer_norm_grad`."""
    if x.dtype == F32 and gy.dtype == F32 and gamma.dtype == F32 and x.size:
        key = ("layer_norm_grad", x.shape, eps)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make_layer_grad, x.shape, eps)
        if run:
            gx = new_dense(x.shape)
            ggamma, gbeta = new_vector(x.shape[1]), new_vector(x.shape[1])
            x, gy = np.ascontiguousarray(x), np.ascontiguousarray(gy)
            scale = to_vector(gamma)  # also passed as the shift, which is required but not read
            run(x, gy, gx, to_vector(mean), to_vector(var), scale, scale, ggamma, gbeta)
            return gx, ggamma, gbeta
    return numpy_layer_norm_grad(gy, x, gamma, mean, var, eps=eps)


class _ResponseGrad:
    """Gradient of local response normalization: backward needs the workspace of a forward pass, which is run first."""

    __slots__ = ("_backward", "_forward", "_kept_size")

    def __init__(self, image: Handle, numbers: tuple[int, float, float, float]):
        plan = primitive_descriptor(
            "lrn_forward", FORWARD_TRAINING, _ACROSS_CHANNELS, image, image, *numbers, attributes()
        )
        backward = primitive_descriptor(
            "lrn_backward", _ACROSS_CHANNELS, image, image, image, *numbers, plan, attributes()
        )
        plan, backward = supported(plan), supported(backward)
        workspace = queried(plan, QUERY_WORKSPACE)
        self._kept_size = size_of(workspace)
        kept = [(WORKSPACE, workspace)] if self._kept_size else []
        self._forward = Primitive(plan, [(SRC, image), (DST, image), *kept])
        self._backward = Primitive(backward, [(SRC, image), (DIFF_DST, image), (DIFF_SRC, image), *kept])

    def __call__(self, x: np.ndarray, gy: np.ndarray, gx: np.ndarray) -> None:
        if self._kept_size:
            workspace = new_bytes(self._kept_size)
            self._forward(x, gx, workspace)
            self._backward(x, gy, gx, workspace)
        else:
            self._backward(x, gy, gx)


def _make_lrn(shape: tuple[int, ...], k: float, alpha: float, beta: float) -> Primitive | Literal[False]:
    image = describe_image(shape)
    numbers = (_N, alpha * _N, beta, k)  # the library divides alpha by n
    plan = primitive_descriptor(
        "lrn_forward", FORWARD_INFERENCE, _ACROSS_CHANNELS, image, image, *numbers, attributes()
    )
    return Primitive(plan, [(SRC, image), (DST, image)]) if plan else False


def _make_lrn_grad(shape: tuple[int, ...], k: float, alpha: float, beta: float) -> _ResponseGrad:
    return _ResponseGrad(describe_image(shape), (_N, alpha * _N, beta, k))


@in_float32
def local_response_norm(x: np.ndarray, *, n: int, k: float, alpha: float, beta: float) -> np.ndarray:
    """See `AbstractBackend.local_response_norm`."""
    if x.dtype == F32 and x.size and n == _N:
        key = ("lrn", x.shape, k, alpha, beta)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make_lrn, x.shape, k, alpha, beta)
        if run:
            y = new_channels_last(*x.shape)
            run(as_kernels_want(x), y)
            return y
    return numpy_local_response_norm(x, n=n, k=k, alpha=alpha, beta=beta)


@in_float32
def local_response_norm_grad(
    gy: np.ndarray, x: np.ndarray, *, n: int, k: float, alpha: float, beta: float
) -> np.ndarray:
    """See `AbstractBackend.local_response_norm_grad`."""
    if x.dtype == F32 and gy.dtype == F32 and x.size and n == _N:
        key = ("lrn_grad", x.shape, k, alpha, beta)
        run = local.young.get(key)
        if run is None:
            run = recall(key, _make_lrn_grad, x.shape, k, alpha, beta)
        gx = new_channels_last(*x.shape)
        run(as_kernels_want(x), as_kernels_want(gy), gx)
        return gx
    return numpy_local_response_norm_grad(gy, x, n=n, k=k, alpha=alpha, beta=beta)
