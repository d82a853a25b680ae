"""The reference backend: every kernel in NumPy, right before fast."""

import numpy as np

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.in_float32 import in_float32
from cvzoo.backends.numpy.batch_norm_relu import batch_norm_relu_fixed, batch_norm_relu_grad, batch_norm_relu_train
from cvzoo.backends.numpy.bfloat16 import conv_2d_bf16
from cvzoo.backends.numpy.chain import chain
from cvzoo.backends.numpy.concat import concat
from cvzoo.backends.numpy.conv import channel_sum, conv_2d, conv_2d_input_grad, conv_2d_weight_grad
from cvzoo.backends.numpy.eltwise import add, add_relu, eltwise, eltwise_grad, eltwise_grad_from_output, multiply
from cvzoo.backends.numpy.matmul import linear, matmul
from cvzoo.backends.numpy.memory import asarray, channels_last, empty, reshaped, to_numpy, zeros
from cvzoo.backends.numpy.normalization import (
    batch_norm_fixed,
    batch_norm_grad,
    batch_norm_train,
    layer_norm,
    layer_norm_grad,
    local_response_norm,
    local_response_norm_grad,
)
from cvzoo.backends.numpy.pooling import (
    average_pool_2d,
    average_pool_2d_grad,
    max_pool_2d,
    max_pool_2d_grad,
    max_pool_2d_indices,
)
from cvzoo.backends.numpy.quantized import conv_2d_int8, linear_int8, quantize
from cvzoo.backends.numpy.resize import resize_2d, resize_2d_grad
from cvzoo.backends.numpy.softmax import log_softmax, log_softmax_grad, softmax, softmax_grad


class NumpyBackend(AbstractBackend):
    """NumPy's kernels. They run wherever NumPy runs, for every dtype that NumPy can compute with."""

    name = "numpy"
    xp = np

    empty = staticmethod(empty)
    zeros = staticmethod(zeros)
    asarray = staticmethod(asarray)
    to_numpy = staticmethod(to_numpy)
    channels_last = staticmethod(channels_last)
    reshaped = staticmethod(reshaped)

    conv_2d = staticmethod(in_float32(conv_2d))
    conv_2d_input_grad = staticmethod(in_float32(conv_2d_input_grad))
    conv_2d_weight_grad = staticmethod(in_float32(conv_2d_weight_grad))
    channel_sum = staticmethod(in_float32(channel_sum, rounds=False))

    matmul = staticmethod(in_float32(matmul))
    linear = staticmethod(in_float32(linear))

    quantize = staticmethod(in_float32(quantize, rounds=False))
    conv_2d_int8 = staticmethod(conv_2d_int8)
    linear_int8 = staticmethod(linear_int8)
    conv_2d_bf16 = staticmethod(conv_2d_bf16)

    max_pool_2d = staticmethod(in_float32(max_pool_2d))
    max_pool_2d_grad = staticmethod(in_float32(max_pool_2d_grad))
    max_pool_2d_indices = staticmethod(in_float32(max_pool_2d_indices, rounds=False))
    average_pool_2d = staticmethod(in_float32(average_pool_2d))
    average_pool_2d_grad = staticmethod(in_float32(average_pool_2d_grad))

    batch_norm_train = staticmethod(in_float32(batch_norm_train))
    batch_norm_fixed = staticmethod(in_float32(batch_norm_fixed))
    batch_norm_grad = staticmethod(in_float32(batch_norm_grad))
    batch_norm_relu_train = staticmethod(in_float32(batch_norm_relu_train))
    batch_norm_relu_fixed = staticmethod(in_float32(batch_norm_relu_fixed))
    batch_norm_relu_grad = staticmethod(in_float32(batch_norm_relu_grad, also=3))
    layer_norm = staticmethod(in_float32(layer_norm))
    layer_norm_grad = staticmethod(in_float32(layer_norm_grad))
    local_response_norm = staticmethod(in_float32(local_response_norm))
    local_response_norm_grad = staticmethod(in_float32(local_response_norm_grad))

    eltwise = staticmethod(in_float32(eltwise, place=1))
    chain = staticmethod(in_float32(chain))
    eltwise_grad = staticmethod(in_float32(eltwise_grad, place=1))
    eltwise_grad_from_output = staticmethod(in_float32(eltwise_grad_from_output, place=1))
    add = staticmethod(in_float32(add))
    add_relu = staticmethod(in_float32(add_relu))
    multiply = staticmethod(in_float32(multiply))

    softmax = staticmethod(in_float32(softmax))
    softmax_grad = staticmethod(in_float32(softmax_grad))
    log_softmax = staticmethod(in_float32(log_softmax))
    log_softmax_grad = staticmethod(in_float32(log_softmax_grad))

    concat = staticmethod(in_float32(concat))

    resize_2d = staticmethod(in_float32(resize_2d))
    resize_2d_grad = staticmethod(in_float32(resize_2d_grad))
