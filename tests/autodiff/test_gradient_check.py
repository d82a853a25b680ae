"""The gradient check must let right derivatives pass, and catch every kind of wrong one."""

import numpy as np
import pytest

from cvzoo.autodiff.function import Function
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.gradient_check import assert_allclose, check_backward, check_double_backward, numerical_grad
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import get_random_state, random_generator
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import DtypeError, GradientError, ShapeError


class Mul(FunctionNode):
    """a * b, differentiable as often as wanted; `wrong` spoils it in one of several ways."""

    def __init__(self, wrong=""):
        self.wrong = wrong

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        if self.wrong == "changes input":
            inputs[0][...] += 1
        return (inputs[0] * inputs[1],)

    def backward(self, indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        (gy,) = grad_outputs
        if self.wrong == "changes gy":
            gy.array[...] *= 2
        gxs = []
        for i in indexes:
            gx = mul(gy, b if i == 0 else a, self.wrong if self.wrong == "second" else "")
            if self.wrong == "second":
                gx = mul(gy, Variable((b if i == 0 else a).array, requires_grad=False))
            elif self.wrong == "none" and i == 1:
                gx = None
            elif self.wrong == "scaled" and i == 0:
                gx = mul(gx, Variable(np.asarray(1.01, a.dtype)[None][0:1] * np.ones(a.shape), requires_grad=False))
            elif self.wrong == "one element":
                spoiled = gx.array.copy()
                spoiled.flat[-1] += 1
                gx = Variable(spoiled)
            elif self.wrong == "dtype":
                gx = Variable(gx.array.astype("float32"))
            elif self.wrong == "nan":
                gx = Variable(gx.array * np.nan)
            gxs.append(gx)
        return tuple(gxs)


def mul(a, b, wrong=""):
    return Mul(wrong).apply((a, b))[0]


class Abs(Function):
    def forward_cpu(self, inputs):
        return (np.abs(inputs[0]),)

    def backward_cpu(self, inputs, grad_outputs):
        return (np.sign(inputs[0]) * grad_outputs[0] + (inputs[0] == 0) * grad_outputs[0],)


def arrays(*shape, count=2, seed=0):
    random = np.random.default_rng(seed)
    return [random.normal(size=shape).astype("float32") for _ in range(count)]


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (20, 30), (0, 4)])
def test_right_derivatives_pass(shape):
    check_backward(mul, arrays(*shape))
    check_double_backward(mul, arrays(*shape))


@pytest.mark.parametrize("shape", [(2, 3), (20, 30)])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("none", r"input 1 is missing \(None\)"),
        ("scaled", "input 0 is wrong"),
        ("dtype", "input 0 has another dtype"),
        ("nan", "input 0 is wrong"),
        ("changes input", "changes its input 0"),
        ("changes gy", "changes its gradient of output 0"),
    ],
)
def test_every_kind_of_wrong_backward_is_found(shape, wrong, says):
    with pytest.raises(GradientError, match=says):
        check_backward(lambda a, b: mul(a, b, wrong), arrays(*shape))


def test_the_error_names_the_worst_element_and_both_numbers():
    a, b = np.ones((2, 3)), np.full((2, 3), 2.0)
    with pytest.raises(GradientError) as error:
        check_backward(lambda a, b: mul(a, b, "one element"), (a, b), np.ones((2, 3)))
    text = str(error.value)
    assert "input 0 is wrong at (1, 2), where x is 1" in text
    assert "1 elements differ" in text
    assert "expected: 2 by central differences" in text.replace("2.00000000", "2").replace("1.99999999", "2")
    assert "got:      3" in text


def test_one_wrong_element_of_many_is_found_along_a_direction():
    with pytest.raises(GradientError, match=r"random direction|is wrong at"):
        check_backward(lambda a, b: mul(a, b, "one element"), arrays(40, 50))


def test_a_wrong_second_derivative_is_found_by_the_second_check_only():
    def wrong(a, b):
        return mul(a, b, "second")

    check_backward(wrong, arrays(2, 3))
    with pytest.raises(GradientError, match="missing"):
        check_double_backward(wrong, arrays(2, 3))


class TwoWays(FunctionNode):
    """x * x, whose gradient is right except where it is to be differentiated again."""

    def forward(self, inputs):
        self.retain_inputs((0,))
        return (inputs[0] * inputs[0],)

    def backward(self, indexes, gys):
        (x,) = self.get_retained_inputs()
        return (gys[0] * x * (3 if switches.enable_backprop else 2),)


