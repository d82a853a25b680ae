"""Functions of one array, element by element: values, slopes and slopes of slopes."""

import math

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ValueRangeError

# function, formula, lowest and highest input
CASES = {
    "absolute": (F.absolute, np.abs, None),
    "arccos": (F.arccos, np.arccos, (-0.8, 0.8)),
    "arcsin": (F.arcsin, np.arcsin, (-0.8, 0.8)),
    "arctan": (F.arctan, np.arctan, (-3, 3)),
    "clip": (lambda x: F.clip(x, -0.55, 0.75), lambda x: np.clip(x, -0.55, 0.75), None),
    "clip without a ceiling": (lambda x: F.clip(x, -0.55, None), lambda x: np.maximum(x, -0.55), None),
    "clip without a floor": (lambda x: F.clip(x, None, 0.55), lambda x: np.minimum(x, 0.55), None),
    "cos": (F.cos, np.cos, (-3, 3)),
    "cosh": (F.cosh, np.cosh, (-2, 2)),
    "erf": (F.erf, np.vectorize(math.erf, otypes=["float64"]), (-2, 2)),
    "exp": (F.exp, np.exp, (-2, 2)),
    "expm1": (F.expm1, np.expm1, (-2, 2)),
    "log": (F.log, np.log, (0.5, 3)),
    "log10": (F.log10, np.log10, (0.5, 3)),
    "log1p": (F.log1p, np.log1p, (-0.5, 3)),
    "log2": (F.log2, np.log2, (0.5, 3)),
    "negative": (F.negative, np.negative, None),
    "rsqrt": (F.rsqrt, lambda x: 1 / np.sqrt(x), (0.5, 3)),
    "sin": (F.sin, np.sin, (-3, 3)),
    "sinh": (F.sinh, np.sinh, (-2, 2)),
    "sqrt": (F.sqrt, np.sqrt, (0.5, 3)),
    "square": (F.square, np.square, (-2, 2)),
    "tan": (F.tan, np.tan, (-1, 1)),
}
SHAPES = [(2, 3), (), (1,), (0, 4), (2, 3, 2, 2)]


def _input(limits, shape, seed=0):
    random = np.random.default_rng(seed)
    if limits is None:  # kinks lie at multiples of 0.05: stay away from them
        return random.integers(-10, 10, shape) * 0.1 + 0.033
    return random.uniform(*limits, shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_formula_in_both_dtypes(name, shape, backend):
    function, formula, limits = CASES[name]
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-12)):
        x = np.asarray(_input(limits, shape), dtype)
        before = x.copy()
        y = function(Variable(x))
        assert isinstance(y.array, np.ndarray)
        assert y.dtype == dtype
        assert_allclose(
            y, formula(np.asarray(x, "float64")).reshape(shape), atol=1e-6 if dtype == "float32" else 1e-12, rtol=rtol
        )
        assert np.array_equal(x, before)


@pytest.mark.parametrize("name", CASES)
def test_strides_do_not_matter(name, backend):
    function, _, limits = CASES[name]
    x = _input(limits, (2, 3, 4, 3)).astype("float32")
    y = function(x).array
    for view in (x.transpose(0, 2, 3, 1), x[:, ::2], x[..., ::-1], np.asfortranarray(x)):
        copy = np.ascontiguousarray(view)
        assert_allclose(function(view), function(copy), rtol=1e-6, atol=1e-7)
    assert np.array_equal(function(x).array, y)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_numbers(name, backend):
    function, _, limits = CASES[name]
    check_backward(function, _input(limits, (2, 3)), rtol=1e-4, atol=1e-5)
    check_double_backward(function, _input(limits, (2, 3), 1), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["exp", "sqrt", "erf", "sin"])
def test_functions_of_real_numbers_refuse_integers(name, backend):
    with pytest.raises(DtypeError, match=r"floating.*\n.*int64"):
        CASES[name][0](np.arange(3))


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: F.clip(x, 0, 6), [0, 1, 1, 1, 0]),
        (F.relu6, [0, 0, 1, 0, 0]),
        (lambda x: F.clipped_relu(x, 6.0), [0, 0, 1, 0, 0]),
    ],
    ids=["clip", "relu6", "clipped_relu"],
)
def test_at_its_bounds_clip_has_the_derivative_1_and_clipped_relu_0_as_in_chainer(
    function, wanted, dtype, double, backend
):
    x = Variable(np.tile(np.array([-1, 0, 3, 6, 7], dtype), 1000))
    (gx,) = grad([function(x)], [x], [np.ones(x.shape, dtype)], enable_double_backprop=double)
    assert gx.array[:5].tolist() == gx.array[-5:].tolist() == wanted


def test_clip_refuses_bounds_that_cross():
    with pytest.raises(ValueRangeError, match="x_min"):
        F.clip(np.zeros(2, "float32"), 1, 0)


@pytest.mark.parametrize("function", [F.sign, F.floor, F.ceil, F.fix])
def test_rounding_gives_values_without_a_gradient(function):
    x = Variable(np.array([-1.5, -0.2, 0, 0.7, 2], "float32"))
    y = function(x)
    formula = {"sign": np.sign, "floor": np.floor, "ceil": np.ceil, "fix": np.trunc}[function.__name__]
    assert np.array_equal(y.array, formula(x.array))
    assert y.dtype == "float32"
    assert y.creator is None
