import multiprocessing
import os

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.errors.exceptions import GraphError
from cvzoo.graph.steps import Call, Evaluate

needs_onednn = pytest.mark.skipif(why_no_onednn() is not None, reason="needs oneDNN")


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


X = array(2, 16, 40, 40)
W = array(16, 16, 3, 3, seed=1)
M = array(10, 16, seed=2)


def network(x):
    h = F.relu(F.convolution_2d(x, W, pad=1))
    side = F.max_pooling_2d(h, 2)
    h = F.concat((F.average_pooling_2d(h, 2), side), axis=1)[:, 8:24]
    h = F.transpose(h, (0, 2, 3, 1))
    return F.softmax(F.linear(F.average(h, axis=(1, 2)), M)), side


@needs_onednn
def test_kernels_are_found_and_the_bits_are_the_same(record, replay):
    graph, _ = record(network, X)
    for seed in (3, 4):
        x = array(*X.shape, seed=seed)
        _, expected = record(network, x)
        got, program, _ = replay(graph, x)
        assert program.n_call >= 5
        for a, b in zip(got, expected):
            np.testing.assert_array_equal(a, b)
            assert a.strides == b.strides


class HalfInNumpy(FunctionNode):
    """Kernels and NumPy on the same array: the kernels alone would give something else."""

    def forward(self, inputs):
        y = F.relu(inputs[0])._array
        y += 1
        return (y,)


class WithMemory(FunctionNode):
    """Gives another shape each time."""

    count = 0

    def forward(self, inputs):
        WithMemory.count += 1
        return (np.ones(WithMemory.count, np.float32),)


@needs_onednn
def test_a_function_that_also_computes_with_numpy_is_run_as_it_is(record, replay):
    graph, _ = record(lambda x: F.exp(HalfInNumpy().apply((x,))[0]), X)
    _, program, _ = replay(graph, X)
    steps = [step for step in program.lowered.steps if step.record.label == "HalfInNumpy"]
    assert [type(step) for step in steps] == [Evaluate]
    got = program([-X])
    np.testing.assert_allclose(got[0], np.exp(np.maximum(-X, 0) + 1), rtol=1e-5)


def test_another_shape_than_before_is_an_error(record, replay):
    graph, _ = record(lambda x: WithMemory().apply((x,))[0], X)
    with pytest.raises(GraphError, match="another shape"):
        replay(graph, X)


def test_a_constant_that_is_given_out_is_a_copy(record, replay):
    constant = np.ones(3, np.float32)
    graph, _ = record(lambda x: (F.relu(x), constant), X)
    got, _, _ = replay(graph, X)
    assert got[1] is not constant
    np.testing.assert_array_equal(got[1], constant)


@needs_onednn
def test_only_what_the_caller_gets_is_made_anew(record, replay):
    graph, _ = record(network, X)
    _, program, _ = replay(graph, X)
    given = [block for block in program.lowered.blocks.values() if block.kind == "result"]
    assert sorted(block.shape for block in given) == [(2, 16, 20, 20)]  # the scores are few: NumPy makes them
    assert program.plan.lower_bound <= program.plan.nbytes
    assert all(isinstance(step, Call | Evaluate) for step in program.lowered.steps)


def _child(program, queue):
    queue.put(program.belongs_to_this_thread())


@needs_onednn
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_makes_its_own(record, replay):
    graph, _ = record(network, X)
    _, program, _ = replay(graph, X)
    assert program.belongs_to_this_thread()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_child, args=(program, queue))
    child.start()
    assert queue.get() is False
    child.join()
