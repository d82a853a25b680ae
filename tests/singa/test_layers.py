"""Layers: shapes, numbers against plain NumPy or cvzoo's own, parameters, and what they refuse."""

import math

import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors import BackendError, DtypeError, ShapeError, UnsupportedError, ValueRangeError
from cvzoo.singa import autograd, layer, tensor
from cvzoo.singa.tensor import Tensor


def photos(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(
    "make", [lambda: layer.Linear(4), lambda: layer.Linear(3, 4), lambda: layer.Linear(4, bias=True)]
)
def test_linear(make):
    linear = make()
    x = photos(5, 3)
    y = linear(Tensor(data=x))
    assert {name: value.shape for name, value in linear.get_params().items()} == {"W": (3, 4), "b": (4,)}
    np.testing.assert_allclose(tensor.to_numpy(y), x @ linear.W.data + linear.b.data, rtol=1e-4, atol=1e-5)
    assert list(layer_params(layer.Linear(4, bias=False), x)) == ["W"]
    assert list(layer_params(layer.Linear(3, 4, False), x)) == ["W"]


def layer_params(each, x):
    each(Tensor(data=x))
    return each.get_params()


def test_weights_start_as_singas():
    linear, conv = layer.Linear(300), layer.Conv2d(64, 3)
    linear(Tensor((1, 500)))
    conv(Tensor((1, 32, 5, 5)))
    assert linear.W.data.std() == pytest.approx(math.sqrt(2 / 800), rel=0.02)
    assert conv.W.data.std() == pytest.approx(math.sqrt(2 / (32 * 9 + 64)), rel=0.03)
    assert not linear.b.data.any()


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, {"ksize": 3}),
        ({"stride": 2, "padding": 1}, {"ksize": 3, "stride": 2, "pad": 1}),
        ({"stride": (2, 1), "padding": (1, 2), "bias": False}, {"ksize": 3, "stride": (2, 1), "pad": (1, 2)}),
        ({"padding": (0, 1, 2, 0)}, {"ksize": 3, "pad": (0, 1, 2, 0)}),
        ({"padding": [1, 1]}, {"ksize": 3, "pad": 1}),
        ({"group": 2}, {"ksize": 3, "groups": 2}),
        ({"pad_mode": "SAME_UPPER", "stride": 2}, {"ksize": 3, "stride": 2, "pad": (0, 1, 1, 1)}),
        ({"pad_mode": "SAME_LOWER", "stride": 2}, {"ksize": 3, "stride": 2, "pad": (1, 0, 1, 1)}),
        ({"pad_mode": "SAME_UPPER"}, {"ksize": 3, "pad": 1}),
    ],
)
def test_convolutions_are_those_of_cvzoo(settings, wanted):
    conv = layer.Conv2d(4, 3, **settings)
    x = photos(2, 2, 8, 7)
    y = tensor.to_numpy(conv(Tensor(data=x)))
    link = L.Convolution2D(2, 4, **wanted, initialW=conv.W.data, initial_bias=conv.b.data if conv.bias else 0)
    np.testing.assert_allclose(y, link(x).array, rtol=1e-5, atol=1e-5)
    assert ("b" in conv.get_params()) == settings.get("bias", True)
    relu = layer.Conv2d(4, 3, **settings, activation="RELU")
    relu(Tensor(data=x))
    relu.set_params(conv.get_params())
    np.testing.assert_allclose(tensor.to_numpy(relu(Tensor(data=x))), np.maximum(y, 0), rtol=1e-5, atol=1e-5)


def test_older_programs_name_the_channels_first():
    for conv in (layer.Conv2d(2, 4, 3), layer.Conv2d(2, 4, 3, 2), layer.Conv2d(2, 4, 3, 2, 1), layer.Conv2d(4, (3, 3))):
        conv(Tensor((1, 2, 6, 6)))
        assert conv.W.shape == (4, 2, 3, 3)
    assert layer.Conv2d(2, 4, 3, 2, 1)(Tensor((1, 2, 6, 6))).shape == (1, 4, 3, 3)
    assert layer.SeparableConv2d(2, 4, 3, 2)(Tensor((1, 2, 6, 6))).shape == (1, 4, 2, 2)
    assert layer.SeparableConv2d(2, 4, 3, 2, 1)(Tensor((1, 2, 6, 6))).shape == (1, 4, 3, 3)


