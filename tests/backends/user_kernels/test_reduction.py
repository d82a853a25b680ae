import numpy as np
import pytest

from cvzoo.backends import reduce
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError

X = np.random.default_rng(0).normal(size=(3, 5, 7)).astype("float32")
NORM = ("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_norm_along_axes(axis, keepdims):
    got = reduce(*NORM)(X, axis=axis, keepdims=keepdims)
    expected = np.sqrt(np.square(X.astype("float64")).sum(axis=axis, keepdims=keepdims))
    assert got.shape == expected.shape
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_several_inputs_and_another_type():
    count = reduce("T x, T z", "int32 y", "x > z", "a + b", "y = a", "0", "count")
    assert count(X, 0).item() == (X > 0).sum()
    top = reduce("T x", "T y", "x", "max(a, b)", "y = a", "-1e30", "top")
    np.testing.assert_array_equal(top(X, axis=1), X.max(1))


def test_nothing_gives_the_identity():
    assert reduce(*NORM)(X[:, :0], axis=1).tolist() == np.zeros((3, 7)).tolist()
    product = reduce("T x", "T y", "x", "a * b", "y = a", "1", "product")
    assert product(np.zeros(0, "float64")) == 1


def test_numbers_are_converted_before_they_are_joined():
    whole = reduce("T x", "int32 y", "x", "a + b", "y = a", "0", "whole")
    assert whole(np.array([0.75, 1.5, -2.25], "float32")) == 0 + 1 - 2


def test_what_cannot_be_is_refused():
    with pytest.raises(ShapeError, match="no such axis"):
        reduce(*NORM)(X, axis=3)
    with pytest.raises(ShapeError, match="wrong number"):
        reduce(*NORM)(X, X)
    with pytest.raises(DtypeError, match="no array"):
        reduce(*NORM)("x")
    with pytest.raises(ValueRangeError, match="one output"):
        reduce("T x", "T y, T z", "x", "a + b", "y = a", "0", "two")
    with pytest.raises(ValueRangeError, match="not called a or b"):
        reduce("T a", "T y", "a", "a + b", "y = a", "0", "names")
