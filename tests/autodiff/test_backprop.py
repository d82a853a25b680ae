"""The reverse sweep on graphs of every build."""

import threading

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, switches, using_config
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError


def var(value, **settings):
    return Variable(np.asarray(value, "float32"), **settings)


class Split(FunctionNode):
    """x and 2 x and, of integers, how many there are."""

    seen = None

    def forward(self, inputs):
        (x,) = inputs
        return x + 0, 2 * x, np.asarray(x.size)

    def backward(self, indexes, grad_outputs):
        Split.seen = [gy is not None for gy in grad_outputs]
        a, b, _ = grad_outputs
        total = None
        for gy, weight in ((a, 1), (b, 2)):
            if gy is not None:
                total = weight * gy if total is None else total + weight * gy
        return (total,)


class Failing(FunctionNode):
    def forward(self, inputs):
        return (inputs[0] + 0,)

    def backward(self, indexes, grad_outputs):
        raise ZeroDivisionError("on purpose")


class Bad(FunctionNode):
    """Returns from backward what it is told to."""

    def __init__(self, answer):
        self.answer = answer

    def forward(self, inputs):
        return (inputs[0] + 0,)

    def backward(self, indexes, grad_outputs):
        return self.answer(grad_outputs[0])


# --- builds ---------------------------------------------------------------------------------------------------------


def test_one_variable_used_many_times_gets_the_sum():
    x = var(3.0)
    y = x * x * x + x + x
    y.backward()
    assert x.grad == 3 * 9 + 2


class Count(AbstractFunctionHook):
    """How often a backward was called."""

    def __init__(self):
        self.calls = 0

    def backward_preprocess(self, function, target_input_indexes, grad_outputs):
        self.calls += 1


def test_a_diamond_is_walked_once():
    x = var(2.0)
    a = x * x
    y = a * 3.0 + a * a
    with Count() as count:
        y.backward()
    assert x.grad == 2 * 2 * 3 + 4 * 8  # d(3 x^2 + x^4) = 6 x + 4 x^3
    assert count.calls == 4


def test_a_long_way_and_a_short_way_meet_in_the_right_order():
    x = var(1.0)
    h = long = x * 1.0
    for _ in range(10):
        long = long * 2.0
    y = h + long
    with Count() as count:
        y.backward()
    assert x.grad == 1025
    assert count.calls == 12  # h's function waits for both gradients


def test_many_ladders_take_linear_time():
    x = var(1.0)
    y = x
    for _ in range(60):  # 2 ** 60 ways from y to x
        y = (y + y) * 0.5
    y.backward()
    assert x.grad == 1


def test_outputs_without_a_gradient_come_as_none():
    x = var([1.0, 2.0])
    a, b, n = Split().apply((x,))
    F.sum(b).backward()
    assert a.grad is None
    assert Split.seen == [False, True, False]
    assert x.grad.tolist() == [2, 2]
    assert n.array == 2
    assert not n.requires_grad


def test_dead_outputs_do_no_harm():
    x = var([1.0, 2.0])
    b = Split().apply((x,))[1]
    F.sum(b * b).backward()
    assert x.grad.tolist() == [8, 16]


def test_inputs_without_gradient_are_not_asked_for():
    asked = []

    class Two(FunctionNode):
        def forward(self, inputs):
            return (inputs[0] + inputs[1],)

        def backward(self, indexes, grad_outputs):
            asked.append(indexes)
            return (grad_outputs[0],) * len(indexes)

    x, constant = var(1.0), var(1.0, requires_grad=False)
    (y,) = Two().apply((constant, x))
    y.backward()
    assert asked == [(1,)]
    assert constant.grad is None
    (y,) = Two().apply((constant, np.asarray(1, "float32")))
    assert y.creator is None
    assert not y.requires_grad


def test_freezing_counts_for_variables_that_were_used_before():
    x, w = var(2.0), var(3.0)
    (x * w).backward()
    w.cleargrad()
    w.requires_grad = False
    (x * w).backward()
    assert w.grad is None
    w.requires_grad = True
    (x * w).backward()
    assert w.grad == 2
    with pytest.raises(DtypeError, match="floats only"):
        Variable(np.arange(3)).requires_grad = True