def test_separable_convolutions_are_two():
    separable = layer.SeparableConv2d(6, 3, padding=1)
    x = photos(1, 4, 5, 5)
    y = separable(Tensor(data=x))
    names = {name: value.shape for name, value in separable.get_params().items()}
    assert names == {"depthwise_conv.W": (4, 1, 3, 3), "point_conv.W": (6, 4, 1, 1)}
    depth = F.convolution_2d(x, separable.depthwise_conv.W.data, pad=1, groups=4)
    wanted = F.convolution_2d(depth, separable.point_conv.W.data)
    np.testing.assert_allclose(tensor.to_numpy(y), wanted.array, rtol=1e-4, atol=1e-5)


def test_the_newest_statistics_count_most():
    bn = layer.BatchNorm2d(3)
    x = photos(4, 3, 5, 5) * 2 + 1
    autograd.training = True
    y = tensor.to_numpy(bn(Tensor(data=x)))
    axes = (0, 2, 3)
    mean, var = x.mean(axes), x.var(axes)
    np.testing.assert_allclose(y.mean(axes), 0, atol=1e-5)
    np.testing.assert_allclose(y.std(axes), 1, rtol=1e-4)
    np.testing.assert_allclose(bn.running_mean, 0.9 * mean, rtol=1e-4)
    np.testing.assert_allclose(bn.running_var, 0.1 + 0.9 * var * 100 / 99, rtol=1e-4)
    autograd.training = False
    y = tensor.to_numpy(bn(Tensor(data=x)))
    shape = (1, 3, 1, 1)
    wanted = (x - bn.running_mean.reshape(shape)) / np.sqrt(bn.running_var.reshape(shape) + 1e-5)
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
    assert sorted(bn.get_states()) == ["bias", "running_mean", "running_var", "scale"]
    assert sorted(bn.get_params()) == ["bias", "scale"]
    assert layer.BatchNorm2d(3, 0.5).momentum == layer.BatchNorm2d(momentum=0.5).momentum == 0.5
    bn.set_states({"running_mean": np.ones(3), "scale": np.full(3, 2.0)})
    np.testing.assert_array_equal(bn.running_mean, np.ones(3))
    assert layer.BatchNorm2d()(Tensor((4, 6))).shape == (4, 6)


@pytest.mark.parametrize(
    ("pool", "wanted"),
    [
        (lambda: layer.MaxPool2d(2, 2, padding=0), lambda x: F.max_pooling_2d(x, 2, cover_all=False)),
        (lambda: layer.MaxPool2d(2), lambda x: F.max_pooling_2d(x, 2, cover_all=False)),
        (
            lambda: layer.MaxPool2d(kernel_size=3, stride=2, padding=1),
            lambda x: F.max_pooling_2d(x, 3, 2, 1, cover_all=False),
        ),
        (lambda: layer.AvgPool2d(3, 2, 1), lambda x: F.average_pooling_2d(x, 3, 2, 1, count_pad=False)),
        (lambda: layer.AvgPool2d((2, 3), 1), lambda x: F.average_pooling_2d(x, (2, 3), 1)),
        (lambda: layer.Pooling2d(2), lambda x: F.max_pooling_2d(x, 2, cover_all=False)),
        (lambda: layer.Pooling2d(2, is_max=False), lambda x: F.average_pooling_2d(x, 2)),
        (lambda: layer.MaxPool1d(3, 2, 1), lambda x: F.max_pooling_2d(x, (1, 3), (1, 2), (0, 1), cover_all=False)),
        (lambda: layer.AvgPool1d(3), lambda x: F.average_pooling_2d(x, (1, 3))),
        (lambda: layer.MaxPool2d(2, 2, pad_mode="SAME_UPPER"), lambda x: F.max_pooling_2d(x, 2, cover_all=True)),
        (
            lambda: layer.AvgPool2d(2, 2, (0, 1, 0, 1)),
            lambda x: F.average_pooling_2d(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), "edge"), 2),
        ),
        (
            lambda: layer.AvgPool2d(2, 2, pad_mode="SAME_LOWER"),
            lambda x: F.average_pooling_2d(np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 0)), "edge"), 2),
        ),
    ],
)
def test_pooling(pool, wanted):
    x = photos(2, 3, 7, 9)
    np.testing.assert_allclose(tensor.to_numpy(pool()(Tensor(data=x))), wanted(x).array, rtol=1e-5, atol=1e-6)


