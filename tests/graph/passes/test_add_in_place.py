"""Convolutions that add an array and leave the sum in its place, where nobody sees a difference."""

import importlib

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.functions.connection.convolution_2d import fused_convolution_2d
from cvzoo.graph import passes


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


W, V, POINT = array(8, 16, 3, 3, seed=1), array(8, 8, 3, 3, seed=2), array(8, 8, 1, 1, seed=3)
B = array(8, seed=4)


def conv(x, w=W, b=None):
    return F.convolution_2d(x, w, b, pad=1)


def plus(x, add, w=V):
    return fused_convolution_2d(x, w, None, 1, w.shape[2] // 2, add=add, activation="relu")


CASES = {
    "a sum": (lambda x: conv(plus(conv(x), conv(x, b=B)), V), 1),
    "pixel by pixel": (lambda x: conv(plus(conv(x), conv(x, b=B), POINT), V), 1),
    "a chain of sums": (lambda x: conv(plus(conv(x), plus(conv(x), conv(x, b=B)), POINT), V), 2),
    "what is read is added": (lambda x: (lambda h: conv(plus(h, h), V))(conv(x)), 0),
    "what is added is read again": (lambda x: (lambda h: (conv(plus(conv(x), h), V), conv(h, V)))(conv(x, b=B)), 0),
    "the user gets the sum": (lambda x: plus(conv(x), conv(x, b=B)), 0),
    "the user gets what is added": (lambda x: (lambda h: (conv(plus(conv(x), h), V), h))(conv(x, b=B)), 0),
    "a copy of a part is added": (lambda x: conv(plus(conv(x)[:, :, :12], conv(x, b=B)[:, :, 12:]), V), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_sum_lies_where_its_part_lay(record, replay, name):
    call, count = CASES[name]
    x = array(2, 16, 24, 24)
    graph, expected = record(call, x)
    got, _, (changed,) = replay(graph, x, changes=(passes.add_in_place,))
    assert changed == count
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(a, b)


def test_a_kernel_that_gives_other_numbers_is_left_alone(record, replay, monkeypatch):
    module = importlib.import_module("cvzoo.graph.passes.add_in_place")
    monkeypatch.setattr(module, "_is_bitwise_equal", lambda step: False)
    x = array(2, 16, 24, 24)
    graph, _ = record(CASES["a sum"][0], x)
    _, _, (changed,) = replay(graph, x, changes=(passes.add_in_place,))
    assert changed == 0


@pytest.mark.parametrize(("n_in", "n_out", "ksize"), [(2048, 64, 3), (1024, 512, 1), (64, 256, 1), (3, 16, 3)])
def test_kernels_are_tried_whether_sums_fit_in_a_register_or_not(record, replay, n_in, n_out, ksize):
    w, u = array(n_out, n_in, ksize, ksize, seed=5), array(n_out, n_out, 1, 1, seed=6)

    def call(x, y):
        h = fused_convolution_2d(F.exp(x), w, None, 1, ksize // 2, add=F.exp(y), activation="relu")
        return fused_convolution_2d(h, u, None)

    x, y = array(1, n_in, 20, 20), array(1, n_out, 20, 20)
    graph, (expected,) = record(call, x, y)
    (got,), _, _ = replay(graph, x, y, changes=(passes.add_in_place,))
    np.testing.assert_array_equal(got, expected)