def test_a_leaf_of_another_size_is_another_leaf():
    x = var([1.0, 2.0])
    F.sum(x * x).backward()
    x.array = np.ones(3, "float32")
    assert x.grad is None
    F.sum(x * x).backward()
    assert x.grad.tolist() == [2, 2, 2]


# --- starting -------------------------------------------------------------------------------------------------------


def test_backward_of_many_elements_wants_a_gradient():
    x = var([1.0, 2.0])
    y = x * x
    with pytest.raises(GraphError, match="no gradient to start from"):
        y.backward()
    y.grad = np.array([1, 10], "float32")
    y.backward()
    assert x.grad.tolist() == [2, 40]
    with pytest.raises(ShapeError, match="shape of its variable"):
        y.grad = np.ones(3, "float32")


def test_gradients_accumulate_until_they_are_cleared():
    x = var(1.0)
    for _ in range(3):
        (2.0 * x).backward()
    assert x.grad == 6
    x.cleargrad()
    assert x.grad is None


def test_a_leaf_keeps_its_own_gradient_to_start_from():
    x = var(1.0)
    x.backward()
    assert x.grad == 1


def test_retain_grad_fills_values_that_somebody_holds():
    x = var(3.0)
    h = x * x
    y = h * 2.0
    y.backward()
    assert h.grad is None
    x.cleargrad()
    y = h * 2.0
    y.backward(retain_grad=True)
    assert h.grad == 2
    assert x.grad == 12


# --- again ----------------------------------------------------------------------------------------------------------


def test_a_second_backward_says_that_the_graph_is_gone():
    x = var(2.0)
    y = x * x
    y.backward()
    with pytest.raises(GraphError, match=r"retain_graph=True"):
        y.backward()
    with pytest.raises(GraphError, match="released by an earlier"):
        (y * 2.0).backward()
    with pytest.raises(GraphError, match="released by an earlier"):
        grad([y * 2.0], [x])
    assert x.grad == 4


def test_retain_graph_allows_a_second_backward():
    x = var(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad == 12


def test_two_losses_on_one_trunk_both_go_backward():
    x, g, d = var(2.0), var(3.0), var(5.0)
    fake = x * g
    score = fake * d
    first, second = score * 2.0, score * score
    first.backward()
    assert g.grad == 2 * 5 * 2
    g.cleargrad()
    d.cleargrad()
    second.backward()
    assert g.grad == 2 * 30 * 5 * 2
    assert d.grad == 2 * 30 * 6


def test_unchain_backward_cuts_time():
    x = var(2.0)
    h = x * x
    y = h * h
    y.unchain_backward()
    z = y * 3.0
    z.backward()
    assert (x.grad, h.grad) == (None, None)
    assert y.creator is None
    assert h.creator is None
    assert y.grad == 3  # a leaf now


def test_unchain_cuts_one_value():
    x = var(2.0)
    h = x * x
    y = h * 3.0
    h.unchain()
    y.backward()
    assert x.grad is None
    assert h.grad == 3


# --- whose memory a gradient is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("double", [False, True])
def test_leaves_own_their_gradients(double):
    x, p = var([1.0, 2.0]), var([3.0, 4.0])
    y = x + p
    y.grad = np.ones(2, "float32")
    y.backward(enable_double_backprop=double)
    x.grad[...] = 100
    assert p.grad.tolist() == [1, 1]
    assert y.grad.tolist() == [1, 1]


@pytest.mark.parametrize("double", [False, True])
def test_gradients_of_leaves_can_be_written(double):
    x = var([1.0, 2.0])
    view = np.broadcast_to(np.float32(1), (2,))
    assert not view.flags.writeable
    (y,) = Bad(lambda gy: (Variable(view, requires_grad=False),)).apply((x,))
    y.grad = np.ones(2, "float32")
    y.backward(enable_double_backprop=double)
    x.grad *= 0.5
    assert x.grad.tolist() == [0.5, 0.5]


def test_a_held_gradient_in_between_is_not_changed_by_the_rest_of_the_sweep():
    x = var([1.0, 2.0])
    a = x * 1.0
    b = a + x  # x's gradient: a's and this one's, summed
    c = b + a
    F.sum(c).backward(retain_grad=True)
    assert b.grad.tolist() == [1, 1]
    assert a.grad.tolist() == [2, 2]
    assert x.grad.tolist() == [3, 3]


def test_accumulation_leaves_the_older_gradients_array_alone():
    x = var([1.0])
    F.sum(x * 2.0).backward()
    kept = x.grad
    F.sum(x * 2.0).backward()
    assert kept.tolist() == [2]
    assert x.grad.tolist() == [4]


# --- failing --------------------------------------------------------------------------------------------------------


def test_an_exception_on_the_way_leaves_leaves_and_switches_alone():
    x, w = var(2.0), var(3.0)
    y = Failing().apply((x * w,))[0] + x
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        y.backward()
    assert x.grad is None
    assert w.grad is None
    assert switches.enable_backprop
    (x * w).backward()
    assert x.grad == 3


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (lambda gy: gy, DtypeError, "must return a tuple"),
        (lambda gy: (), DtypeError, "0 gradients"),
        (lambda gy: (gy, gy), DtypeError, "2 gradients"),
        (lambda gy: [gy], DtypeError, "got:      list"),
        (lambda gy: (gy.array,), DtypeError, "must return Variables"),
        (lambda gy: (F.reshape(gy, (1, 1)),), GraphError, "input 0 a gradient of another shape"),
    ],
)
def test_a_backward_that_answers_wrongly_is_named(answer, error, says):
    (y,) = Bad(answer).apply((var(1.0),))
    with pytest.raises(error, match=says) as caught:
        y.backward()
    assert "Bad.backward" in str(caught.value)


