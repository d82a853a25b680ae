"""Hooks: what they see, in which order, and what they make of it."""

import io
import time
import weakref

import numpy as np
import pytest

from cvzoo.autodiff.function_hook import AbstractFunctionHook, this_thread
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.hooks.memory_hook import MemoryHook
from cvzoo.autodiff.hooks.print_hook import PrintHook
from cvzoo.autodiff.hooks.timer_hook import TimerHook
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode


class Double(FunctionNode):
    keeps = ()
    seconds = 0.0

    def forward(self, inputs):
        time.sleep(self.seconds)
        self.retain_inputs(self.keeps)
        return (2 * inputs[0],)

    def backward(self, indexes, grad_outputs):
        return Double().apply(grad_outputs)


class Keeping(Double):
    keeps = (0,)


class Slow(Double):
    seconds = 0.01


class View(Double):
    def forward(self, inputs):
        return (inputs[0][:],)

    def backward(self, indexes, grad_outputs):
        return grad_outputs


class Failing(Double):
    def forward(self, inputs):
        raise ZeroDivisionError


class Recorder(AbstractFunctionHook):
    def __init__(self, name, calls):
        self.name = name
        self.calls = calls

    def forward_preprocess(self, function, in_data):
        self.calls.append((self.name, "forward in", [x.shape for x in in_data]))

    def forward_postprocess(self, function, in_data):
        self.calls.append((self.name, "forward out"))

    def outputs_made(self, function, outputs):
        self.calls.append((self.name, "outputs", [y.creator is function for y in outputs]))

    def backward_preprocess(self, function, target_input_indexes, grad_outputs):
        self.calls.append((self.name, "backward in", target_input_indexes))

    def backward_postprocess(self, function, target_input_indexes, grad_outputs):
        self.calls.append((self.name, "backward out"))

    def gradients_made(self, function, grad_inputs):
        self.calls.append((self.name, "gradients", [gx.shape for gx in grad_inputs]))


def var(size=250):
    return Variable(np.ones(size, "float32"))


def run(function, x):
    (y,) = function.apply((x,))
    return y


def backward(y):
    y.grad = np.ones_like(y.array)
    y.backward()


def test_hooks_nest_like_their_blocks():
    calls = []
    with Recorder("outer", calls), Recorder("inner", calls):
        run(View(), var(3))
    assert [call[:2] for call in calls] == [
        ("outer", "forward in"),
        ("inner", "forward in"),
        ("inner", "forward out"),
        ("outer", "forward out"),
        ("outer", "outputs"),
        ("inner", "outputs"),
    ]
    assert this_thread.hooks == ()
    run(View(), var(3))
    assert len(calls) == 6


def test_hooks_see_backward_and_the_functions_inside():
    calls = []
    y = run(Double(), var(3))
    with Recorder("hook", calls):
        backward(y)
    assert calls == [
        ("hook", "backward in", (0,)),
        ("hook", "forward in", [(3,)]),
        ("hook", "forward out"),
        ("hook", "outputs", [False]),
        ("hook", "backward out"),
        ("hook", "gradients", [(3,)]),
    ]


def test_hooks_hear_of_the_end_of_a_function_that_raised():
    calls = []
    with pytest.raises(ZeroDivisionError), Recorder("hook", calls):
        run(Failing(), var(3))
    assert [call[1] for call in calls] == ["forward in", "forward out"]
    assert this_thread.hooks == ()


def test_the_timer_tells_forward_from_backward():
    with TimerHook() as hook:
        y = run(Slow(), run(Slow(), var()))
        backward(run(View(), y))
    summary = hook.summary()
    assert {key: row.count for key, row in summary.items()} == {
        ("Slow", "forward"): 2,
        ("Slow", "backward"): 2,
        ("View", "forward"): 1,
        ("View", "backward"): 1,
    }
    slow = summary["Slow", "forward"]
    assert 0.02 <= slow.total < 1
    assert 0.01 <= slow.median <= slow.total
    assert next(iter(summary)) == ("Slow", "forward")
    assert hook.total_time() == pytest.approx(sum(row.total for row in summary.values()))
    file = io.StringIO()
    hook.print_report(file)
    lines = file.getvalue().splitlines()
    assert lines[0].split() == ["function", "pass", "calls", "total", "share", "median"]
    assert lines[1].split()[:3] == ["Slow", "forward", "2"]
    assert len(lines) == 5


def test_the_timer_goes_on_after_an_exception():
    hook = TimerHook()
    with hook, pytest.raises(ZeroDivisionError):
        run(Failing(), var())
    with hook:
        run(View(), var())
    assert [(key[0], row.count) for key, row in sorted(hook.summary().items())] == [("Failing", 1), ("View", 1)]


def test_an_empty_report_is_a_head():
    for hook in (TimerHook(), MemoryHook()):
        file = io.StringIO()
        hook.print_report(file)
        assert file.getvalue().startswith("function")


def test_memory_counts_what_is_made_and_kept_once():
    x = var()  # 1000 bytes
    with MemoryHook() as hook:
        h = run(Keeping(), x)
        h = run(Keeping(), h)
        run(Keeping(), h)
        y = run(View(), h)
    assert hook.summary() == {("Keeping", "forward"): (3, 3000, 3000), ("View", "forward"): (1, 0, 0)}
    assert hook.living == 2000  # the second one's input, kept, and its output
    with hook:
        backward(y)
    assert hook.summary()["Keeping", "backward"] == (2, 2000, 0)
    assert hook.summary()["View", "backward"] == (1, 0, 0)
    assert hook.peak >= 3000
    del h, y
    x.cleargrad()
    assert hook.living == 0
    file = io.StringIO()
    hook.print_report(file)
    assert "3.00 kB" in file.getvalue()
    assert file.getvalue().splitlines()[-1].startswith("living 0 B, peak")


def test_memory_without_graph():
    with MemoryHook() as hook, no_backprop_mode():
        y = run(Keeping(), run(Keeping(), var()))
    assert hook.summary() == {("Keeping", "forward"): (2, 2000, 0)}
    assert (hook.living, hook.peak) == (1000, 2000)
    assert y.shape == (250,)


def test_memory_keeps_nothing_alive():
    with MemoryHook():
        y = run(Keeping(), var())
        watch = weakref.ref(y.array)
        del y
        assert watch() is None


def test_printing_tells_what_goes_through():
    file = io.StringIO()
    with PrintHook(file):
        y = run(Double(), Variable(np.array([1, np.nan, 3], "float32")))
        backward(y)
        run(View(), Variable(np.array([np.inf], "float32")))
        run(View(), Variable(np.zeros((0, 4), "float32")))
    assert file.getvalue().splitlines() == [
        "Double forward <- float32 (3,) [1, 3] and 1 not finite",
        "Double forward -> float32 (3,) [2, 6] and 1 not finite",
        "Double backward <- float32 (3,) [1, 1]",
        "  Double forward <- float32 (3,) [1, 1]",
        "  Double forward -> float32 (3,) [2, 2]",
        "Double backward -> float32 (3,) [2, 2]",
        "View forward <- float32 (1,) 1 not finite",
        "View forward -> float32 (1,) 1 not finite",
        "View forward <- float32 (0, 4)",
        "View forward -> float32 (0, 4)",
    ]


def test_printing_without_values():
    file = io.StringIO()
    with PrintHook(file, values=False):
        run(View(), var(3))
    assert file.getvalue() == "View forward <- float32 (3,)\nView forward -> float32 (3,)\n"
