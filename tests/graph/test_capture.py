import gc
import itertools
import sys
import weakref

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.function_hook import this_thread
from cvzoo.autodiff.variable import Variable
from cvzoo.graph.capture import Capture
from cvzoo.graph.readers import recording
from cvzoo.graph.repeats import difference
from cvzoo.graph.trees import NotATreeError

X = np.arange(24, dtype=np.float32).reshape(2, 12) - 5


def test_records_stand_in_order_with_what_they_read_and_made(record):
    graph, _ = record(lambda x: F.exp(F.relu(x)) + x, X)
    assert [each.label for each in graph] == ["ReLU", "Exp", "Add"]
    relu, exp, add = graph.records
    assert relu.reads == graph.inputs
    assert exp.reads == relu.writes
    assert add.reads == (*exp.writes, *graph.inputs)
    assert graph.outputs == add.writes
    assert graph.values[exp.writes[0]].shape == (2, 12)
    assert not graph.constants


def test_an_array_that_nobody_made_is_a_constant(record):
    bias = np.ones(12, np.float32)
    graph, _ = record(lambda x: F.add(x, bias), X)
    (constant,) = graph.constants.values()
    assert constant is bias


def test_a_view_made_outside_of_functions_is_a_record(record, replay):
    graph, _expected = record(lambda x: F.exp(x[:, ::-2]), X)
    assert [each.label for each in graph] == ["SharedView", "Exp"]
    np.testing.assert_array_equal(replay(graph, X + 1)[0][0], np.exp((X + 1)[:, ::-2]))


def test_recycled_memory_is_another_array(record, replay):
    def call(x):
        for _ in range(20):  # each result dies at once, and its memory is used again
            x = F.relu(x) * 1.01
        return x

    big = np.random.default_rng(0).normal(size=(4, 50000)).astype(np.float32)
    graph, expected = record(call, big)
    assert len(graph.records) == 40
    np.testing.assert_array_equal(replay(graph, big)[0][0], expected[0])


def test_nothing_in_between_is_kept_alive(inference):
    gone = []

    def call(x):
        y = F.relu(x)
        gone.append(weakref.ref(y._array))
        z = F.exp(y)
        del y
        gc.collect()
        assert gone[0]() is None
        return z

    capture = Capture()
    capture.follow(call, (X.copy(),), {})
    assert capture.peak == 3 * X.nbytes


def test_who_reads_values_is_told_and_variables_are_themselves_afterwards(inference):
    seen = []

    def call(x):
        y = F.relu(x)
        y.array.sum()
        seen.append(y)
        return F.exp(y)

    capture = Capture()
    capture.follow(call, (X.copy(),), {})
    assert len(capture.reasons) == 1
    assert capture.reasons[0].startswith("call, line ")
    assert type(seen[0]) is Variable


@pytest.mark.parametrize("read", [lambda y: y.data, lambda y: F.sum(y).item()])
def test_every_way_of_reading_is_noticed(inference, read):
    def call(x):
        y = F.relu(x)
        read(y)
        return y

    capture = Capture()
    capture.follow(call, (X.copy(),), {})
    assert capture.reasons


def test_an_error_in_the_call_leaves_variables_themselves(inference):
    made = []

    def call(x):
        made.append(F.relu(x))
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        Capture().follow(call, (X,), {})
    assert type(made[0]) is Variable


def test_an_interrupt_at_any_call_leaves_no_hook_active():
    layer = L.Linear(3, 2)
    calls = 0

    def interrupt(frame, event, argument):
        nonlocal calls
        calls -= "cvzoo/graph" in frame.f_code.co_filename or "function_hook" in frame.f_code.co_filename
        if calls == 0:
            sys.settrace(None)
            raise KeyboardInterrupt

    for k in itertools.count(1):
        calls = k
        sys.settrace(interrupt)
        try:
            Capture().capture_training(layer, (np.ones((2, 3), np.float32),), {})
        except KeyboardInterrupt:
            assert this_thread.hooks == (), k
            assert recording.capture is None, k
        else:
            break
        finally:
            sys.settrace(None)
    assert k > 50


def test_a_result_that_is_no_array_is_refused(inference):
    with pytest.raises(NotATreeError, match="generator"):
        Capture().follow(lambda x: (x for _ in range(3)), (X,), {})


def scaled_by_its_maximum(x):
    return F.relu(x) * float(x.max())


DEPENDS = [
    (lambda x: F.relu(x), None),
    (lambda x: F.leaky_relu(x, 0.25) + np.ones(12, np.float32), None),
    (scaled_by_its_maximum, "settings of MultiplyConstant"),
    (lambda x: F.add(x, np.full(12, x.max())), "an array that Add"),
    (lambda x: F.relu(x) if x.max() > 15 else F.exp(x), "another function"),
    (lambda x: F.relu(F.relu(x) if x.max() > 15 else x), "number of functions"),
    (lambda x: F.get_item(x, (slice(None), x[0] > 2)), "settings of GetItem"),
    (lambda x: (F.relu(x), x.max(keepdims=True)), "a returned value"),
]


@pytest.mark.parametrize(("call", "says"), DEPENDS)
def test_what_depends_on_numbers_is_found_by_doing_it_twice(inference, call, says):
    one, other = Capture(), Capture()
    one.follow(call, (X.copy(),), {})
    other.follow(call, (X * np.float32(0.5),), {})
    found = difference(one.graph, other.graph)
    assert found is None if says is None else says in found
