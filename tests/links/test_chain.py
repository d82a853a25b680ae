"""ChainList and Sequential."""

import numpy as np
import pytest

from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import DtypeError, GraphError
from cvzoo.links.chain import ChainList, Sequential
from cvzoo.links.link import Link


class Add(Link):
    def __init__(self, amount):
        with self.init_scope():
            self.b = Parameter(amount, (1,))

    def forward(self, x):
        return x + self.b.array


def test_a_chain_list_is_a_list_of_children_named_by_number():
    a, b, c = Add(1), Add(2), Add(3)
    links = ChainList(a, b)
    links.append(c)
    assert [path for path, _ in links.namedparams()] == ["/0/b", "/1/b", "/2/b"]
    assert list(links) == [a, b, c]
    assert links[1] is b
    assert links[1:] == [b, c]
    assert links.pop(0) is a
    links.insert(0, c)
    links[1] = a
    assert list(links) == [c, a, c]
    del links[0]
    assert len(links) == 2
    with pytest.raises(DtypeError, match="holds links"):
        links.append(np.tanh)


def test_a_sequential_calls_one_after_the_other_and_names_only_links():
    model = Sequential(Add(1), np.negative, Add(5))
    assert model(np.array([2.0])).tolist() == [2.0]
    assert [path for path, _ in model.namedparams()] == ["/0/b", "/2/b"]
    assert model.count_by_layer_type("Add") == 2
    with pytest.raises(DtypeError, match="callables"):
        model.append(3)
    with pytest.raises(GraphError, match="empty"):
        Sequential()(1)


def test_tuples_become_several_arguments():
    model = Sequential(lambda x: (x, x + 1), lambda a, b: a * b)
    assert model(3) == 12


def test_sequentials_flatten_repeat_and_lose_layers():
    inner = Sequential(Add(1), abs)
    model = Sequential(inner, Sequential(inner), Add(2))
    flat = model.flatten()
    assert len(flat) == 5
    flat.remove_by_layer_type("abs")
    assert len(flat) == 3
    repeated = inner.repeat(3)
    assert repeated(np.array([0.0])).tolist() == [3.0]
    assert len({id(p) for p in repeated.params()}) == 3


def test_share_copies_of_lists_can_grow_apart():
    links = ChainList(Add(1))
    twin = links.copy()
    twin.append(Add(2))
    assert (len(links), len(twin)) == (1, 2)
    assert twin[0].b.array is links[0].b.array
