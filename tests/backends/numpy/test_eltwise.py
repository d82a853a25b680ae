import math

import numpy as np
import pytest

from cvzoo.backends.abstract import ELTWISE_KINDS, FROM_OUTPUT_KINDS
from cvzoo.backends.numpy.eltwise import add, eltwise, eltwise_grad, eltwise_grad_from_output, multiply
from cvzoo.backends.numpy.erf import erf
from cvzoo.errors.exceptions import ValueRangeError

ALPHA, BETA = 0.6, 0.4


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


BY_HAND = {
    "linear": lambda x: ALPHA * x + BETA,
    "relu": lambda x: max(x, 0),
    "leaky_relu": lambda x: x if x > 0 else ALPHA * x,
    "elu": lambda x: x if x > 0 else ALPHA * (math.exp(x) - 1),
    "clamp": lambda x: min(max(x, ALPHA), BETA),
    "clip": lambda x: min(max(x, ALPHA), BETA),
    "sigmoid": sigmoid,
    "tanh": math.tanh,
    "softplus": lambda x: math.log(1 + math.exp(ALPHA * x)) / ALPHA,
    "swish": lambda x: x * sigmoid(ALPHA * x),
    "gelu_erf": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "hard_sigmoid": lambda x: min(max(ALPHA * x + BETA, 0), 1),
    "hard_swish": lambda x: x * min(max(ALPHA * x + BETA, 0), 1),
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "square": lambda x: x * x,
    "abs": abs,
}


def points(kind):
    x = np.random.default_rng(0).uniform(-4, 4, 200)
    return np.abs(x) + 0.1 if kind in ("log", "sqrt") else x


def test_every_kind_is_checked_by_hand():
    assert set(BY_HAND) == set(ELTWISE_KINDS)


@pytest.mark.parametrize("kind", ELTWISE_KINDS)
def test_a_function_is_what_its_formula_says(kind):
    x = points(kind)
    got = eltwise(kind, x, alpha=ALPHA, beta=BETA)
    np.testing.assert_allclose(got, [BY_HAND[kind](float(v)) for v in x], rtol=1e-13, atol=1e-13)
    assert eltwise(kind, x.astype("f"), alpha=ALPHA, beta=BETA).dtype == np.float32


@pytest.mark.parametrize("kind", ELTWISE_KINDS)
def test_a_derivative_is_the_slope(kind):
    x = points(kind)
    alpha, beta = (-BETA, ALPHA) if kind in ("clamp", "clip") else (ALPHA, BETA)
    step = 1e-6
    rise = eltwise(kind, x + step, alpha=alpha, beta=beta) - eltwise(kind, x - step, alpha=alpha, beta=beta)
    got = eltwise_grad(kind, np.full_like(x, 3), x, alpha=alpha, beta=beta)
    np.testing.assert_allclose(got, 3 * rise / (2 * step), atol=1e-7)
    if kind in FROM_OUTPUT_KINDS:
        y = eltwise(kind, x, alpha=alpha, beta=beta)
        from_output = eltwise_grad_from_output(kind, np.full_like(x, 3), y, alpha=alpha, beta=beta)
        np.testing.assert_allclose(from_output, got, atol=1e-12)


def test_large_numbers_neither_warn_nor_become_nan():
    x = np.float32([-1e4, -100, 100, 1e4])
    for kind in ("sigmoid", "tanh", "softplus", "swish", "gelu_erf", "gelu_tanh", "elu", "hard_swish"):
        assert np.isfinite(eltwise(kind, x, alpha=1.0, beta=0.5)).all(), kind
    assert eltwise("sigmoid", np.float32([-80]))[0] > 0


def test_erf_is_that_of_the_standard_library():
    x = np.concatenate([np.linspace(-7, 7, 3001), [0.46875, 4.0, 1e-300, 1e300, np.inf, -np.inf]])
    np.testing.assert_allclose(erf(x), [math.erf(v) for v in x], rtol=1e-15, atol=1e-15)
    assert np.isnan(erf(np.array(np.nan)))


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ValueRangeError, match="rellu"):
        eltwise("rellu", np.zeros(3))
    with pytest.raises(ValueRangeError, match="gelu_erf"):
        eltwise_grad_from_output("gelu_erf", np.zeros(3), np.zeros(3))


def test_arrays_without_axes_stay_arrays():
    x = np.array(-2.0)
    for result in (eltwise("relu", x), eltwise_grad("abs", x, x), add(x, x), multiply(x, x)):
        assert isinstance(result, np.ndarray)
        assert result.shape == ()


def test_a_sum_goes_where_it_is_sent():
    a, b = np.ones((2, 3)), np.arange(3.0)
    assert add(a, b, out=a) is a
    np.testing.assert_array_equal(a, [[1, 2, 3], [1, 2, 3]])
