"""Checks of types in Chainer's way say which condition failed, and with which numbers."""

import pickle

import numpy as np
import pytest

import cvzoo
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.utils import type_check

X, Y = np.ones((3, 4), "f"), np.ones((12, 5), "d")


def types():
    return type_check.types_of([X, Y], ["x", "y"])


FAILING = {
    "x.ndim == 3": (lambda x, y: x.ndim == 3, "2 != 3"),
    "x.dtype == y.dtype": (lambda x, y: x.dtype == y.dtype, "float32 != float64"),
    "x.dtype.kind == 'i'": (lambda x, y: x.dtype.kind == "i", "f != i"),
    "x.shape[0] * 3 == y.shape[0]": (lambda x, y: x.shape[0] * 3 == y.shape[0], "9 != 12"),
    "x.shape[0] * (y.shape[1] + 1) < 10": (lambda x, y: x.shape[0] * (y.shape[1] + 1) < 10, "18 >= 10"),
    "y.shape[0] - (x.shape[0] - 1) > 10": (lambda x, y: y.shape[0] - (x.shape[0] - 1) > 10, "10 <= 10"),
    "2 ** x.ndim >= 5": (lambda x, y: 2**x.ndim >= 5, "4 < 5"),
    "-x.ndim != -2": (lambda x, y: -x.ndim != -2, "-2 == -2"),
    "x.shape[1:] == y.shape[1:]": (lambda x, y: x.shape[1:] == y.shape[1:], "(4,) != (5,)"),
    "x.shape[::2] == (1,)": (lambda x, y: x.shape[::2] == (1,), "(3,) != (1,)"),
    "prod(x.shape) % 5 == 0": (lambda x, y: type_check.prod(x.shape) % 5 == 0, "2 != 0"),
    "x.shape[0] == in_size": (lambda x, y: x.shape[0] == type_check.Variable(4, "in_size"), "3 != 4"),
    "sum(x.shape) == 10": (lambda x, y: type_check.Variable(np.sum, "sum")(x.shape) == 10, "7 != 10"),
    "x.shape.count(7)": (lambda x, y: x.shape.count(7), "0 is not true"),
}


@pytest.mark.parametrize("text", FAILING)
def test_a_condition_is_spelled_as_it_was_written(text):
    make, actual = FAILING[text]
    with pytest.raises(type_check.InvalidType) as caught:
        type_check.expect(make(*types()))
    assert (caught.value.expect, caught.value.actual) == (text, actual)
    assert str(caught.value).splitlines()[0] == "the inputs have other types than expected"


def test_conditions_that_hold_say_nothing():
    x, y = types()
    type_check.expect(x.ndim == 2, x.shape[0] > 0, 2 * x.shape[0] + 6 == y.shape[0], y.dtype == np.float64, True)
    assert type_check.eval(x.shape) == x.shape.eval() == (3, 4)
    assert type_check.eval(3) == 3
    assert [n.eval() for n in x.shape] == [3, 4]


def test_a_condition_is_not_true_or_false_by_itself():
    x, _ = types()
    with pytest.raises(DtypeError, match="no truth value"):
        bool(x.ndim == 2)


def test_types_have_names_and_a_number():
    found = type_check.types_of([X, Y])
    type_check.expect(found.size() == 2)
    assert str(found[1].shape) == "in_types[1].shape"
    type_check._argname(found, ("x", "t"))
    assert str(found[1].shape) == "t.shape"
    with pytest.raises(type_check.InvalidType, match="1 inputs: x"):
        type_check._argname(found, ("x",))


def test_errors_are_of_shapes_and_of_dtypes_and_can_be_pickled():
    error = type_check.InvalidType("a", "b")
    assert isinstance(error, ShapeError) and isinstance(error, DtypeError)  # noqa: PT018
    assert pickle.loads(pickle.dumps(error)).expect == "a"
    assert type_check.same_types(X, Y)


@pytest.mark.parametrize("base", [cvzoo.Function, cvzoo.FunctionNode], ids=str)
def test_functions_check_their_inputs_before_they_compute(base):
    class Double(base):
        def check_type_forward(self, in_types):
            type_check.expect(in_types.size() == 1, in_types[0].ndim == 2)

        def forward(self, inputs):
            return (inputs[0] * 2,)

    run = Double() if base is cvzoo.Function else lambda x: Double().apply((x,))[0]
    assert run(X).shape == X.shape
    with pytest.raises(type_check.InvalidType, match=r"in_types\[0\].ndim == 2"):
        run(X[0])
