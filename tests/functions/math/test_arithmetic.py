"""Arithmetic of two arrays, or of an array and a number."""

import operator

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

FUNCTIONS = {
    "add": (F.add, np.add),
    "subtract": (F.subtract, np.subtract),
    "multiply": (F.multiply, np.multiply),
    "divide": (F.divide, np.divide),
    "power": (F.power, np.power),
    "maximum": (F.maximum, np.maximum),
    "minimum": (F.minimum, np.minimum),
    "arctan2": (F.arctan2, np.arctan2),
    "floor_divide": (F.floor_divide, np.floor_divide),
}
SMOOTH = [name for name in FUNCTIONS if name != "floor_divide"]
SHAPES = [
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),  # an axis is missing on the right
    ((3,), (2, 3)),  # and on the left
    ((2, 1), (1, 3)),  # both are repeated
    ((), (2, 2)),
    ((), ()),
    ((0, 3), (1, 3)),  # nothing at all
    ((2, 3, 2, 2), (3, 1, 1)),  # a number for each channel
]


def _pair(shapes, seed=0, dtype="float64"):
    random = np.random.default_rng(seed)
    return tuple(random.uniform(0.5, 2, shape).astype(dtype) for shape in shapes)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numpys_and_the_dtype_stays(name, shapes, backend):
    function, formula = FUNCTIONS[name]
    for dtype in ("float32", "float64"):
        a, b = _pair(shapes, dtype=dtype)
        for x, y in ((Variable(a), Variable(b)), (a, Variable(b)), (Variable(a), b), (a, b)):
            z = function(x, y)
            assert z.dtype == dtype
            assert_allclose(z, formula(a, b), rtol=1e-6)


@pytest.mark.parametrize("shapes", SHAPES[:5], ids=str)
@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_agree_with_numbers(name, shapes, backend):
    function, _ = FUNCTIONS[name]
    check_backward(function, _pair(shapes))
    check_double_backward(function, _pair(shapes, 1), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "arctan2"])
@pytest.mark.parametrize("value", [3, 2, 0.75, -1.5, np.float64(1.25), np.float32(0.5), np.int64(2), 1, 0])
def test_a_number_on_either_side_keeps_the_dtype(name, value):
    function, formula = FUNCTIONS[name]
    for dtype in ("float32", "float64"):
        (x,) = _pair([(2, 3)], dtype=dtype)
        if not (value == 0 and "divide" in name):
            y = function(Variable(x), value)
            assert y.dtype == dtype
            assert_allclose(y, formula(x, float(value)), rtol=1e-6)
            if name != "floor_divide":
                check_backward(lambda v: function(v, value), x)
                check_double_backward(lambda v: function(v, value), x, rtol=1e-3, atol=1e-4)
        if not (name == "power" and value < 0):
            y = function(value, Variable(x))
            assert y.dtype == dtype
            assert_allclose(y, formula(float(value), x), rtol=1e-6)
            if name != "floor_divide":
                check_backward(lambda v: function(value, v), x)
                check_double_backward(lambda v: function(value, v), x, rtol=1e-3, atol=1e-4)


def test_a_number_keeps_the_dtype_of_a_single_value():
    x = Variable(np.array(3, "float32"))
    for y in (x + 2.5, 2.5 - x, x * np.float64(2), 1 / x, x**2, x**0.5, 2**x, x // 2.0):
        assert y.dtype == "float32"
        assert y.shape == ()


def test_add_takes_more_than_two():
    a, b = _pair([(2, 3), (3,)])
    check_backward(lambda a, b: F.add(a, b, a, 2.0), (a, b))
    assert_allclose(F.add(a, b, a, 2.0), a + b + a + 2)


def test_integers_are_computed_exactly_and_have_no_gradient():
    x = Variable(np.arange(1, 4))
    for y, expected in (
        (x + x, [2, 4, 6]),
        (x * 3, [3, 6, 9]),
        (x // 2, [0, 1, 1]),
        (x**2, [1, 4, 9]),
        (5 - x, [4, 3, 2]),
    ):
        assert y.dtype == x.dtype
        assert y.array.tolist() == expected
        assert not y.requires_grad


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (
            np.zeros((2, 3), "float32"),
            np.zeros((2, 4), "float32"),
            ShapeError,
            r"broadcast.*\n.*\n.*\(2, 3\) and \(2, 4\)",
        ),
        (np.zeros(2, "float32"), np.zeros(2, "float64"), DtypeError, "float32 and float64"),
        (np.zeros(2, "float32"), np.zeros(2, "int32"), DtypeError, "float32 and int32"),
        (np.zeros(2, "bool"), np.zeros(2, "bool"), DtypeError, "booleans are not numbers"),
        (np.zeros(2, "float32"), True, DtypeError, r"float\(True\)"),
        (np.zeros(2, "int32"), 0.5, DtypeError, "cast"),
        (np.zeros(2, "uint8"), 1000, DtypeError, "uint8"),
        (np.zeros(2, "float32"), [1, 2], DtypeError, "list"),
        (np.zeros(2, "float32"), None, DtypeError, "NoneType"),
        (np.zeros(2, "float32"), "1", DtypeError, "str"),
        (np.zeros(2, "float32"), 2j, DtypeError, "complex"),
    ],
)
@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_operands_that_do_not_fit_are_refused_in_words(apply, a, b, error, message, backend):
    with pytest.raises(error, match=f"(?s){message}"):
        apply(Variable(a), b)
    if not isinstance(b, bool):
        with pytest.raises(error):
            apply(b, Variable(a))


def test_true_division_of_integers_is_refused():
    with pytest.raises(DtypeError, match="//"):
        Variable(np.arange(3)) / Variable(np.arange(1, 4))
    with pytest.raises(DtypeError, match="//"):
        Variable(np.arange(3)) / 2


def test_negative_powers_of_integers_are_refused():
    with pytest.raises(DtypeError, match="negative power"):
        Variable(np.arange(1, 3)) ** -1
    with pytest.raises(DtypeError, match="negative power"):
        F.power(np.arange(1, 3), np.array([1, -1]))


def test_powers_of_zero_have_finite_gradients():
    x = Variable(np.array([0.0, 2.0]))
    F.sum(x**3).backward()
    assert x.grad.tolist() == [0, 12]
    x.cleargrad()
    F.sum(x**0).backward()
    assert x.grad.tolist() == [0, 0]
    b = Variable(np.array([2.0, 2.0]))
    F.sum(x**b).backward()
    assert_allclose(b.grad, np.array([0, 4 * np.log(2)]))


def test_equal_values_give_the_whole_gradient_to_one_side():
    a, b = Variable(np.ones(3)), Variable(np.ones(3))
    for function in (F.maximum, F.minimum):
        a.cleargrad()
        b.cleargrad()
        F.sum(function(a, b)).backward()
        assert a.grad.tolist() == [1, 1, 1]
        assert b.grad.tolist() == [0, 0, 0]


def test_floor_divide_has_no_gradient():
    a, b = Variable(np.ones(3)), Variable(np.ones(3))
    y = F.sum(a // b)
    y.backward()
    assert a.grad is None
    assert b.grad is None


def test_linear_interpolate_lies_between():
    p, x, y = (np.random.default_rng(i).uniform(0, 1, (2, 3)) for i in range(3))
    assert_allclose(F.linear_interpolate(p, x, y), p * x + (1 - p) * y)
    check_backward(F.linear_interpolate, (p, x, y))
    check_double_backward(F.linear_interpolate, (p, x, y))
