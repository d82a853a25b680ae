"""Who makes and reads a value is looked up once, and stays right while records are swapped."""

import numpy as np
import pytest

from cvzoo.functions.math.arithmetic import Add
from cvzoo.graph.def_use_chains import DefUseChains
from cvzoo.graph.records import Graph, Record


@pytest.fixture
def chain():
    """x + x -> a; a + a -> b; b + a -> c, which is given out."""
    graph = Graph()
    x, a, b, c = (graph.add_value(np.zeros(2, "f")) for _ in range(4))
    graph.inputs, graph.outputs = (x,), (c,)
    graph.records = [Record(Add(), reads, (y,)) for reads, y in (((x, x), a), ((a, a), b), ((b, a), c))]
    return graph, (x, a, b, c)


def test_a_value_with_one_reader_is_found_and_an_output_has_none(chain):
    graph, (_, a, b, c) = chain
    uses = DefUseChains(graph)
    assert uses.only_reader(b) is graph.records[2]
    assert uses.only_reader(a) is None  # read three times
    assert uses.only_reader(c) is None


def test_after_a_swap_makers_and_readers_are_those_of_the_graph(chain):
    graph, (_, a, b, c) = chain
    uses = DefUseChains(graph)
    new = Record(Add(), (a, a), (c,))
    uses.put(new, graph.records[2], (graph.records[1],))
    assert graph.records == [graph.records[0], new]
    assert uses.writers == graph.writers()
    assert uses.readers == graph.readers()
    assert uses.readers[b] == []
