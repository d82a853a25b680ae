"""Memory: arrays die when the last one who needs them lets go, without the garbage collector's help."""

import contextlib
import gc
import weakref

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_hook import AbstractFunctionHook
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode

LAYERS = 50
SHAPE = (64, 64)


class Array(np.ndarray):
    """An array that is counted while it lives."""


class Counter:
    def __init__(self):
        self.living = 0
        self.peak = 0

    def __call__(self, array):
        """`array`, counted from now on."""
        array = np.array(array).view(Array)
        self.living += 1
        self.peak = max(self.peak, self.living)
        weakref.finalize(array, self._died)
        return array

    def _died(self):
        self.living -= 1


class Layer(FunctionNode):
    """2 x, keeping its input, its output or nothing; all arrays it makes are counted."""

    def __init__(self, counter, keeps="nothing"):
        self.counter = counter
        self.keeps = keeps

    def forward(self, inputs):
        if self.keeps == "inputs":
            self.retain_inputs((0,))
        elif self.keeps == "outputs":
            self.retain_outputs((0,))
        return (self.counter(2 * inputs[0]),)

    def backward(self, indexes, grad_outputs):
        if self.keeps == "inputs":
            self.get_retained_inputs()
        elif self.keeps == "outputs":
            self.get_retained_outputs()
        return Layer(self.counter).apply(grad_outputs)


class Residual(FunctionNode):
    """x + y: hands one array to both inputs."""

    def __init__(self, counter):
        self.counter = counter

    def forward(self, inputs):
        return (self.counter(inputs[0] + inputs[1]),)

    def backward(self, indexes, grad_outputs):
        return tuple(grad_outputs[0] for _ in indexes)


@pytest.fixture
def counter():
    counter = Counter()
    gc.collect()
    gc.disable()
    yield counter
    gc.enable()


class Watch(AbstractFunctionHook):
    """How many arrays live when each backward begins."""

    def __init__(self, counter):
        self.counter = counter
        self.lives = []

    def backward_preprocess(self, function, target_input_indexes, grad_outputs):
        self.lives.append(self.counter.living)


@contextlib.contextmanager
def no_garbage():
    """Fails if the block leaves objects that only the garbage collector can free."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield
        gc.collect()
        left = [type(x).__name__ for x in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left


def chain(x, counter, keeps):
    for _ in range(LAYERS):
        (x,) = Layer(counter, keeps).apply((x,))
    return x


def leaf():
    return Variable(np.ones(SHAPE, "float32") / 2**LAYERS)


def test_arrays_that_no_function_keeps_die_at_once(counter):
    y = chain(leaf(), counter, "nothing")
    assert counter.living == 1  # y itself
    assert counter.peak == 2  # a layer's input and output
    y.grad = counter(np.ones(SHAPE, "float32"))
    y.backward()
    assert counter.peak <= 4  # y, its gradient, and a step's two gradients


def test_without_graph_arrays_die_whatever_functions_would_keep(counter):
    with no_backprop_mode():
        chain(leaf(), counter, "inputs")
    assert counter.living == 0
    assert counter.peak == 2


@pytest.mark.parametrize("keeps", ["inputs", "outputs"])
def test_backward_gives_memory_back_while_it_goes(counter, keeps):
    x = leaf()
    y = chain(x, counter, keeps)
    before = counter.living
    assert before in (LAYERS, LAYERS + 1)
    y.grad = np.ones(SHAPE, "float32")
    with Watch(counter) as watch:
        y.backward()
    more = 1 if keeps == "inputs" else 2  # the gradient on its way; where y is kept, also y, which we hold
    assert counter.peak <= before + more
    assert len(watch.lives) == LAYERS
    for done, living in enumerate(watch.lives):  # each step frees what its function had kept
        assert living <= before - done + more
    assert counter.living <= 2  # y and x's gradient
    del y
    assert counter.living == 1
    x.cleargrad()
    assert counter.living == 0


@pytest.mark.parametrize("keeps", ["inputs", "outputs"])
def test_a_graph_that_is_dropped_unused_frees_everything(counter, keeps):
    y = chain(leaf(), counter, keeps)
    assert counter.living >= LAYERS
    del y
    assert counter.living == 0


def test_a_retained_graph_keeps_what_it_needs(counter):
    y = chain(leaf(), counter, "inputs")
    before = counter.living
    y.grad = np.ones(SHAPE, "float32")
    y.backward(retain_graph=True)
    assert before <= counter.living <= before + 1  # and x's gradient, if x lives
    y.backward()
    assert counter.living <= 2


def test_residual_sums_are_made_in_place(counter):
    """x -> x + f1(x) + f2(x) + ...: one array for the sum, however many terms."""
    x = leaf()
    (trunk,) = Layer(counter).apply((x,))
    y = trunk
    for _ in range(10):
        (branch,) = Layer(counter).apply((trunk,))
        (y,) = Residual(counter).apply((y, branch))
    del branch
    y.grad = np.ones(SHAPE, "float32")
    before = counter.living
    counter.peak = before
    y.backward()
    # ten gradients of branches come into being; the sum (made by the backend) is not one of ours
    assert counter.peak <= before + 3


def test_summed_gradients_do_not_hold_what_is_behind_them(counter):
    """Residual blocks: every block's input gets two gradients, whose sum is made on the way."""
    y = leaf()
    for _ in range(LAYERS):
        (branch,) = Layer(counter, "inputs").apply((y,))
        (y,) = Residual(counter).apply((y, branch))
        del branch
    before = counter.living
    y.grad = np.ones(SHAPE, "float32")
    with Watch(counter) as watch:
        y.backward()
    assert len(watch.lives) == 2 * LAYERS
    for done, living in enumerate(watch.lives):
        assert living <= before - done // 2 + 2


