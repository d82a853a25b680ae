"""Activations: values, slopes and slopes of slopes."""

import math

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

_erf = np.vectorize(math.erf, otypes=["float64"])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


CASES = {
    "relu": (F.relu, lambda x: np.maximum(x, 0)),
    "leaky_relu": (F.leaky_relu, lambda x: np.where(x > 0, x, 0.2 * x)),
    "leaky_relu 0.1": (lambda x: F.leaky_relu(x, 0.1), lambda x: np.where(x > 0, x, 0.1 * x)),
    "relu6": (F.relu6, lambda x: np.clip(x, 0, 6)),
    "clipped_relu": (lambda x: F.clipped_relu(x, 1.5), lambda x: np.clip(x, 0, 1.5)),
    "elu": (F.elu, _elu),
    "elu 0.5": (lambda x: F.elu(x, 0.5), lambda x: _elu(x, 0.5)),
    "selu": (F.selu, lambda x: 1.0507009873554805 * _elu(x, 1.6732632423543772)),
    "sigmoid": (F.sigmoid, _sigmoid),
    "tanh": (F.tanh, np.tanh),
    "hard_sigmoid": (F.hard_sigmoid, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    "hard_sigmoid 1/6": (lambda x: F.hard_sigmoid(x, 1 / 6), lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "hard_swish": (F.hard_swish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "softplus": (F.softplus, lambda x: np.log1p(np.exp(x))),
    "softplus 3": (lambda x: F.softplus(x, 3.0), lambda x: np.log1p(np.exp(3 * x)) / 3),
    "swish": (F.swish, lambda x: x * _sigmoid(x)),
    "swish 1.5": (lambda x: F.swish(x, 1.5), lambda x: x * _sigmoid(1.5 * x)),
    "silu": (F.silu, lambda x: x * _sigmoid(x)),
    "gelu": (F.gelu, lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2)))),
    "gelu by tanh": (
        lambda x: F.gelu(x, approximate=True),
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "crelu": (F.crelu, lambda x: np.maximum(np.concatenate([x, -x], 1), 0)),
}
SHAPES = [(2, 3), (1, 1), (0, 4), (2, 3, 2, 2)]


def _input(shape, seed=0):
    """-7 to 7; kinks lie at multiples of 0.5, and no value does."""
    return np.random.default_rng(seed).integers(-28, 28, shape) * 0.25 + 0.083


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_formula_in_both_dtypes(name, shape, backend):
    function, formula = CASES[name]
    for dtype, rtol, atol in (("float32", 1e-5, 1e-6), ("float64", 1e-11, 1e-12)):
        x = _input(shape).astype(dtype)
        before = x.copy()
        y = function(Variable(x))
        assert y.dtype == dtype
        assert_allclose(y, formula(x.astype("float64")), rtol=rtol, atol=atol)
        assert np.array_equal(x, before)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_numbers(name, backend):
    function, _ = CASES[name]
    check_backward(function, _input((2, 4)))
    check_double_backward(function, _input((2, 4), 1), rtol=1e-3, atol=1e-4)
    check_backward(function, _input((2, 3, 2, 2), 2))


@pytest.mark.parametrize("name", CASES)
def test_strides_do_not_matter(name, backend):
    function, _ = CASES[name]
    x = _input((2, 4, 4, 3)).astype("float32")
    for view in (x.transpose(0, 3, 1, 2), x[:, ::2], x[..., ::-1], np.broadcast_to(x[:1], (3, 4, 4, 3))):
        v = Variable(view)
        w = Variable(view.copy(order="C"))
        assert_allclose(function(v), function(w), rtol=1e-6, atol=1e-7)
        F.sum(function(v)).backward()  # the gradient comes as one number repeated by strides of 0
        F.sum(function(w)).backward()
        assert_allclose(v.grad, w.grad, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in CASES if name != "gelu by tanh"])
def test_large_values_do_not_overflow(name, backend):
    function, _ = CASES[name]
    x = Variable(np.array([[-200.0, 200.0]], "float32"))
    y = function(x)
    assert np.isfinite(y.array).all()
    F.sum(y).backward()
    assert np.isfinite(x.grad).all()


@pytest.mark.parametrize("name", CASES)
def test_integers_are_refused(name):
    with pytest.raises(DtypeError):
        CASES[name][0](np.arange(4).reshape(2, 2))


def test_the_slope_of_relu_at_zero_is_zero(backend):
    x = Variable(np.zeros(3, "float32"))
    F.sum(F.relu(x)).backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.leaky_relu(x, -0.1),
        lambda x: F.elu(x, -1),
        lambda x: F.softplus(x, 0),
        lambda x: F.clipped_relu(x, -1),
    ],
)
def test_settings_without_sense_are_refused(call):
    with pytest.raises(ValueRangeError):
        call(np.zeros(2, "float32"))


# x, W
@pytest.mark.parametrize(
    ("shape", "w_shape"), [((2, 3), (3,)), ((2, 3), ()), ((2, 3, 2, 2), (3,)), ((2, 3, 2), (3, 2))], ids=str
)
def test_prelu_learns_its_slope(shape, w_shape):
    x = _input(shape)
    w = np.random.default_rng(1).uniform(0.1, 0.5, w_shape)
    expected = np.where(x > 0, x, x * w.reshape((1, *w_shape, *(1,) * (len(shape) - 1 - len(w_shape)))))
    assert_allclose(F.prelu(x, w), expected)
    check_backward(F.prelu, (x, w))
    check_double_backward(F.prelu, (x, w), rtol=1e-3, atol=1e-4)
    with pytest.raises(ShapeError, match="prelu"):
        F.prelu(x, np.zeros(5))
    with pytest.raises(DtypeError, match="prelu"):
        F.prelu(x, w.astype("float32"))


def test_swish_learns_its_beta():
    x, beta = _input((2, 3, 2)) * 0.3, np.array([0.5, 1.0, 1.5])
    assert_allclose(F.swish(x, beta), x * _sigmoid(beta[:, None] * x))
    check_backward(F.swish, (x, beta))
    check_double_backward(F.swish, (x, beta), rtol=1e-3, atol=1e-4)
    with pytest.raises(ShapeError):
        F.swish(x, np.ones(2))


@pytest.mark.parametrize("axis", [1, -1])
def test_maxout_takes_the_largest_of_neighbours(axis):
    x = np.random.default_rng(0).permutation(24).reshape(2, 6, 2) * 0.1
    if axis == 1:
        assert_allclose(F.maxout(x, 3), x.reshape(2, 2, 3, 2).max(2))
        check_backward(lambda x: F.maxout(x, 3), x)
    else:
        assert_allclose(F.maxout(x, 2, axis), x.reshape(2, 6, 1, 2).max(3))
    with pytest.raises(ShapeError, match="groups of 4"):
        F.maxout(x, 4)
