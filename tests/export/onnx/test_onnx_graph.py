"""A graph that grows operator by operator."""

import io

import numpy as np
import pytest

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.export.onnx.model_proto import Node, Port, model_message
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.sizes import SizeDependenceError


@pytest.fixture
def g():
    g = OnnxGraph()
    g.record_shape("x", ((2, 3), (4, 4), (10, 26)))
    return g


def test_small_constants_are_kept_once(g):
    assert g.constant(np.zeros(3)) == g.constant(np.zeros(3))
    assert g.constant(np.zeros(3)) != g.constant(np.zeros(3, np.float32))
    assert g.constant(np.zeros(100)) != g.constant(np.zeros(100))


def test_a_size_that_nothing_tells_is_an_error(g):
    with pytest.raises(SizeDependenceError, match="77 and 5"):
        g.size((77, 5))
    with pytest.raises(UnsupportedError, match="nobody"):
        g.shape_of("nobody")


def test_sizes_of_another_network_are_forgotten(g):
    assert g.size((4, 6)) == g.size((4, 6))  # twice the first axis
    g.forget_shapes()
    with pytest.raises(SizeDependenceError):
        g.size((4, 6))


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_loop_keeps_and_makes(n, g, open_session):
    """Of rounds 0 .. n - 1 their sum, and each beside its square."""

    def body(k, total):
        square = g.add("Mul", [k, k])
        pair = g.add("Concat", [g.add("Unsqueeze", [each, g.integers(0)]) for each in (k, square)], {"axis": 0})
        return (g.add("Add", [total, k]),), (pair,)

    start = g.constant(np.array(0, np.int64))
    total, pairs = g.loop("n", body, carried=[(start, "int64")], scan_outputs=[("int64", (2,))])
    g.nodes += [Node("Identity", (value,), (name,), {}) for value, name in ((total, "total"), (pairs, "pairs"))]
    ports = [Port("n", "int64", ())], [Port("total", "int64", ()), Port("pairs", "int64", ("k", 2))]
    message = model_message("loop", g.nodes, *ports, g.constants, producer_version="", metadata={})
    file = io.BytesIO()
    message.write_to(file)
    total, pairs = open_session(file.getvalue()).run(None, {"n": np.array(n, np.int64)})
    assert total == sum(range(n))
    np.testing.assert_array_equal(pairs, np.array([(k, k * k) for k in range(n)], int).reshape(-1, 2))
