"""Batch normalization and the rectifier behind it in one pass, which costs no more than the normalization alone."""

import numpy as np

from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_fixed as numpy_batch_norm_relu_fixed
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_grad as numpy_batch_norm_relu_grad
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_train as numpy_batch_norm_relu_train
from cvzoo.backends.onednn.memory import new_bytes, new_channels_last
from cvzoo.backends.onednn.normalization import is_case, normalization_grad, normalization_plan, to_image, to_vector
from cvzoo.backends.onednn.primitives import F32, local, recall

_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def batch_norm_relu_train(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, *, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As AbstractBackend.batch_norm_relu_train says; the mask is of bits, in the library's order."""
    if is_case(x, gamma):
        image = to_image(x)
        key = ("batch_norm_relu", image.shape, eps)
        op = local.young.get(key)
        if op is None:
            op = recall(key, normalization_plan, image.shape, eps, False, True)
        if op:
            run, kept_size = op
            y = new_channels_last(*image.shape)
            mean, var = np.empty(x.shape[1], F32), np.empty(x.shape[1], F32)
            mask = new_bytes(kept_size)
            run(image, y, to_vector(gamma), to_vector(beta), mean, var, mask)
            return (y if x.ndim == 4 else y.reshape(x.shape)), mean, var, mask
    return numpy_batch_norm_relu_train(x, gamma, beta, eps=eps)


def batch_norm_relu_fixed(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, var: np.ndarray, *, eps: float
) -> np.ndarray:
    """As AbstractBackend.batch_norm_relu_fixed says."""
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


def batch_norm_relu_grad(
    gy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, var: np.ndarray, mask: np.ndarray, *, eps: float
) -> _Arrays:
    """As AbstractBackend.batch_norm_relu_grad says."""
    if mask.dtype != np.bool_:
        found = normalization_grad(gy, x, gamma, mean, var, mask, eps)
        if found is not None:
            return found
    return numpy_batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=eps)