def test_values_that_the_user_holds_are_all_that_lives(counter):
    x = leaf()
    (h,) = Layer(counter).apply((x,))
    y = chain(h, counter, "inputs")
    y.grad = np.ones(SHAPE, "float32")
    y.backward()
    assert counter.living == 3  # h, y, x.grad
    assert h.creator is not None  # h can still go backward


def test_gradients_as_values_die_with_their_list(counter):
    x = leaf()
    y = chain(x, counter, "outputs")
    before = counter.living
    gradients = grad([y], [x], [np.ones(SHAPE, "float32")])
    assert counter.living == before + 1
    del gradients
    assert counter.living == before


def test_an_exception_keeps_nothing_once_it_is_handled(counter):
    class Failing(Layer):
        def backward(self, indexes, grad_outputs):
            raise ZeroDivisionError

    x = leaf()
    (y,) = Failing(counter).apply((chain(x, counter, "inputs"),))
    y.grad = np.ones(SHAPE, "float32")
    with pytest.raises(ZeroDivisionError) as caught:
        y.backward()
    del caught
    gc.collect()  # a traceback holds its frames, and an exception in a frame's variable makes a circle
    del y
    assert counter.living == 0


@pytest.mark.slow
@pytest.mark.parametrize("keeps", ["nothing", "inputs", "outputs"])
def test_a_training_step_leaves_no_garbage(counter, keeps):
    with no_garbage():
        x = leaf()
        y = chain(x, counter, keeps)
        y.grad = np.ones(SHAPE, "float32")
        y.backward()
        del x, y
    with no_garbage():
        x = leaf()
        y = chain(x, counter, keeps)
        (gx,) = grad([y], [x], [np.ones(SHAPE, "float32")], enable_double_backprop=True)
        gx.grad = np.ones(SHAPE, "float32")
        gx.backward()
        del x, y, gx
    with no_garbage():
        y = chain(leaf(), counter, keeps)
        y.unchain_backward()
        del y


@pytest.mark.slow
def test_operators_leave_no_garbage(counter):
    x, w = Variable(np.ones((3, 4), "float32")), Variable(np.ones((4, 4), "float32"))

    def step(**settings):
        y = x
        for _ in range(5):
            y = (y @ w + x) * 0.1 - y / 3.0
        F.sum(y**2.0).backward(**settings)
        x.cleargrad()  # a gradient that is differentiable holds the graph, and the graph its variable
        w.cleargrad()

    with no_garbage():
        step()
        step(enable_double_backprop=True)


def test_the_garbage_test_can_fail():
    def make_a_circle():
        circle = []
        circle.append(circle)

    with pytest.raises(AssertionError, match="list"), no_garbage():
        make_a_circle()
