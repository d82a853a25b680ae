"""Cutting the graph: before, after and between backward passes."""

import gc

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.computational_graph import build_computational_graph
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import GraphError


def var(value, **settings):
    return Variable(np.asarray(value, "float32"), **settings)


class Both(FunctionNode):
    """2 x and 3 x."""

    def forward(self, inputs):
        return 2 * inputs[0], 3 * inputs[0]

    def backward(self, indexes, grad_outputs):
        return (sum(weight * gy for weight, gy in zip((2.0, 3.0), grad_outputs) if gy is not None),)


def n_function():
    return sum(isinstance(each, FunctionNode) for each in gc.get_objects())


def test_unchain_backward_after_backward_cuts_what_a_state_holds():
    w, state = var(2.0), var(1.0)
    state = state * w
    loss = state * 3.0
    loss.backward()
    loss.unchain_backward()
    assert state.creator is None
    w.cleargrad()
    (state * w).backward()
    assert w.grad == 2  # the state, and nothing of how it came


def test_without_it_the_state_still_knows():
    w = var(2.0)
    state = var(1.0) * w
    (state * 3.0).backward()
    w.cleargrad()
    (state * w).backward()
    assert w.grad == 4


def test_a_loss_that_was_cut_is_a_leaf_that_sums_go_on_from():
    x = var(2.0)
    loss = 0
    for n in range(1, 4):
        loss += x * x
        loss.backward()
        loss.unchain_backward()
        assert (loss.creator, loss.rank, loss.node.released) == (None, 0, False)
        assert loss.item() == 4 * n
        assert x.grad == 4 * n
        loss.backward()  # of a leaf: nothing to do
        assert x.grad == 4 * n


def test_what_one_backward_gave_up_is_cut_through_a_later_value():
    w = var(2.0)
    state = var(1.0) * w
    first = state * 3.0
    first.backward()
    total = first + 1.0
    total.unchain_backward()
    assert not first.node.released
    assert state.creator is None
    (first * 2.0).backward()
    assert first.grad == 3  # 1 from its own backward, 2 as a leaf


@pytest.mark.parametrize("held", ["near", "far", "both", "sibling"])
def test_whatever_part_is_held_is_cut(held):
    x = var(1.0)
    far = x * 2.0
    near, sibling = Both().apply((far * 2.0,))
    loss = near * near + far
    kept = {"near": [near], "far": [far], "both": [near, far], "sibling": [sibling]}[held]
    del far, near, sibling
    before = n_function()
    loss.backward()
    assert n_function() < before
    loss.unchain_backward()
    assert [each.creator for each in kept] == [None] * len(kept)
    for each in kept:
        x.cleargrad()
        each.backward()
        assert x.grad is None


def test_a_way_that_no_gradient_took_is_cut_as_well():
    x, frozen = var(1.0), var(1.0)
    state = frozen * 2.0
    state.requires_grad = False
    (x * state).backward()
    assert state.creator is not None
    loss = x * state
    loss.backward()
    loss.unchain_backward()
    assert state.creator is None


def test_a_loss_remembers_no_more_than_the_outermost_functions():
    x = var(1.0)
    h = x
    for _ in range(20):
        h = h * 2.0
    loss = F.sum(h) + 1.0
    loss.backward()
    assert [reference() for reference in loss.node.given_up] == [h.creator]
    del h
    assert loss.node.behind() == []


def test_unchain_of_one_value_makes_it_a_leaf_after_backward():
    x = var(2.0)
    y = x * x
    y.backward()
    with pytest.raises(GraphError, match="released by an earlier"):
        (y * 2.0).backward()
    y.unchain()
    x.cleargrad()
    (y * 2.0).backward()
    assert x.grad is None
    assert "graph released" not in build_computational_graph(y * 2.0).to_text()
