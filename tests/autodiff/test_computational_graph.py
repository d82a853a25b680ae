"""Pictures and listings of graphs."""

import re

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.computational_graph import build_computational_graph
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import DtypeError, ValueRangeError


class Join(FunctionNode):
    def forward(self, inputs):
        return inputs[0] + inputs[1], inputs[0] - inputs[1]


class Odd(FunctionNode):
    label = 'a "quoted" \\ label'

    def forward(self, inputs):
        return (inputs[0],)


def var(name=None, **settings):
    return Variable(np.ones((2, 3), "float32"), name=name, **settings)


def test_a_listing_reads_from_inputs_to_outputs():
    x, w, c = var("x"), var("W"), var(requires_grad=False)
    a, b = Join().apply((x, w))
    (y,) = Join().apply((a, c))[:1]
    y.name = "y"
    text = build_computational_graph(y).to_text()
    assert text.splitlines() == [
        "%0                      float32 (2, 3)  x: leaf",
        "%1                      float32 (2, 3)  W: leaf",
        "%3                      float32 (2, 3)  constant",
        "  %2, _ = Join(%0, %1)  float32 (2, 3)",
        "  %4, _ = Join(%2, %3)  float32 (2, 3)  y: output",
    ]
    assert b.creator is a.creator


def test_a_picture_has_ovals_boxes_and_arrows():
    x, w = var("x"), var("W", requires_grad=False)
    a, b = Join().apply((x, w))
    del b
    dot = build_computational_graph([a]).to_dot()
    assert dot == (
        "digraph graphname {\n"
        "  rankdir=TB;\n"
        '  v0 [label="x: (2, 3), float32", shape=oval];\n'
        '  v1 [label="W: (2, 3), float32", shape=oval, style=dashed];\n'
        '  v2 [label="(2, 3), float32", shape=oval];\n'
        '  f0 [label="Join", shape=box];\n'
        "  v0 -> f0;\n"
        "  v1 -> f0;\n"
        "  f0 -> v2;\n"
        "}\n"
    )
    graph = build_computational_graph(a)
    assert graph.dump() == graph.dump(format="dot") == graph.to_dot()
    assert graph.dump(format="text") == graph.to_text()
    assert "rankdir=LR" in graph.to_dot(rankdir="LR")


def test_labels_are_escaped():
    (y,) = Odd().apply((var('say "x"\nand \\'),))
    dot = build_computational_graph(y).to_dot()
    assert '"say \\"x\\"\\nand \\\\: (2, 3), float32"' in dot
    assert '"a \\"quoted\\" \\\\ label"' in dot
    for label in re.findall(r'label=("(?:[^"\\]|\\.)*"),', dot):
        assert "\n" not in label
    assert "\\n" in build_computational_graph(y).to_text()


def test_the_order_depends_on_the_graph_only():
    def build():
        x, w = var("x"), var("w")
        y = x * w + w * x
        z = F.sum(y * y)
        return build_computational_graph([z, y]).to_dot()

    assert len({build() for _ in range(5)}) == 1


def test_shared_values_stand_once():
    x = var("x")
    y = x
    for _ in range(40):
        y = y + y
    graph = build_computational_graph(y)
    assert len(graph.values) == 41
    assert len(graph.functions) == 40


def test_a_deep_graph_is_listed():
    x = var()
    for _ in range(5000):
        (x,) = Odd().apply((x,))
    assert len(build_computational_graph(x).functions) == 5000


def test_a_graph_that_was_given_up_says_so():
    x = Variable(np.ones((), "float32"))
    y = x * x
    y.backward()
    graph = build_computational_graph(y)
    assert graph.functions == ()
    assert "graph released, output" in graph.to_text()


def test_leaves_alone_are_a_graph():
    text = build_computational_graph(var("x")).to_text()
    assert text == "%0  float32 (2, 3)  x: leaf, output\n"


def test_wrong_arguments_are_named():
    with pytest.raises(DtypeError, match="takes Variables"):
        build_computational_graph([np.zeros(3)])
    graph = build_computational_graph(var())
    with pytest.raises(ValueRangeError, match="format"):
        graph.dump(format="png")
    with pytest.raises(ValueRangeError, match="rankdir"):
        graph.to_dot(rankdir="up")
