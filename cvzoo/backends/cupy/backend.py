"""The backend of a GPU that needs nothing but CuPy."""

from types import ModuleType

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.cupy.batch_norm_relu import batch_norm_relu_fixed, batch_norm_relu_grad, batch_norm_relu_train
from cvzoo.backends.cupy.bfloat16 import conv_2d_bf16
from cvzoo.backends.cupy.chain import chain
from cvzoo.backends.cupy.concat import concat
from cvzoo.backends.cupy.conv import channel_sum, conv_2d, conv_2d_input_grad, conv_2d_weight_grad
from cvzoo.backends.cupy.eltwise import add, add_relu, eltwise, eltwise_grad, eltwise_grad_from_output, multiply
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.cupy.matmul import linear, matmul
from cvzoo.backends.cupy.memory import asarray, channels_last, empty, reshaped, to_numpy, zeros
from cvzoo.backends.cupy.normalization import (
    batch_norm_fixed,
    batch_norm_grad,
    batch_norm_train,
    layer_norm,
    layer_norm_grad,
    local_response_norm,
    local_response_norm_grad,
)
from cvzoo.backends.cupy.pooling import (
    average_pool_2d,
    average_pool_2d_grad,
    max_pool_2d,
    max_pool_2d_grad,
    max_pool_2d_indices,
)
from cvzoo.backends.cupy.quantized import conv_2d_int8, linear_int8, quantize
from cvzoo.backends.cupy.resize import resize_2d, resize_2d_grad
from cvzoo.backends.cupy.softmax import log_softmax, log_softmax_grad, softmax, softmax_grad


class CupyBackend(AbstractBackend):
    """Our own kernels, cuBLAS, and CuPy for the rest, on cupy.ndarray; nothing else need be installed."""

    name = "cupy"

    @property
    def xp(self) -> ModuleType:  # type: ignore[override]
        """CuPy, imported when first asked for."""
        return cupy()

    empty = staticmethod(empty)
    zeros = staticmethod(zeros)
    asarray = staticmethod(asarray)
    to_numpy = staticmethod(to_numpy)
    channels_last = staticmethod(channels_last)
    reshaped = staticmethod(reshaped)

    conv_2d = staticmethod(conv_2d)
    conv_2d_input_grad = staticmethod(conv_2d_input_grad)
    conv_2d_weight_grad = staticmethod(conv_2d_weight_grad)
    channel_sum = staticmethod(channel_sum)

    matmul = staticmethod(matmul)
    linear = staticmethod(linear)

    quantize = staticmethod(quantize)
    conv_2d_int8 = staticmethod(conv_2d_int8)
    linear_int8 = staticmethod(linear_int8)
    conv_2d_bf16 = staticmethod(conv_2d_bf16)

    max_pool_2d = staticmethod(max_pool_2d)
    max_pool_2d_grad = staticmethod(max_pool_2d_grad)
    max_pool_2d_indices = staticmethod(max_pool_2d_indices)
    average_pool_2d = staticmethod(average_pool_2d)
    average_pool_2d_grad = staticmethod(average_pool_2d_grad)

    batch_norm_train = staticmethod(batch_norm_train)
    batch_norm_fixed = staticmethod(batch_norm_fixed)
    batch_norm_grad = staticmethod(batch_norm_grad)
    batch_norm_relu_train = staticmethod(batch_norm_relu_train)
    batch_norm_relu_fixed = staticmethod(batch_norm_relu_fixed)
    batch_norm_relu_grad = staticmethod(batch_norm_relu_grad)
    layer_norm = staticmethod(layer_norm)
    layer_norm_grad = staticmethod(layer_norm_grad)
    local_response_norm = staticmethod(local_response_norm)
    local_response_norm_grad = staticmethod(local_response_norm_grad)

    eltwise = staticmethod(eltwise)
    chain = staticmethod(chain)
    eltwise_grad = staticmethod(eltwise_grad)
    eltwise_grad_from_output = staticmethod(eltwise_grad_from_output)
    add = staticmethod(add)
    add_relu = staticmethod(add_relu)
    multiply = staticmethod(multiply)

    softmax = staticmethod(softmax)
    softmax_grad = staticmethod(softmax_grad)
    log_softmax = staticmethod(log_softmax)
    log_softmax_grad = staticmethod(log_softmax_grad)

    concat = staticmethod(concat)

    resize_2d = staticmethod(resize_2d)
    resize_2d_grad = staticmethod(resize_2d_grad)