def test_a_gradient_that_changes_when_it_is_differentiated_again_is_found():
    def square(x):
        return TwoWays().apply((x,))[0]

    check_backward(square, np.array([1.0, 2.0]))
    with pytest.raises(GradientError, match="gradient 0 differs with enable_double_backprop"):
        check_double_backward(square, np.array([1.0, 2.0]))


def test_a_kink_is_told_from_a_wrong_formula():
    with pytest.raises(GradientError, match="not differentiable here"):
        check_backward(Abs(), np.array([1.0, 0.0]), np.array([1.0, 1.0]))
    check_backward(Abs(), np.array([1.0, -2.0]))


def test_parameters_are_checked_and_put_back():
    p = Parameter(np.arange(3, dtype="float32"))
    p.grad = np.ones(3, "float32")
    array, grad = p.array, p.grad
    (x,) = arrays(3, count=1)
    check_backward(lambda x: mul(x, p), x, params=[p])
    check_double_backward(lambda x: mul(x, p), x, params=[p])
    with pytest.raises(GradientError, match="parameter 0 is missing"):
        check_backward(lambda x: mul(x, p, "none"), x, params=[p])
    assert p.array is array
    assert p.grad is grad
    assert p.dtype == np.float32


def test_integer_inputs_have_no_gradient():
    class Take(Function):
        def forward_cpu(self, inputs):
            return (inputs[0][inputs[1]],)

        def backward_cpu(self, inputs, grad_outputs):
            gx = np.zeros_like(inputs[0])
            np.add.at(gx, inputs[1], grad_outputs[0])
            return gx, None

    check_backward(Take(), (np.arange(4.0), np.array([1, 1, 3])))


def test_no_grads_leaves_an_input_out():
    check_backward(lambda a, b: mul(a, b, "none"), arrays(3), no_grads=(False, True))


def test_random_functions_are_repeated():
    def drop(x):
        mask = (random_generator().random(x.shape) > 0.5).astype(x.dtype)
        return mul(x, Variable(mask, requires_grad=False))

    before = get_random_state()
    check_backward(drop, arrays(4, 5, count=1))
    check_double_backward(drop, arrays(4, 5, count=1))
    assert get_random_state() == before


def test_the_callers_arrays_are_untouched():
    a, b = arrays(2, 3)
    copies = a.copy(), b.copy()
    check_backward(mul, (a, b))
    check_backward(mul, (a, b), dtype="float32", eps=1e-2, atol=1e-2)
    assert np.array_equal(a, copies[0])
    assert np.array_equal(b, copies[1])


def test_numerical_grad_perturbs_in_place_and_restores():
    x = np.array([1.0, 2.0, 3.0])
    (g,) = numerical_grad(lambda: (x**2, x), (x,), (np.array([1.0, 1.0, 2.0]), None))
    assert_allclose(g, [2, 4, 12], atol=1e-9)
    assert x.tolist() == [1, 2, 3]


def test_bad_arguments_are_named():
    with pytest.raises(DtypeError, match="input 0 must be an array of floats"):
        numerical_grad(lambda: (), (np.arange(3),), ())
    with pytest.raises(DtypeError, match="must return Variables"):
        check_backward(lambda x: x.array, arrays(2, count=1))
    with pytest.raises(ShapeError, match="one y_grad for each output"):
        check_backward(mul, arrays(2), arrays(2))
    with pytest.raises(ShapeError, match="y_grad 0 has another shape"):
        check_backward(mul, arrays(2), arrays(3, count=1))
    with pytest.raises(ShapeError, match="one no_grads"):
        check_backward(mul, arrays(2), no_grads=[True])


def test_assert_allclose_names_the_worst_element():
    assert_allclose(Variable(np.ones(2)), [1, 1 + 1e-6])
    assert_allclose(np.array([np.nan]), np.array([np.nan]))
    with pytest.raises(AssertionError, match=r"1 of 4 elements differ .*most at \(1, 0\)"):
        assert_allclose(np.array([[0.0, 0], [1, 0]]), np.zeros((2, 2)))
    with pytest.raises(AssertionError, match="different shapes"):
        assert_allclose(np.zeros(2), np.zeros((2, 1)))
    with pytest.raises(AssertionError, match="most at"):
        assert_allclose(np.array([0.0, np.nan]), np.zeros(2))
