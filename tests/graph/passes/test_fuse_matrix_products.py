"""Attention's products: the numbers stay within 1e-5, and what cannot be fused is left."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.graph import passes


def array(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


X = array(2, 4, 40, 32)
KEYS, BIAS, ROW = array(2, 4, 50, 32, seed=1), array(2, 4, 40, 50, seed=2), array(1, 4, 1, 50, seed=3)


def scaled(x, by):
    return F.multiply(x, by)


def product(x):
    return F.matmul(x, KEYS, transb=True)


def twice_read(x):
    h = product(x)
    return h * 2.0 + F.exp(h)


def own_square(x):
    h = product(x)
    return h + h


CASES = [
    (lambda x: product(scaled(x, 0.3)), 1, 1),
    (lambda x: product(x) * 0.3, 1, 1),
    (lambda x: product(scaled(x, 0.5)) * 0.3 + BIAS, 3, 1),
    (lambda x: F.add(BIAS, product(x)), 1, 1),
    (lambda x: product(x) + ROW, 1, 1),  # a constant is repeated
    (lambda x: product(x) + product(scaled(x, 0.5)), 2, 2),
    (lambda x: F.softmax(product(scaled(x, 0.2)) + BIAS, axis=3), 2, 2),
    (lambda x: (lambda h: (product(h), h))(scaled(x, 0.3)), 0, 2),  # the user gets it
    (lambda x: (lambda h: (h * 0.3, h))(product(x)), 0, 2),
    (twice_read, 0, 4),
    (own_square, 0, 2),
    (lambda x: F.add(product(x), array(3, 2, 4, 40, 50)), 0, 2),  # a larger sum
    (lambda x: product(x) - BIAS, 0, 2),
    (lambda x: F.matmul(x, KEYS[0, 0, 0]) * 0.5, 0, 4),  # a vector, which is reshaped
]


@pytest.mark.parametrize(("call", "saved", "left"), CASES)
def test_factors_and_sums_go_into_products(record, replay, call, saved, left):
    graph, _ = record(call, X)
    before = len(graph.records)
    assert passes.fuse_matrix_products(graph) == saved
    assert len(graph.records) == before - saved
    assert len(graph.records) == left
    other = array(*X.shape, seed=9)
    _, expected = record(call, other)
    got, _, _ = replay(graph, other)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(b).max())


def test_a_large_constant_is_not_repeated(record):
    row = array(1, 1, 1, 300)
    graph, _ = record(lambda x: F.matmul(x, array(8, 4, 300, 32, seed=4), transb=True) + row, array(8, 4, 300, 32))
    assert passes.fuse_matrix_products(graph) == 0


def test_attention_is_kernels_alone(record, replay):
    def call(x):
        return F.scaled_dot_product_attention(x, KEYS, array(2, 4, 50, 16, seed=5), bias=ROW)

    graph, expected = record(call, X)
    passes.fuse_matrix_products(graph)
    (got,), program, _ = replay(graph, X)
    assert program.n_function == 0
    np.testing.assert_allclose(got, expected[0], rtol=1e-5, atol=1e-5 * np.abs(expected[0]).max())
