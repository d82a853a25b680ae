"""What holds for every layer: shapes, lazy sizes, names of its values, gradients, copies."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv, SeparableConv2DBNActiv
from cvzoo.links.connection.convolution_2d import DepthwiseConvolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.connection.embed_id import EmbedID
from cvzoo.links.connection.group_normalization import GroupNormalization
from cvzoo.links.connection.layer_normalization import LayerNormalization
from cvzoo.links.connection.lstm import LSTM
from cvzoo.links.connection.maxout import Maxout
from cvzoo.links.connection.prelu import PReLU
from cvzoo.links.connection.scale import Bias, Scale
from cvzoo.links.connection.se_block import SEBlock

# layer, the input's shape, the output's, the names that its values have in a file
CASES = [
    (lambda: Deconvolution2D(3, 4, 3, 2, 1), (2, 3, 5, 6), (2, 4, 9, 11), "W b"),
    (lambda: Deconvolution2D(3, 4, 4, 2, 1, outsize=(10, 13)), (2, 3, 5, 6), (2, 4, 10, 13), "W b"),
    (lambda: Deconvolution2D(4, 6, 3, nobias=True, groups=2), (1, 4, 5, 6), (1, 6, 7, 8), "W"),
    (lambda: Deconvolution2D(3, 4, 3, dilate=2), (1, 3, 5, 6), (1, 4, 9, 10), "W b"),
    (lambda: DepthwiseConvolution2D(3, 2, 3, 2, 1), (2, 3, 5, 6), (2, 6, 3, 3), "W b"),
    (lambda: DepthwiseConvolution2D(3, 1, (1, 3), nobias=True), (2, 3, 5, 6), (2, 3, 5, 4), "W"),
    (lambda: LayerNormalization(7), (3, 7), (3, 7), "gamma beta"),
    (lambda: GroupNormalization(2, 4), (2, 4, 3, 5), (2, 4, 3, 5), "gamma beta"),
    (lambda: PReLU(), (2, 3, 4, 5), (2, 3, 4, 5), "W"),
    (lambda: PReLU((3,)), (2, 3, 4, 5), (2, 3, 4, 5), "W"),
    (lambda: Conv2DActiv(3, 4, 3, pad=1), (2, 3, 4, 5), (2, 4, 4, 5), "conv/W conv/b"),
    (lambda: Conv2DActiv(4, 4, 3, nobias=True, groups=4, activ=None), (2, 4, 4, 5), (2, 4, 2, 3), "conv/W"),
    (
        lambda: SeparableConv2DBNActiv(3, 5, 3, 2, 1),
        (2, 3, 6, 6),
        (2, 5, 3, 3),
        "depthwise/conv/W depthwise/bn/gamma depthwise/bn/beta depthwise/bn/avg_mean depthwise/bn/avg_var "
        "depthwise/bn/N pointwise/conv/W pointwise/bn/gamma pointwise/bn/beta pointwise/bn/avg_mean "
        "pointwise/bn/avg_var pointwise/bn/N",
    ),
    (lambda: SEBlock(8, 4), (2, 8, 3, 4), (2, 8, 3, 4), "down/W down/b up/W up/b"),
    (lambda: Scale(1, (3,)), (2, 3, 4), (2, 3, 4), "W"),
    (lambda: Scale(1, (3, 4), True), (2, 3, 4, 5), (2, 3, 4, 5), "W bias/b"),
    (lambda: Bias(-1, (4,)), (2, 3, 4), (2, 3, 4), "b"),
    (lambda: Maxout(6, 4, 3), (2, 6), (2, 4), "linear/W linear/b"),
    (lambda: LSTM(5, 4), (2, 5), (2, 4), "upward/W upward/b lateral/W"),
]
LAZY = [
    (lambda n: Deconvolution2D(n, 4, 3), (2, 3, 5, 6)),
    (lambda n: DepthwiseConvolution2D(n, 2, 3), (2, 3, 5, 6)),
    (lambda n: LayerNormalization(n), (4, 3)),
    (lambda n: GroupNormalization(1, n), (2, 3, 5, 6)),
    (lambda n: Conv2DActiv(n, 4, 3), (2, 3, 5, 6)),
    (lambda n: Maxout(n, 4, 2), (2, 3)),
    (lambda n: LSTM(n, 4), (2, 3)),
]


def draw(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("make", "x_shape", "y_shape", "names"), CASES)
def test_a_layer_gives_its_shape_and_names_its_values_as_chainer_does(make, x_shape, y_shape, names):
    layer = make()
    y = layer(draw(x_shape))
    assert y.shape == y_shape
    assert y.dtype == np.float32
    assert sorted(layer.state_arrays()) == sorted(names.split())


@pytest.mark.parametrize(("make", "x_shape", "y_shape", "names"), CASES)
def test_gradients_reach_the_input_and_every_parameter(make, x_shape, y_shape, names):
    layer = make()
    x = Variable(draw(x_shape))
    y = layer(x)
    F.sum(y * draw(y.shape, 1)).backward()
    assert x.grad.shape == x.shape
    for path, parameter in layer.namedparams():
        if isinstance(layer, LSTM) and path == "/lateral/W":
            continue  # has a part from the second step on
        assert parameter.grad is not None, path
        assert np.isfinite(parameter.grad).all(), path


@pytest.mark.parametrize(("make", "x_shape"), LAZY)
def test_a_layer_learns_the_size_of_its_first_input(make, x_shape):
    lazy, told = make(None), make(3)
    assert any(not parameter.is_initialized for parameter in lazy.params())
    x = draw(x_shape)
    lazy(x)
    assert {k: v.shape for k, v in lazy.state_arrays().items()} == {k: v.shape for k, v in told.state_arrays().items()}
    lazy.copyparams(told)
    if isinstance(lazy, LSTM):
        lazy.reset_state()
    np.testing.assert_array_equal(lazy(x).array, told(x).array)


@pytest.mark.parametrize(("make", "x_shape", "y_shape", "names"), CASES)
def test_a_copy_of_its_own_computes_the_same_and_is_apart(make, x_shape, y_shape, names):
    layer = make()
    twin = layer.copy("copy")
    x = draw(x_shape)
    with using_config("train", False):
        y = layer(x).array
        for parameter in layer.params():
            parameter.array[...] += 1
        np.testing.assert_array_equal(twin(x).array, y)


def test_deconvolution_is_the_transpose_of_the_convolution():
    layer = Deconvolution2D(3, 4, 3, 2, 1, nobias=True)
    x, gy = draw((2, 3, 5, 6)), draw((2, 4, 9, 11), 1)
    forward = F.convolution_2d(gy, layer.W, None, 2, 1)
    np.testing.assert_allclose((layer(x).array * gy).sum(), (forward.array * x).sum(), rtol=1e-4)


def test_depthwise_outputs_of_one_channel_stand_together():
    layer = DepthwiseConvolution2D(2, 3, 1, nobias=True)
    x = draw((1, 2, 4, 4))
    y = layer(x).array
    for c in range(2):
        for m in range(3):
            np.testing.assert_allclose(y[0, 3 * c + m], x[0, c] * layer.W.array[m, c, 0, 0], rtol=1e-5)


def test_embed_id_looks_up_rows():
    layer = EmbedID(5, 3, ignore_label=-1)
    y = layer(np.array([[0, 4], [-1, 2]], np.int32)).array
    W = layer.W.array
    np.testing.assert_array_equal(y, [[W[0], W[4]], [np.zeros(3), W[2]]])


def test_layer_normalization_is_the_formula():
    layer = LayerNormalization(7, eps=1e-6)
    layer.gamma.array[...], layer.beta.array[...] = draw(7, 1), draw(7, 2)
    x = draw((3, 7))
    want = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(layer(x).array, want * layer.gamma.array + layer.beta.array, rtol=1e-4, atol=1e-5)


def test_prelu_has_a_slope_for_each_channel():
    layer = PReLU((2,), np.array([0.5, 2.0], np.float32))
    y = layer(np.full((1, 2, 1, 2), -1, np.float32)).array
    np.testing.assert_array_equal(y, [[[[-0.5, -0.5]], [[-2, -2]]]])


def test_se_block_gates_each_channel():
    layer = SEBlock(4, 2)
    layer.up.W.array[...] = 0
    layer.up.b.array[...] = [-100, 100, 0, 0]
    x = draw((2, 4, 3, 3))
    gates = np.array([0, 1, 0.5, 0.5], np.float32)[:, None, None]
    np.testing.assert_allclose(layer(x).array, x * gates, rtol=1e-5, atol=1e-7)


def test_scale_without_parameters_takes_them_as_arguments():
    x, W, b = draw((2, 3, 4)), draw((3,), 1), draw((3,), 2)
    np.testing.assert_allclose(Scale(1)(x, W).array, x * W[:, None], rtol=1e-6)
    both = Scale(1, None, True, (3,))
    both.bias.b.array[...] = b
    np.testing.assert_allclose(both(x, W).array, x * W[:, None] + b[:, None], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(Bias(1)(x, b).array, x + b[:, None], rtol=1e-6)


def test_maxout_is_the_largest_of_its_pieces():
    layer = Maxout(3, 2, 4)
    x = draw((5, 3))
    pieces = (x @ layer.linear.W.array.T + layer.linear.b.array).reshape(5, 2, 4)
    np.testing.assert_allclose(layer(x).array, pieces.max(axis=2), rtol=1e-5, atol=1e-6)


def test_lstm_remembers_until_it_is_told_to_forget():
    layer = LSTM(3, 2)
    x = draw((4, 3))
    first, second = layer(x).array, layer(x).array
    assert not np.allclose(first, second)
    layer.reset_state()
    np.testing.assert_array_equal(layer(x).array, first)


def test_lstm_is_the_formula():
    layer = LSTM(3, 2)
    x0, x1 = draw((4, 3)), draw((4, 3), 1)
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    c = h = np.zeros((4, 2), np.float32)
    for x in (x0, x1):
        z = x @ layer.upward.W.array.T + layer.upward.b.array + h @ layer.lateral.W.array.T
        a, i, f, o = (z.reshape(4, 2, 4)[:, :, k] for k in range(4))
        c = np.tanh(a) * sigmoid(i) + c * sigmoid(f)
        h = np.tanh(c) * sigmoid(o)
        y = layer(x)
    np.testing.assert_allclose(y.array, h, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(layer.c.array, c, rtol=1e-4, atol=1e-6)


def test_lstm_learns_through_time_and_is_cut_by_unchain():
    layer = LSTM(3, 2)
    first = Variable(draw((4, 3)))
    layer(first)
    F.sum(layer(draw((4, 3), 1))).backward()
    assert first.grad is not None
    assert layer.lateral.W.grad is not None
    layer.reset_state()
    first.cleargrad()
    layer(first)
    layer.h.unchain_backward()
    layer.c.unchain_backward()
    F.sum(layer(draw((4, 3), 1))).backward()
    assert first.grad is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Deconvolution2D(3, 4, 3, groups=2), "do not divide into groups"),
        (lambda: Deconvolution2D(3, 4, "x"), "ksize"),
        (lambda: DepthwiseConvolution2D(3, 1, 3)(draw((1, 4, 5, 5))), "channels"),
        (lambda: GroupNormalization(3, 4)(draw((1, 4, 2, 2))), "group"),
        (lambda: LayerNormalization(4)(draw((2, 5))), "layer_normalization"),
        (lambda: PReLU((4,))(draw((2, 5))), "prelu"),
        (lambda: EmbedID(3, 2)(np.array([3])), "embed_id"),
        (lambda: SEBlock(4, 16), "no hidden unit"),
        (lambda: Scale(1, (4,))(draw((2, 3, 5))), "Scale: the parameter does not fit"),
        (lambda: Bias(2, (5, 6))(draw((2, 3, 5))), "Bias: the parameter does not fit"),
        (lambda: Bias(-4, (2,))(draw((2, 3, 5))), "Bias: the parameter does not fit"),
    ],
)
def test_what_does_not_fit_is_said(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


@pytest.mark.parametrize("block", [Conv2DActiv, Conv2DBNActiv])
def test_blocks_of_convolutions_learn_their_channels_from_the_first_input(block):
    x = np.ones((2, 3, 6, 6), np.float32)
    link = block(5, 3)  # out_channels, ksize
    assert link(x).shape == (2, 5, 4, 4)
    assert link.conv.W.shape == (5, 3, 3, 3)
