"""Fused batch normalization and ReLU, as fast as the normalization alone.

With a sum between them there is no fused kernel, and the sum and the ReLU are a separate pass.
"""

from typing import Literal

import numpy as np

from cvzoo.backends.float_types import in_float32
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_fixed as numpy_batch_norm_relu_fixed
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_grad as numpy_batch_norm_relu_grad
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_train as numpy_batch_norm_relu_train
from cvzoo.backends.onednn.batch_statistics import are_taken_apart, batch_statistics
from cvzoo.backends.onednn.eltwise import add_relu
from cvzoo.backends.onednn.memory import new_bytes, new_channels_last, new_vector
from cvzoo.backends.onednn.normalization import (
    batch_norm_fixed,
    batch_norm_grad,
    batch_norm_train,
    fuses_relu,
    is_case,
    normalization_grad,
    normalization_plan,
    to_image,
    to_vector,
)
from cvzoo.backends.onednn.primitives import Primitive, local, recall

__all__ = ["batch_norm_relu_fixed", "batch_norm_relu_grad", "batch_norm_relu_train"]


def _make_train(shape: tuple[int, int, int, int], eps: float) -> tuple[Primitive, int] | Literal[False]:
    given = are_taken_apart(shape)
    return fuses_relu(shape, eps, given) and normalization_plan(shape, eps, given, True, keeps=True)


@in_float32
def batch_norm_relu_train(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float, add: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """See `AbstractBackend.batch_norm_relu_train`; the mask is of bits, in the library's order, without `add`."""
    if add is not None:
        y, mean, var = batch_norm_train(x, gamma, beta, eps=eps)
        y = add_relu(y, add)
        return y, mean, var, y > 0
    if is_case(x, gamma):
        image = to_image(x)
        key = ("batch_norm_relu", image.shape, eps)
        op = local.young.get(key)
        if op is None:
            op = recall(key, _make_train, image.shape, eps)
        if op:
            run, kept_size = op
            y = new_channels_last(*image.shape)
            if are_taken_apart(image.shape):
                mean, var = batch_statistics(image)
            else:
                mean, var = new_vector(x.shape[1]), new_vector(x.shape[1])
            mask = new_bytes(kept_size)
            run(image, y, to_vector(gamma), to_vector(beta), mean, var, mask)
            return (y if x.ndim == 4 else y.reshape(x.shape)), mean, var, mask
        y, mean, var = batch_norm_train(x, gamma, beta, eps=eps)
        np.maximum(y, 0, out=y)
        return y, mean, var, y > 0
    return numpy_batch_norm_relu_train(x, gamma, beta, eps=eps)


@in_float32
def batch_norm_relu_fixed(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    *,
    eps: float,
    add: np.ndarray | None = None,
) -> np.ndarray:
    """See `AbstractBackend.batch_norm_relu_fixed`."""
    if add is not None:
        return add_relu(batch_norm_fixed(x, gamma, beta, mean, var, eps=eps), add)
    if is_case(x, gamma):
        image = to_image(x)
        key = ("batch_norm_relu_fixed", image.shape, eps)
        op = local.young.get(key)
        if op is None:
            op = recall(key, normalization_plan, image.shape, eps, True, True)
        if op:
            y = new_channels_last(*image.shape)
            op[0](image, y, *(to_vector(each) for each in (gamma, beta, mean, var)))
            return y if x.ndim == 4 else y.reshape(x.shape)
    return numpy_batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=eps)


@in_float32(also_rounded=3)
def batch_norm_relu_grad(
    gy: np.ndarray,
    x: np.ndarray,
    gamma: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    mask: np.ndarray,
    *,
    eps: float,
    adds: bool = False,
) -> tuple[np.ndarray, ...]:
    """See `AbstractBackend.batch_norm_relu_grad`."""
    if mask.dtype != np.bool_:
        grads = normalization_grad(gy, x, gamma, mean, var, mask, eps)
        if grads is not None:
            return grads
    elif is_case(x, gamma):
        gsum = gy * mask
        grads = batch_norm_grad(gsum, x, gamma, mean, var, eps=eps)
        return (*grads, gsum) if adds else grads
    return numpy_batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=eps, adds=adds)
