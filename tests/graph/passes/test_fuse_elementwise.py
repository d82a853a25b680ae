"""Chains of element-wise functions: the numbers stay within 1e-5, and what is read on the way stays."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.graph import passes


def array(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


X, Y = array(2, 16, 24, 24), array(2, 16, 24, 24, seed=1)
CHANNEL = array(1, 16, 1, 1, seed=2)
STATISTICS = [array(16, seed=k) for k in (3, 4, 5)] + [np.abs(array(16, seed=6)) + 0.5]


def norm(x):
    return F.fixed_batch_normalization(x, *STATISTICS)


def scaled(x):
    return F.multiply(x, 0.3)


def read_twice(x):
    h = F.tanh(scaled(x))
    return F.exp(h) * 2.0, h


CASES = [
    (lambda x: F.relu(norm(x)), 2, 1),
    (lambda x: norm(norm(x)), 2, 1),
    (norm, 0, 1),
    (F.relu, 0, 1),
    (scaled, 1, 1),  # NumPy's alone
    (lambda x: -F.tanh((2.0 - scaled(x)) / 3.0 - 1.0), 6, 1),
    (lambda x: F.sigmoid(x) * CHANNEL, 2, 1),
    (lambda x: F.sigmoid(x) * F.tanh(x), 2, 2),
    (lambda x: F.relu(F.add(x, Y)) + x, 3, 1),
    (lambda x: F.multiply(CHANNEL, x) - Y, 2, 1),
    (lambda x: F.relu(x) / (F.exp(Y) + 1.0), 4, 2),
    (lambda x: F.subtract(Y, F.relu(x)), 1, 2),  # what is subtracted is no start of a chain
    (read_twice, 4, 2),
    (lambda x: F.add(x, x) * 0.5, 1, 2),
    (lambda x: F.add(CHANNEL, array(3, 2, 16, 24, 24)) * F.max(x), 0, 3),
]


@pytest.mark.parametrize(("call", "changed", "left"), CASES)
def test_chains_become_one_pass(record, replay, call, changed, left):
    graph, _ = record(call, X)
    assert passes.fuse_elementwise(graph) == changed
    assert len(graph.records) == left
    other = array(*X.shape, seed=9)
    _, expected = record(call, other)
    got, program, _ = replay(graph, other)
    assert program.n_function == 0 or changed == 0
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(b).max())


def test_functions_of_few_numbers_become_kernels(record, replay):
    x = array(2, 30)
    graph, expected = record(lambda x: F.sigmoid(x), x)
    assert passes.fuse_elementwise(graph) == 1
    (got,), program, _ = replay(graph, x)
    assert program.n_function == 0
    np.testing.assert_allclose(got, expected[0], rtol=1e-5)


def test_statistics_that_are_computed_stay(record):
    graph, _ = record(lambda x: F.relu(F.fixed_batch_normalization(x, F.max(x, (0, 2, 3)), *STATISTICS[1:])), X)
    assert passes.fuse_elementwise(graph) == 0


def test_whole_numbers_stay(record):
    graph, _ = record(lambda x: F.multiply(x, 2) + np.int32(1), np.arange(600, dtype=np.int32))
    assert passes.fuse_elementwise(graph) == 0
