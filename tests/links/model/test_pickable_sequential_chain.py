import numpy as np
import pytest

import cvzoo.functions as F
import cvzoo.links as L
from cvzoo.errors.exceptions import GraphError, ValueRangeError


def chain():
    link = L.PickableSequentialChain()
    with link.init_scope():
        link.first = L.Linear(4, 3)
        link.relu = F.relu
        link.last = L.Linear(3, 2)
    return link


X = np.ones((1, 4), np.float32)


def test_layers_are_called_in_the_order_in_which_they_were_assigned():
    link = chain()
    assert link.layer_names == ["first", "relu", "last"]
    assert link.pick is None
    assert np.array_equal(link(X).array, link.last(F.relu(link.first(X))).array)


def test_what_is_picked_comes_and_what_follows_is_not_called():
    link = chain()
    link.pick = ("relu", "first")
    relu, first = link(X)
    assert np.array_equal(relu.array, F.relu(first).array)
    link.pick = "relu"
    link.last = None  # what would raise if it were called
    assert np.array_equal(link(X).array, relu.array)


def test_layers_behind_the_last_picked_one_are_removed():
    link = chain()
    link.pick = ["relu"]
    link.remove_unused()
    assert link.layer_names == ["first", "relu"]
    assert [name for name, _ in link.named_children()] == ["first"]


def test_an_unknown_layer_is_not_picked_and_a_picked_one_is_not_deleted():
    link = chain()
    with pytest.raises(ValueRangeError, match=r"Invalid layer name \(second\)"):
        link.pick = "second"
    link.pick = "relu"
    with pytest.raises(AttributeError, match="'relu' is picked"):
        del link.relu
    with pytest.raises(GraphError, match="has no layers"):
        L.PickableSequentialChain()(X)


@pytest.mark.parametrize("mode", ["share", "copy", "init"])
def test_a_copy_picks_and_gains_layers_by_itself(mode):
    link = chain()
    twin = link.copy(mode)
    twin.pick = "first"
    with twin.init_scope():
        twin.more = F.relu
    assert link.pick is None
    assert link.layer_names == ["first", "relu", "last"]
    assert twin(X).shape == (1, 3)
