"""Each pass: the numbers stay within 1e-5, what it should find it finds, and what it must leave it leaves."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d
from cvzoo.graph import passes


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


X = array(2, 16, 24, 24)
Y = array(2, 16, 24, 24, seed=8)
W, B = array(8, 16, 3, 3, seed=1), array(8, seed=2)
V = array(8, 8, 3, 3, seed=3)
STATISTICS = [array(8, seed=k) for k in (4, 5, 6)] + [np.abs(array(8, seed=7)) + 0.5]


def conv(x, w=W, b=None):
    return F.convolution_2d(x, w, b, pad=1)


def norm(x):
    return F.fixed_batch_normalization(x, *STATISTICS)


def both(x):
    h = conv(x)
    return norm(h), h


def two_norms(x):
    return norm(norm(conv(x)))


def shortcut(x):
    h = conv(x, b=B)
    return F.relu(conv(h, V) + h)


def down_shortcut(x):
    side = conv(x)
    return F.relu(conv(conv(x, b=B), V) + side)


RECORD_CASES = [
    (passes.dead_records, lambda x: [F.exp(x), F.relu(x)][1], 1, 1),
    (passes.dead_records, lambda x: [F.exp(F.exp(x)), F.relu(x)][1], 2, 1),
    (passes.dead_records, lambda x: (F.exp(x), F.relu(x)), 0, 2),
    (passes.constant_folding, lambda x: x + F.exp(F.relu(Y)), 2, 1),
    (passes.constant_folding, lambda x: (F.relu(x), F.exp(Y)), 1, 1),
    (passes.constant_folding, lambda x: F.exp(x), 0, 1),
    (passes.common_subexpressions, lambda x: F.exp(x) + F.exp(x), 1, 2),
    (passes.common_subexpressions, lambda x: F.relu(F.exp(x)) + F.relu(F.exp(x)), 2, 3),
    (passes.common_subexpressions, lambda x: F.leaky_relu(x, 0.1) + F.leaky_relu(x, 0.2), 0, 3),
    (passes.common_subexpressions, lambda x: (F.exp(x), F.exp(x)), 0, 2),
    (passes.common_subexpressions, lambda x: conv(x) + conv(x), 1, 2),
    (passes.fold_batch_normalization, lambda x: norm(conv(x)), 1, 1),
    (passes.fold_batch_normalization, lambda x: norm(conv(x, b=B)), 1, 1),
    (passes.fold_batch_normalization, two_norms, 2, 1),
    (passes.fold_batch_normalization, both, 0, 2),
    (passes.fold_batch_normalization, lambda x: norm(F.relu(conv(x))), 0, 3),
    (passes.fold_batch_normalization, lambda x: norm(x[:, :8]), 0, 2),
    (passes.fold_batch_normalization, lambda x: norm(fused_convolution_2d(x, W, pad=1, activation="relu")), 0, 2),
    (passes.fuse_convolutions, lambda x: F.relu(conv(x)), 1, 1),
    (passes.fuse_convolutions, lambda x: F.leaky_relu(conv(x, b=B), 0.1), 1, 1),
    (passes.fuse_convolutions, lambda x: F.relu6(conv(x)), 1, 1),
    (passes.fuse_convolutions, lambda x: F.hard_swish(conv(x)), 1, 1),
    (passes.fuse_convolutions, lambda x: F.sigmoid(conv(x)), 1, 1),
    (passes.fuse_convolutions, lambda x: F.swish(conv(x)), 1, 1),
    (passes.fuse_convolutions, shortcut, 2, 2),
    (passes.fuse_convolutions, down_shortcut, 2, 3),
    (passes.fuse_convolutions, lambda x: (lambda h: F.leaky_relu(conv(h, V), 0.1) + h)(conv(x)), 2, 2),
    (passes.fuse_convolutions, lambda x: (lambda h: h + F.tanh(conv(h, V)))(conv(x)), 1, 3),
    (passes.fuse_convolutions, lambda x: conv(x) + conv(x, b=B), 1, 2),
    (passes.fuse_convolutions, lambda x: (lambda h: (F.relu(h), h))(conv(x)), 0, 2),
    (passes.fuse_convolutions, lambda x: (lambda h: h + h)(conv(x)), 0, 2),
    (passes.fuse_convolutions, lambda x: conv(x) + B[:, None, None], 0, 2),
    (passes.fuse_convolutions, lambda x: F.relu(F.relu(conv(x))), 1, 2),
]


@pytest.mark.parametrize(("change", "call", "count", "left"), RECORD_CASES)
def test_records_change_and_numbers_do_not(record, replay, change, call, count, left):
    graph, _ = record(call, X)
    assert change(graph) == count
    assert len(graph.records) == left
    other = array(*X.shape, seed=9)
    _, expected = record(call, other)
    got, _, _ = replay(graph, other)
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(b).max())


def test_all_passes_together_leave_the_numbers(record, replay):
    def call(x):
        h = F.relu(norm(conv(x, b=B)))
        side = F.leaky_relu(norm(conv(h, V)), 0.1)
        return F.softmax(F.average(F.relu(norm(conv(side, V)) + h), axis=(2, 3)))

    graph, _ = record(call, X)
    for change in (
        passes.dead_records,
        passes.constant_folding,
        passes.common_subexpressions,
        passes.fold_batch_normalization,
        passes.fuse_convolutions,
    ):
        change(graph)
    assert [each.label for each in graph.records].count("FusedConvolution2D") == 3
    assert not {"ReLU", "Add", "FixedBatchNormalization"} & {each.label for each in graph.records}
    got, _, _ = replay(graph, X, changes=(passes.weights_ahead, passes.merge_reorders, passes.in_place))
    _, expected = record(call, X)
    np.testing.assert_allclose(got[0], expected[0], rtol=1e-5, atol=1e-6)


def test_weights_are_reordered_ahead_where_nobody_keeps_them(record, replay):
    graph, expected = record(lambda x: conv(x), X)
    (got,), program, (ahead,) = replay(graph, X, changes=(passes.weights_ahead,))
    assert ahead == 1
    assert [step.operation for step in program.lowered.steps].count("convolution") == 1
    np.testing.assert_array_equal(got, expected[0])


def test_weights_of_parameters_are_reordered_already(record, replay):
    parameter = Parameter(W)
    graph, expected = record(lambda x: conv(x, parameter), X)
    (got,), _program, (ahead,) = replay(graph, X, changes=(passes.weights_ahead,))
    assert ahead == 0
    np.testing.assert_array_equal(got, expected[0])


def test_one_reorder_of_an_array_is_enough(record, replay):
    x = array(2, 16, 48, 48)
    graph, expected = record(lambda x: (conv(x), conv(x, b=B)), x)
    got, _program, (_, merged) = replay(graph, x, changes=(passes.weights_ahead, passes.merge_reorders))
    assert merged == 1
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(a, b)


IN_PLACE_CASES = [
    (lambda x: more(F.exp(F.relu(conv(x)))), 2),
    (lambda x: (lambda h: more(F.relu(h) + h))(conv(x)), 1),
    (lambda x: (lambda h: (more(F.relu(h)), more(h)))(conv(x)), 0),
    (lambda x: F.relu(conv(x)), 0),  # the user's: it could not be taken back
    (lambda x: conv(F.relu(x)), 0),  # the caller's
    (lambda x: more(F.relu(conv(x)[:, :, 1:])), 0),
]


def more(x):
    return conv(x, V)


@pytest.mark.parametrize(("call", "count"), IN_PLACE_CASES)
def test_elementwise_calls_write_where_they_read(record, replay, call, count):
    x = array(2, 16, 64, 64)
    graph, expected = record(call, x)
    got, _, (changed,) = replay(graph, x, changes=(passes.in_place,))
    assert changed == count
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(a, b)