def test_tables_and_products():
    table = layer.Embedding(5, 3)
    x = Tensor(data=np.array([[0, 4], [2, 2]]))
    np.testing.assert_array_equal(tensor.to_numpy(table(x)), table.W.data[[[0, 4], [2, 2]]])
    other = layer.Embedding(5, 3, initializer="uniform")
    other.from_pretrained(table.W)
    np.testing.assert_array_equal(tensor.to_numpy(other(x)), tensor.to_numpy(table(x)))
    assert not other.W.requires_grad
    a = photos(4, 3)
    gemm = layer.Gemm(2, alpha=0.5, beta=2.0)
    y = gemm(Tensor(data=a))
    np.testing.assert_allclose(tensor.to_numpy(y), 0.5 * a @ gemm.W.data.T + 2 * gemm.b.data, rtol=1e-5)
    turned = layer.Gemm(2, transA=True, transB=False, bias=False)
    np.testing.assert_allclose(tensor.to_numpy(turned(Tensor(data=a.T))), a @ turned.W.data, rtol=1e-5)


def test_recurrent_layers_go_step_by_step():
    xs = [photos(2, 3), photos(2, 3) + 1]
    h0, c0 = photos(2, 4), photos(2, 4) * 2
    rnn = layer.RNN(3, 4)
    outs, h = rnn([Tensor(data=x) for x in xs], Tensor(data=h0))
    wanted = h0
    for x, out in zip(xs, outs):
        wanted = np.tanh(wanted @ rnn.Wh.data + x @ rnn.Wx.data + rnn.b.data)
        np.testing.assert_allclose(tensor.to_numpy(out), wanted, rtol=1e-4, atol=1e-5)
    assert h is outs[-1]
    lstm = layer.LSTM(3, 4)
    outs, h, c = lstm([Tensor(data=x) for x in xs], (Tensor(data=h0), Tensor(data=c0)))
    assert len(lstm.get_params()) == 16

    def gate(name, x, h):
        p = {each: lstm.get_params()[f"{each}_{name}"].data for each in ("Wx", "Wh", "Bx", "Bh")}
        return x @ p["Wx"] + p["Bx"] + h @ p["Wh"] + p["Bh"]

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    want_h, want_c = h0, c0
    for x in xs:
        i, f, o = (sigmoid(gate(name, x, want_h)) for name in "ifo")
        want_c = f * want_c + i * np.tanh(gate("g", x, want_h))
        want_h = o * np.tanh(want_c)
    np.testing.assert_allclose(tensor.to_numpy(h), want_h, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tensor.to_numpy(c), want_c, rtol=1e-4, atol=1e-5)


_MAKERS = {
    "RNN": lambda: layer.RNN(3, 4),
    "LSTM": lambda: layer.LSTM(3, 4),
    "Linear": lambda: layer.Linear(4),
    "Gemm": lambda: layer.Gemm(4),
    "Conv2d": lambda: layer.Conv2d(4, 3),
    "SeparableConv2d": lambda: layer.SeparableConv2d(4, 3, bias=True),
    "BatchNorm2d": layer.BatchNorm2d,
}


