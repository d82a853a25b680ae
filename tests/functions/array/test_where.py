"""Choosing element by element."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

SHAPES = [((2, 3), (2, 3), (2, 3)), ((2, 1), (3,), ()), ((3,), (2, 3), (2, 1)), ((2, 3), (), (3,)), ((0,), (1,), (0,))]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_where_is_numpys_with_broadcasting(shapes):
    random = np.random.default_rng(0)
    condition = random.random(shapes[0]) < 0.5
    x, y = random.normal(size=shapes[1]), random.normal(size=shapes[2])
    assert_allclose(F.where(condition, x, y), np.where(condition, x, y))
    assert_allclose(F.where(Variable(condition), Variable(x), y), np.where(condition, x, y))
    check_backward(lambda x, y: F.where(condition, x, y), (x, y))
    check_double_backward(lambda x, y: F.where(condition, x, y) ** 2, (x, y), rtol=1e-3, atol=1e-4)


def test_a_number_takes_the_dtype_of_the_array():
    x = np.array([1, 2], "float32")
    condition = np.array([True, False])
    assert F.where(condition, x, 0.5).dtype == F.where(condition, 0.5, x).dtype == "float32"
    assert F.where(condition, 0.5, x).array.tolist() == [0.5, 2]


def test_an_infinite_slope_on_the_side_not_chosen_does_no_harm():
    x = Variable(np.array([0.0, 4.0]))
    with np.errstate(divide="ignore"):
        F.sum(F.where(x.array > 0, F.sqrt(F.maximum(x, 1e-12)), 0.0)).backward()
    assert x.grad.tolist() == [0, 0.25]


def test_what_does_not_fit_is_refused():
    x = np.zeros(3, "float32")
    with pytest.raises(DtypeError, match="bool"):
        F.where(np.zeros(3), x, x)
    with pytest.raises(DtypeError, match="one dtype"):
        F.where(np.zeros(3, bool), x, x.astype("float64"))
    with pytest.raises(ShapeError, match=r"condition \(2,\)"):
        F.where(np.zeros(2, bool), x, x)
