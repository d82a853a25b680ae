"""Which functions become calls of primitives, and how often that is tried."""

import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.graph import lowering
from cvzoo.graph.program import Program


def photo(seed=0):
    return np.random.default_rng(seed).normal(size=(1, 16, 32, 32)).astype(np.float32)


@pytest.fixture
def tried(monkeypatch):
    """The functions' names that were tried, as it goes."""
    found = []
    plain = lowering._Lowering.reproduces

    def reproduces(self, steps, *rest):
        found.append(steps[0].record.label)
        return plain(self, steps, *rest)

    monkeypatch.setattr(lowering._Lowering, "reproduces", reproduces)
    return found


class ReluPlus(FunctionNode):
    """relu(x) by a primitive, and `more` by NumPy."""

    def __init__(self, more):
        self.more = more

    def forward(self, inputs):
        y = F.relu(inputs[0]).array
        if self.more:
            y = np.add(y, np.float32(self.more), out=y)
        return (y,)


def test_functions_of_one_kind_are_tried_once(record, replay, tried):
    def call(x):
        for _ in range(4):
            x = F.sigmoid(x)
        return x

    graph, wanted = record(call, photo())
    (y,), program, _ = replay(graph, photo())
    np.testing.assert_array_equal(y, wanted[0])
    assert program.n_call >= 4
    assert tried == [graph.records[0].label]


def test_another_shape_is_another_kind(record, replay, tried):
    a, b = L.Convolution2D(16, 16, 3, pad=1), L.Convolution2D(16, 16, 3)
    graph, _ = record(lambda x: b(b(a(x))), photo())
    replay(graph, photo())
    assert len(tried) == 3


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0, 2)])
def test_other_settings_are_another_kind(record, replay, order):
    def call(x):
        for more in order:
            (x,) = ReluPlus(more).apply((x,))
        return x

    graph, _ = record(call, photo())
    (y,), _, _ = replay(graph, photo(1))
    expected = photo(1)
    for more in order:
        expected = np.maximum(expected, 0) + np.float32(more)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_what_the_graph_gives_need_not_be_kept_to_the_end(record):
    graph, wanted = record(lambda x: (F.relu(x), F.sigmoid(x)), photo())
    results = Program(lowering.lower(graph, [photo()]))([photo()])
    for y, expected in zip(results, wanted):
        np.testing.assert_allclose(y, expected, rtol=1e-6)