@pytest.mark.parametrize("name", _MAKERS)
def test_every_parameter_learns(name):
    made = _MAKERS[name]()
    autograd.training = True
    if name in ("RNN", "LSTM"):
        h = Tensor(data=photos(2, 4))
        y = made([Tensor(data=photos(2, 3))] * 2, h if name == "RNN" else (h, h))[1]
    else:
        y = made(Tensor(data=photos(2, 3) if name in ("Linear", "Gemm") else photos(2, 3, 5, 5)))
    found = {id(parameter): grad for parameter, grad in autograd.backward(tensor.sum(y * y))}
    assert set(found) == {id(each) for each in made.get_params().values()}
    assert len(found) >= 2
    assert all(np.abs(grad.data).max() > 0 for grad in found.values())


def test_layers_without_parameters():
    x, y = Tensor(data=photos(2, 3)), Tensor(data=np.abs(photos(2, 3)) + 0.1)
    pairs = [
        (layer.ReLU()(x), autograd.relu(x)),
        (layer.Sigmoid()(x), autograd.sigmoid(x)),
        (layer.Tanh()(x), autograd.tanh(x)),
        (layer.Gelu()(x), autograd.gelu(x)),
        (layer.SoftMax()(x), autograd.softmax(x)),
        (layer.Add()(x, y), autograd.add(x, y)),
        (layer.Cat(1)([x, y]), autograd.cat([x, y], 1)),
        (layer.Flatten()(x), x),
        (layer.Flatten(axis=0)(x), autograd.flatten(x, 0)),
        (layer.Reshape()(x, (3, 2)), autograd.reshape(x, (3, 2))),
        (layer.Dropout(0.3)(x), x),
        (layer.SoftMaxCrossEntropy()(x, y), autograd.softmax_cross_entropy(x, y)),
        (layer.MeanSquareError()(x, y), autograd.mse_loss(x, y)),
        (layer.CrossEntropy()(y, x), autograd.cross_entropy(y, x)),
        (
            layer.BinaryCrossEntropy()(autograd.sigmoid(x), autograd.sigmoid(y)),
            autograd.binary_cross_entropy(autograd.sigmoid(x), autograd.sigmoid(y)),
        ),
    ]
    for found, wanted in pairs:
        np.testing.assert_array_equal(tensor.to_numpy(found), tensor.to_numpy(wanted))
    autograd.training = True
    dropped = tensor.to_numpy(layer.Dropout(0.25)(Tensor((50, 50)).set_value(1.0)))
    assert abs((dropped == 0).mean() - 0.25) < 0.05


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: layer.Conv2d(4, 3, dilation=2), UnsupportedError),
        (lambda: layer.Conv2d(4, 3, activation="TANH"), ValueRangeError),
        (lambda: layer.Conv2d(4, 3, pad_mode="SAME"), ValueRangeError),
        (lambda: layer.Conv2d(4, 2.5), DtypeError),
        (lambda: layer.Conv2d(4, (2.5, 3)), DtypeError),
        (lambda: layer.Conv2d(4, 3, padding=(1, 2, 0.5, 1)), DtypeError),
        (lambda: layer.Conv2d(0, 3), ValueRangeError),
        (lambda: layer.Linear(0), ValueRangeError),
        (lambda: layer.Linear("a"), ValueRangeError),
        (lambda: layer.Linear(3, 2.5), ValueRangeError),
        (lambda: layer.Gemm(-1), ValueRangeError),
        (lambda: layer.Embedding(3, 0), ValueRangeError),
        (lambda: layer.Linear(3).set_params([1]), DtypeError),
        (lambda: layer.Linear(3).set_states(None), DtypeError),
        (lambda: layer.Conv2d(4, 3, stride=(1, 2, 3)), DtypeError),
        (lambda: layer.Conv2d(4, 3, padding=(1, 2, 3)), DtypeError),
        (lambda: layer.MaxPool2d("2"), DtypeError),
        (lambda: layer.MaxPool2d(2, pad_mode="VALID"), ValueRangeError),
        (lambda: layer.BatchNorm2d(3, momentum=2), ValueRangeError),
        (lambda: layer.Dropout(1.0), ValueRangeError),
        (lambda: layer.Embedding(3, 4, "ones"), ValueRangeError),
        (lambda: layer.RNN(3, 4, num_layers=2), UnsupportedError),
        (lambda: layer.LSTM(3, 4, bidirectional=True), UnsupportedError),
        (lambda: layer.RNN(3, 4, nonlinearity="sin"), ValueRangeError),
        (lambda: layer.LSTM(3, 4, nonlinearity="relu"), ValueRangeError),
        (lambda: layer.CudnnRNN(4), BackendError),
        (lambda: layer.Layer().register_layers(3), DtypeError),
    ],
)
def test_bad_settings_are_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: layer.Linear(4), (2, 3, 4)),
        (lambda: layer.Conv2d(4, 3), (2, 3)),
        (lambda: layer.Conv2d(4, 3, group=2), (2, 3, 5, 5)),
        (lambda: layer.BatchNorm2d(4), (2, 3, 5, 5)),
        (lambda: layer.BatchNorm2d(), (2,)),
        (lambda: layer.MaxPool2d(2), (2, 3)),
    ],
)
def test_inputs_that_do_not_fit_are_refused(make, shape):
    with pytest.raises(ShapeError):
        make()(Tensor(shape))


