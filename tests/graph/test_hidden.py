import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.graph.hidden import arrays_in, put_array, state_of, take_array


class Note:
    __slots__ = ("places", "size")

    def __init__(self, places, size):
        self.places, self.size = places, size


class Keeping(FunctionNode):
    def __init__(self):
        self.mean = np.zeros(3)
        self.pairs = [(np.ones(2), 5), (np.ones(4), "text")]
        self.kept = Note(np.arange(6), 6)
        self.size = (3, 4)


PATHS = {"mean", "pairs.0.0", "pairs.1.0", "kept.places"}


def test_arrays_are_found_wherever_a_function_keeps_them():
    found = arrays_in(state_of(Keeping()))
    assert found.keys() == PATHS
    assert found["pairs.1.0"].shape == (4,)


@pytest.mark.parametrize("path", sorted(PATHS))
def test_an_array_is_put_where_it_was_found(path):
    function, array = Keeping(), np.full(7, 7.0)
    others = {k: v for k, v in arrays_in(state_of(function)).items() if k != path}
    put_array(function, path, array)
    assert take_array(function, path) is array
    after = arrays_in(state_of(function))
    assert all(after[k] is v for k, v in others.items())
    put_array(function, path, None)
    assert take_array(function, path) is None
    assert arrays_in(state_of(function)).keys() == PATHS - {path}


def test_the_place_in_the_graph_is_no_state():
    x = Variable(np.ones((2, 3), np.float32))
    y = F.exp(x)
    assert y.creator.inputs is not None
    assert not arrays_in(state_of(y.creator))
