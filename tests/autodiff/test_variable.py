"""Variables: the value, the gradient's door, what is refused, and copies."""

import copy
import pickle

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError


def var(value=(1.0, 2.0), **settings):
    return Variable(np.asarray(value, "float32"), **settings)


def test_it_holds_the_array_itself():
    array = np.ones((2, 3), "float32")
    x = Variable(array, name="x")
    assert x.array is array
    assert x.data is array
    assert (x.shape, x.ndim, x.size, x.dtype, len(x)) == ((2, 3), 2, 6, np.float32, 2)
    assert x.xp is np
    other = np.zeros((2, 3), "float32")
    x.data = other
    assert x.array is other


def test_numbers_of_numpy_become_arrays():
    x = Variable(np.float32(3))
    assert isinstance(x.array, np.ndarray)
    assert x.item() == 3
    x.array = np.float32(4)
    assert isinstance(x.array, np.ndarray)
    with pytest.raises(ShapeError, match="one element"):
        var().item()


@pytest.mark.parametrize(
    "value", [[1.0, 2.0], 3.0, None, "a", var(), np.array(["a"]), np.array([None]), np.ones(2, "complex64")]
)
def test_what_is_no_array_is_refused(value):
    with pytest.raises(DtypeError):
        Variable(value)


def test_integers_have_no_gradient():
    assert not Variable(np.arange(3)).requires_grad
    assert not Variable(np.array([True])).requires_grad
    assert var().requires_grad
    assert not var(requires_grad=False).requires_grad
    x = var()
    x.array = np.arange(2)
    assert not x.requires_grad


def test_the_gradient_has_the_shape_of_the_value():
    x = var(grad=np.ones(2, "float32"))
    assert x.grad.tolist() == [1, 1]
    assert x.grad_var.array is x.grad
    with pytest.raises(ShapeError, match="shape of its variable"):
        x.grad = np.ones(3, "float32")
    with pytest.raises(DtypeError, match="dtype of its variable"):
        x.grad = np.ones(2)
    x.grad = None
    assert x.grad is None
    var().cleargrad()


@pytest.mark.parametrize(
    ("use", "hint"),
    [
        (bool, "truth value"),
        (lambda x: x == x, "compare the arrays"),
        (lambda x: x != 1, "compare the arrays"),
        (lambda x: x > 0, "compare the arrays"),
        (lambda x: np.asarray(x), "lose the graph"),
        (lambda x: 1.0 in x, "in x.array"),
        (float, "x.item"),
        (int, "x.item"),
    ],
)
def test_what_would_go_wrong_silently_is_refused(use, hint):
    with pytest.raises(DtypeError, match=hint):
        use(var())


def test_a_value_is_not_written_into():
    with pytest.raises(GraphError, match="scatter_add"):
        var()[0] = 1.0


def test_variables_are_keys():
    x, y = var(), var()
    assert {x: 1, y: 2}[y] == 2
    assert len({x, y, x}) == 2


def test_text_tells_name_and_value():
    assert repr(var()) == "variable([1., 2.])"
    assert repr(var(name="x")) == "variable(x: [1., 2.])"


def test_copies_share_deep_copies_do_not():
    x = var(name="x", grad=np.ones(2, "float32"), requires_grad=True)
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    assert shallow.array is x.array
    assert shallow.grad is None
    assert deep.array is not x.array
    assert deep.grad.tolist() == [1, 1]
    assert deep.grad is not x.grad
    assert (shallow.name, deep.name) == ("x", "x")
    both = copy.deepcopy([x, x])
    assert both[0] is both[1]


def test_pickles_come_back_as_leaves():
    x = var(name="x", grad=np.ones(2, "float32"))
    twin = pickle.loads(pickle.dumps(x * 2.0))
    assert twin.creator is None
    assert twin.array.tolist() == [2, 4]
    twin = pickle.loads(pickle.dumps(x))
    assert (twin.name, twin.grad.tolist(), twin.requires_grad) == ("x", [1, 1], True)


def test_doors_between_arrays_and_variables():
    x = var()
    assert as_variable(x) is x
    y = as_variable(x.array)
    assert y.array is x.array
    assert not y.requires_grad
    assert as_array(x) is x.array
    assert as_array(3) == 3
    with pytest.raises(DtypeError):
        as_variable([1.0])
