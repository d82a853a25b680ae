"""Chain, ChainList and Sequential."""

import numpy as np
import pytest

from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.links.chain import Chain, ChainList, Sequential
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


def test_a_chain_takes_its_children_by_name():
    """Chainer's documented constructor, also of a class of one's own."""

    class Model(Chain):
        def __init__(self):
            super().__init__(l1=Add(1), l2=Add(2))

        def forward(self, x):
            return self.l2(self.l1(x))

    for chain in (Chain(l1=Add(1), l2=Add(2)), Model()):
        assert [path for path, _ in chain.namedparams()] == ["/l1/b", "/l2/b"]
        assert chain.l1.name == "l1"
        assert chain["l2"] is chain.l2
    assert Model()(np.zeros(1)).tolist() == [3]


@pytest.mark.parametrize("link", [3, np.tanh, Parameter(0, (1,)), None])
def test_a_chains_child_that_is_no_link_is_refused(link):
    with pytest.raises(DtypeError, match="the child 'l1' must be a link"):
        Chain(l1=link)
    with pytest.raises(DtypeError, match="the child 'l1' must be a link"):
        Chain().add_link("l1", link)


@pytest.mark.parametrize("name", ["forward", "copy", "name", "l1"])
def test_a_child_does_not_hide_what_is_there(name):
    with pytest.raises(ValueRangeError, match="already has an attribute"):
        Chain(l1=Add(1)).add_link(name, Add(1))


def test_a_misspelt_keyword_of_a_layer_is_an_error():
    class Plain(Chain):
        pass

    with pytest.raises(TypeError):
        Plain(3)
    with pytest.raises(DtypeError, match="n_out"):
        Plain(n_out=3)
