"""`grad`: gradients as values."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ShapeError


def var(value, **settings):
    return Variable(np.asarray(value, "float32"), **settings)


def test_gradients_of_values_on_the_way():
    x = var(3.0)
    h = x * x
    y = h * h
    gh, gx = grad([y], [h, x])
    assert (gh.array, gx.array) == (18, 108)
    assert (x.grad, h.grad, y.grad) == (None, None, None)
    assert grad([y], [x])[0].array == 108  # the graph stays


def test_no_part_no_gradient():
    x, other, frozen = var(3.0), var(1.0), var(2.0, requires_grad=False)
    assert grad([x * frozen], [other, frozen]) == [None, None]


def test_an_output_is_its_own_input():
    x = var(3.0)
    assert grad([x], [x])[0].array == 1
    y = x * x
    gy, gx = grad([y], [y, x])
    assert (gy.array, gx.array) == (1, 6)


def test_outputs_are_summed_and_weighted():
    x = var([1.0, 2.0])
    a, b = x * x, x * 3.0
    (gx,) = grad([a, b, b], [x], [np.array([1, 1], "float32"), None, var([10.0, 0.0])])
    assert gx.array.tolist() == [2 + 3 + 30, 4 + 3]


def test_an_input_twice_gets_its_gradient_twice():
    x = var(3.0)
    first, second = grad([x * x], [x, x])
    assert first.array == second.array == 6


def test_only_what_lies_between_is_walked():
    x = var(3.0)
    h = x * x
    y = h * 2.0 + F.log(x)
    walked = []

    class Walk(AbstractFunctionHook):
        def backward_preprocess(self, function, target_input_indexes, grad_outputs):
            walked.append((function, target_input_indexes))

    with Walk():
        (gh,) = grad([y], [h])
    assert gh.array == 2
    assert walked == [(y.creator, (0,)), (walked[1][0], (0,))]  # neither the logarithm nor the square


def test_gradient_penalty_trains_the_weights():
    """WGAN-GP: the loss contains the gradient of the critic with respect to its input."""
    random = np.random.default_rng(0)
    x, w = var(random.normal(size=(4, 3))), var(random.normal(size=(3, 2)))

    def penalty(w):
        score = F.sum((x @ w) ** 2.0)
        (gx,) = grad([score], [x], enable_double_backprop=True)
        norm = F.sum(gx**2.0, axis=1) ** 0.5
        return F.sum((norm - 1.0) ** 2.0)

    loss = penalty(w)
    loss.backward()
    numbers = np.zeros_like(w.array)
    for index in np.ndindex(w.shape):
        moved = w.array.astype("float64")
        sides = []
        for step in (1e-3, -1e-3):
            moved[index] = w.array[index] + step
            gx = 2 * x.array.astype("float64") @ moved @ moved.T
            sides.append(((np.sqrt((gx**2).sum(1)) - 1) ** 2).sum())
        numbers[index] = (sides[0] - sides[1]) / 2e-3
    np.testing.assert_allclose(w.grad, numbers, rtol=1e-3)


def test_without_double_backprop_gradients_are_constants():
    x = var(3.0)
    (gx,) = grad([x**3.0], [x])
    assert gx.creator is None


def test_wrong_arguments_are_named():
    x = var([1.0, 2.0])
    with pytest.raises(DtypeError, match="outputs must be a list of Variables"):
        grad(x, [x])
    with pytest.raises(DtypeError, match="inputs must be a list of Variables"):
        grad([x], [x.array])
    with pytest.raises(ShapeError, match="one grad_output for each output"):
        grad([x], [x], [])
    with pytest.raises(ShapeError, match="shape of its output"):
        grad([x], [x], [np.ones(3, "float32")])