def test_a_later_input_of_other_channels_is_refused():
    for each, first, later in (
        (layer.Linear(4), (2, 3), (2, 4)),
        (layer.Conv2d(4, 3), (2, 3, 5, 5), (2, 4, 5, 5)),
        (layer.BatchNorm2d(), (2, 3, 5, 5), (2, 4, 5, 5)),
    ):
        each(Tensor(first))
        with pytest.raises(ShapeError):
            each(Tensor(later))


class Scale(layer.Layer):
    """As SINGA's documentation writes layers with parameters."""

    def __init__(self):
        super().__init__()

    def initialize(self, x):
        self.W = Tensor(shape=(x.shape[1],), requires_grad=True, stores_grad=True, device=x.device)
        self.W.set_value(2.0)
        self.count = Tensor((1,))

    def forward(self, x):
        self.device_check(x, self.W)
        self.dtype_check(x, self.W)
        return autograd.mul(x, self.W)

    def get_params(self):
        return {self.W.name: self.W}

    def set_params(self, parameters):
        self.W.copy_from(parameters[self.W.name])


def test_layers_of_ones_own_are_initialized_once_and_named():
    class Outer(layer.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Scale()

        def forward(self, x):
            return self.inner(self.inner(x))

    outer = Outer()
    x = photos(2, 3)
    for _ in range(2):
        np.testing.assert_allclose(tensor.to_numpy(outer(Tensor(data=x))), 4 * x)
    assert list(outer.get_params()) == ["inner.W"]
    assert (outer.inner.name, outer.inner.W.name) == ("inner", "inner.W")
    assert list(outer.get_states()) == ["inner.W"]
    outer.set_params({"inner.W": np.ones(3)})
    np.testing.assert_allclose(tensor.to_numpy(outer(Tensor(data=x))), x)
    outer.inner = layer.ReLU()
    assert list(outer.get_params()) == []


def test_forward_itself_makes_parameters_too():
    linear = layer.Linear(4)
    assert linear.forward(Tensor((2, 3))).shape == (2, 4)


def test_a_layer_is_a_link_of_cvzoo():
    block = cvzoo.Sequential(layer.Linear(4), F.relu, L.Linear(4, 2))
    x = photos(3, 5)
    assert block(Tensor(data=x)).shape == (3, 2)
    assert [path for path, _ in block.namedparams()] == ["/0/W", "/0/b", "/2/W", "/2/b"]


def test_layers_are_registered_in_a_list_or_by_name():
    outer = layer.Layer()
    outer.register_layers(layer.ReLU(), layer.Linear(2))
    outer.register_layers({"head": layer.Linear(3)})
    assert [name for name, _ in outer.named_children()] == ["ReLU_0", "Linear_1", "head"]
    assert outer.head.name == "head"
