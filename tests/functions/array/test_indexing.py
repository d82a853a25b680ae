"""Picking by index, and adding into places."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError

INDEXES = {
    "a number": 1,
    "a number from the end": -1,
    "a NumPy number": np.int64(1),
    "a slice": slice(1, None),
    "steps": (slice(None), slice(None, None, 2)),
    "backwards": (slice(None, None, -1), slice(2, 0, -1)),
    "an ellipsis": (..., 0),
    "a new axis": (None, 0, ..., None),
    "one element": (0, 1, 2),
    "nothing": slice(0, 0),
    "an empty tuple": (),
    "a list with repetitions": [1, 0, 1, 1],
    "an array": np.array([[0, 1], [1, 1]]),
    "two arrays": (np.array([0, 1, 0]), np.array([2, 2, 2])),
    "an array between slices": (slice(None), np.array([0, 0, 2]), slice(1, 3)),
    "an array and a number": (0, [1, 1]),
    "truth values": np.array([True, False]),
    "truth values of two axes": np.arange(6).reshape(2, 3) % 2 == 0,
    "an empty list": [],
    "negative numbers in an array": np.array([-1, -2, -1]),
}


@pytest.mark.parametrize("name", INDEXES)
def test_every_index_of_numpy_works_and_has_gradients(name, backend):
    index = INDEXES[name]
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    before = x.copy()
    y = Variable(x)[index]
    assert_allclose(y, np.asarray(x[index]))
    assert np.array_equal(x, before)
    check_backward(lambda x: F.get_item(x, index), x)
    check_double_backward(lambda x: F.get_item(x, index) ** 2, x, rtol=1e-3, atol=1e-4)


def test_slices_are_views_and_arrays_copies():
    x = np.zeros((3, 4), "float32")
    assert np.shares_memory(Variable(x)[1:].array, x)
    assert not np.shares_memory(Variable(x)[[1, 2]].array, x)


def test_a_variable_may_be_an_index():
    x = Variable(np.array([1.0, 2.0, 3.0]))
    assert x[F.argmax(x)].array == 3
    assert x[Variable(np.array([0, 0]))].array.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (5, ShapeError),
        ((0, 0, 0, 0), ShapeError),
        ([0, 7], ShapeError),
        (np.array([True, False, True]), ShapeError),
        (1.5, DtypeError),
        ("name", DtypeError),
        (np.array([0.5]), DtypeError),
        (None, None),
    ],
)
def test_what_is_no_index_is_refused(index, error):
    x = Variable(np.zeros((2, 3), "float32"))
    if error is None:
        assert x[index].shape == (1, 2, 3)
        return
    with pytest.raises(error, match=r"x\[\.\.\.\]"):
        x[index]


@pytest.mark.parametrize(
    ("index", "shape"),
    [(0, (3,)), ((slice(None), 1), (2,)), ([0, 0, 1], (3, 3)), ((np.array([1, 1]), np.array([2, 2])), (2,))],
    ids=str,
)
def test_scatter_add_adds_also_twice_into_one_place(index, shape, backend):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 3)), random.normal(size=shape)
    expected = a.copy()
    np.add.at(expected, index, b)
    assert_allclose(F.scatter_add(a, index, b), expected)
    check_backward(lambda a, b: F.scatter_add(a, index, b), (a, b))
    check_double_backward(lambda a, b: F.scatter_add(a, index, b) ** 2, (a, b), rtol=1e-3, atol=1e-4)


def test_scatter_add_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match="scatter_add"):
        F.scatter_add(np.zeros((2, 3)), 0, np.zeros(2))
    with pytest.raises(DtypeError, match="scatter_add"):
        F.scatter_add(np.zeros((2, 3)), 0, np.zeros(3, "float32"))


def test_select_item_picks_one_of_each_row():
    x = np.random.default_rng(0).normal(size=(3, 4))
    t = np.array([3, 0, 3], "int32")
    assert_allclose(F.select_item(x, t), x[[0, 1, 2], t])
    check_backward(lambda x: F.select_item(x, t), x)
    for bad, error in (([0, 1], ShapeError), ([0, 1, 4], ValueError), ([0, -1, 0], ValueError), ([0.0] * 3, TypeError)):
        with pytest.raises(error, match="select_item"):
            F.select_item(x, np.array(bad))


def test_permutate_and_its_inverse():
    x = np.random.default_rng(0).normal(size=(2, 4))
    order = np.array([2, 0, 3, 1])
    assert_allclose(F.permutate(x, order, axis=1), x[:, order])
    assert_allclose(F.permutate(F.permutate(x, order, axis=-1), order, axis=-1, inv=True), x)
    check_backward(lambda x: F.permutate(x, order, axis=1, inv=True), x)
    with pytest.raises(ValueError, match="once"):
        F.permutate(x, np.array([0, 0, 1, 2]), axis=1)
    with pytest.raises(ShapeError):
        F.permutate(x, np.array([0, 1, 2]), axis=1)
