"""Every converter: ONNX Runtime computes what the function computes, for other batches than those of the probes."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import GraphError, UnsupportedError
from cvzoo.export.onnx.sizes import SizeDependenceError
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d


def _array(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


W, B = _array(6, 4, 3, 3), _array(6, seed=2)
GAMMA, BETA, MEAN, VAR = (_array(4, seed=k) for k in range(4))
PARTS = [2, 0, 2, 1]
ELEMENTWISE = {
    "abs": F.absolute,
    "clip": lambda x: F.clip(x, -0.5, 0.7),
    "elu": F.elu,
    "erf": F.erf,
    "exp": F.exp,
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate=True),
    "hard sigmoid": F.hard_sigmoid,
    "hard swish": F.hard_swish,
    "leaky relu": F.leaky_relu,
    "log": lambda x: F.log(F.exp(x)),
    "negative": lambda x: -x,
    "prelu": lambda x: F.prelu(x, _array(4)),
    "relu": F.relu,
    "relu6": F.relu6,
    "sigmoid": F.sigmoid,
    "softplus": F.softplus,
    "softplus, steep": lambda x: F.softplus(x, 3.0),
    "sqrt": lambda x: F.sqrt(F.absolute(x)),
    "square": F.square,
    "swish": F.swish,
    "swish, steep": lambda x: F.swish(x, 1.5),
    "tanh": F.tanh,
    "softmax": lambda x: F.softmax(x, axis=1),
    "log softmax": lambda x: F.log_softmax(x, axis=-1),
    "copy": F.copy,
}
ARITHMETIC = {
    "add": lambda x: x + F.relu(x),
    "add a number": lambda x: x + 1.5,
    "subtract": lambda x: x - F.relu(x),
    "subtract a number": lambda x: x - 1.5,
    "subtract from a number": lambda x: 1.5 - x,
    "multiply": lambda x: x * F.relu(x),
    "multiply by a number": lambda x: x * 1.5,
    "divide": lambda x: x / F.exp(x),
    "divide by a number": lambda x: x / 1.5,
    "divide a number": lambda x: 1.5 / F.exp(x),
    "power": lambda x: F.exp(x) ** 2.5,
    "maximum": lambda x: F.maximum(x, F.tanh(x)),
    "minimum": lambda x: F.minimum(x, F.tanh(x)),
    "sum": lambda x: F.sum(x, axis=(1, 2)),
    "sum, kept": lambda x: F.sum(x, axis=3, keepdims=True),
    "max": lambda x: F.max(x, axis=1),
    "min": lambda x: F.min(x, axis=(2, 3), keepdims=True),
    "prod": lambda x: F.prod(x, axis=3),
    "norm": lambda x: F.norm(x, axis=1),
    "matmul": lambda x: F.matmul(x, _array(12, 5)),
    "matmul, turned": lambda x: F.matmul(x, x, transb=True),
    "a vector": lambda x: x * _array(12),
}
PARAMETERS = {
    "convolution": lambda x: F.convolution_2d(x, W, B, stride=2, pad=1),
    "convolution, uneven": lambda x: F.convolution_2d(x, W, None, stride=(2, 1), pad=(1, 0, 2, 1), dilate=(1, 2)),
    "convolution, groups": lambda x: F.convolution_2d(x, _array(6, 2, 3, 3), B, groups=2),
    "convolution, depthwise": lambda x: F.convolution_2d(x, _array(4, 1, 3, 3), groups=4, pad=1),
    "transposed convolution": lambda x: F.deconvolution_2d(x, _array(4, 3, 3, 3), _array(3), stride=2, pad=1),
    "transposed convolution, larger": lambda x: F.deconvolution_2d(x, _array(4, 3, 3, 3), None, 2, 1, (20, 24)),
    "linear": lambda x: F.linear(x, _array(5, 480), _array(5)),
    "linear without bias": lambda x: F.linear(x, _array(5, 12), n_batch_axes=3),
    "embedded numbers": lambda x: x[:, :, :3] + F.embed_id(np.array([2, 0, 1]), _array(4, 12)),
    "batch normalization": lambda x: F.fixed_batch_normalization(x, GAMMA, BETA, MEAN, VAR**2, eps=1e-3),
    "group normalization": lambda x: F.group_normalization(x, 2, GAMMA, BETA),
    "layer normalization": lambda x: F.layer_normalization(F.reshape(x, (-1, 12)), _array(12), _array(12)),
    "local response": lambda x: F.local_response_normalization(x, n=3),
}
POOLING = {
    "max": lambda x: F.max_pooling_2d(x, 2),
    "max, covering all": lambda x: F.max_pooling_2d(x, 3, 2, cover_all=True),
    "max, padded": lambda x: F.max_pooling_2d(x, 3, 2, 1, cover_all=False),
    "mean": lambda x: F.average_pooling_2d(x, 3, 1, 1),
    "mean of pixels": lambda x: F.average_pooling_2d(x, 3, 2, 1, count_pad=False),
    "all": F.global_average_pooling_2d,
    "adaptive": lambda x: F.adaptive_average_pooling_2d(x, (3, 5)),
}
MOVING = {
    "reshape": lambda x: F.reshape(x, (x.shape[0], -1)),
    "reshape, batch and rows": lambda x: F.reshape(x, (x.shape[0] * 4, 120)),
    "transpose": lambda x: F.transpose(x, (0, 2, 3, 1)),
    "transpose, all": F.transpose,
    "concat": lambda x: F.concat([x, F.relu(x)], axis=1),
    "concat of one": lambda x: F.concat([x], axis=1),
    "split": lambda x: F.split_axis(x, [1, 3], axis=1)[1],
    "broadcast": lambda x: F.broadcast_to(F.sum(x, axis=1, keepdims=True), x.shape),
    "pad": lambda x: F.pad(x, ((0, 0), (1, 0), (2, 3), (0, 1)), constant_values=0.5),
    "roll": lambda x: F.roll(x, (-2, 3), (2, 3)),
    "roll around": lambda x: F.roll(x, 25, 3),
    "where": lambda x: F.where(np.arange(12) % 2 == 0, x, F.relu(x)),
    "channel shuffle": lambda x: F.channel_shuffle(x, 2),
    "slices": lambda x: x[:, 1:3, ::2, -5:-1],
    "backwards": lambda x: x[:, ::-1, 8:2:-3],
    "numbers": lambda x: x[:, 2, :, -1],
    "new axes": lambda x: x[:, None, 0, ..., None],
    "rows by number": lambda x: x[:, np.array(PARTS)],
    "rows by truth": lambda x: x[:, np.array([True, False, True, True])],
    "all of it": lambda x: x[...],
    "resize": lambda x: F.resize_images(x, (17, 9), align_corners=False),
    "resize by corners": lambda x: F.resize_images(x, (17, 30)),
    "twice as large": lambda x: F.upsample_nearest(x, 2),
    "nearest": lambda x: F.resize_images(x, (17, 7), mode="nearest"),
}
CASES = {**ELEMENTWISE, **ARITHMETIC, **PARAMETERS, **{f"pooling {k}": v for k, v in POOLING.items()}, **MOVING}


@pytest.mark.parametrize("name", CASES)
def test_onnx_runtime_computes_the_same(name, run_in_onnx, noise):
    x = noise(4, 4, 10, 12)
    ((found,),) = run_in_onnx(CASES[name], [(2, 4, 10, 12), (3, 4, 10, 12)], [x])
    with no_backprop_mode():
        expected = CASES[name](Variable(x)).array
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


FREE = [
    *(name for name in CASES if name.split(" ")[0] in ("convolution", "pooling", "concat", "pad", "twice", "group")),
    "reshape",
    "slices",
    "broadcast",
    "transposed convolution",
]


@pytest.mark.parametrize("name", [name for name in FREE if name != "pooling adaptive"])
def test_sizes_may_be_free(name, run_in_onnx, noise):
    shapes = [(2, 4, 10, 12), (3, 4, 10, 12), (2, 4, 13, 16), (2, 4, 16, 19), (2, 4, 21, 33)]
    x = noise(1, 4, 18, 15)
    ((found,),) = run_in_onnx(CASES[name], shapes, [x])
    with no_backprop_mode():
        expected = CASES[name](Variable(x)).array
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", [None, "relu", "leaky_relu", "clip", "hard_swish", "swish", "gelu_erf"])
def test_fused_convolutions_come_apart_again(activation, run_in_onnx, noise):
    def call(x):
        add = F.convolution_2d(x, W, pad=1)
        return fused_convolution_2d(x, W, B, pad=1, add=add, activation=activation, alpha=0.1, beta=0.6)

    x = noise(1, 4, 6, 5)
    ((found,),) = run_in_onnx(call, [(2, 4, 6, 5), (3, 4, 6, 5)], [x])
    with no_backprop_mode():
        np.testing.assert_allclose(found, call(Variable(x)).array, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda x: F.cumsum(x, axis=1), UnsupportedError, "Cumsum, function number 1"),
        (lambda x: x * float(x.array.max()), GraphError, "depends on array values"),
        (lambda x: x * np.arange(len(x), dtype=np.float32)[:, None], SizeDependenceError, "follows the batch"),
        (lambda x: F.relu(x) if len(x) == 2 else F.tanh(x), SizeDependenceError, "which functions"),
        (lambda x: x * (1.0 + len(x)), SizeDependenceError, "value"),
    ],
)
def test_what_a_file_could_not_repeat_is_named(call, error, says, run_in_onnx):
    with pytest.raises(error, match=says):
        run_in_onnx(call, [(2, 3), (4, 3)], [])