def test_a_backward_may_answer_none():
    x = var(1.0)
    (y,) = Bad(lambda gy: (None,)).apply((x,))
    y.backward()
    assert x.grad is None


# --- twice ----------------------------------------------------------------------------------------------------------


def test_a_gradient_can_be_differentiated():
    x = var(3.0)
    y = x**3.0
    y.backward(enable_double_backprop=True)
    first = x.grad_var
    x.cleargrad()
    first.backward()
    assert x.grad == 18


def test_third_derivatives():
    x = var(2.0)
    y = x**4.0
    for wanted in (32, 48, 48, 24):
        (y,) = grad([y], [x], enable_double_backprop=True)
        assert y.array == wanted


def test_backward_without_double_backprop_records_nothing():
    x = var(3.0)
    (x**3.0).backward()
    assert x.grad_var.creator is None


def test_recording_can_be_forced_inside_no_backprop_mode():
    x = var(3.0)
    y = x * x + x * x
    with no_backprop_mode():
        y.backward(enable_double_backprop=True)
    gx = x.grad_var
    x.cleargrad()
    gx.backward()
    assert x.grad == 4


# --- deep and many --------------------------------------------------------------------------------------------------


class Identity(FunctionNode):
    def forward(self, inputs):
        return (inputs[0],)

    def backward(self, indexes, grad_outputs):
        return grad_outputs


def deep(x, count=20_000):
    for _ in range(count):
        (x,) = Identity().apply((x,))
    return x


def test_a_deep_chain_dies_without_overflowing_the_stack():
    y = deep(var(1.0))
    del y


def test_a_deep_chain_is_swept_and_unchained():
    x = var(1.0)
    y = deep(x)
    assert y.rank == 20_000
    y.backward(retain_graph=True)
    assert x.grad == 1
    assert grad([y], [x])[0].array == 1
    y.unchain_backward()
    assert y.creator is None


def test_a_deep_chain_is_swept_with_release():
    x = var(1.0)
    deep(x).backward()
    assert x.grad == 1


def test_threads_sweep_apart():
    failures = []

    def work(number):
        try:
            with using_config("train", bool(number % 2)):
                for _ in range(20):
                    x = var(float(number))
                    y = x
                    for _ in range(20):
                        y = y * 1.0 + x
                    with no_backprop_mode():
                        assert (x * x).creator is None
                    y.backward()
                    assert x.grad == 21
                    assert switches.train is bool(number % 2)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
