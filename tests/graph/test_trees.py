import collections

import numpy as np
import pytest

from cvzoo.autodiff.variable import Variable
from cvzoo.graph.trees import NotATreeError, flatten, unflatten

Pair = collections.namedtuple("Pair", "a b")
A, B = np.zeros(2), np.ones(3)


@pytest.mark.parametrize(
    "tree", [A, (A, [B, None]), {"x": (1, "two", 3.0), "y": A}, Pair(A, (B,)), (), [[], {}], (True, np.float32(2))]
)
def test_trees_come_back(tree):
    leaves = []
    structure = flatten(tree, leaves)
    hash(structure)
    again = unflatten(structure, iter(leaves), lambda array: array)
    assert type(again) is type(tree)
    assert repr(again) == repr(tree)


def test_variables_go_through_what_makes_them():
    leaves = []
    structure = flatten((Variable(B), B), leaves)
    got = unflatten(structure, iter([A, B]), lambda array: ("made", array))
    assert got[0][0] == "made"
    assert got[1] is B


def test_numbers_are_part_of_the_structure_by_kind_and_value():
    seen = {flatten(each, []) for each in (1, 1.0, True, 2, "1", None)}
    assert len(seen) == 6


@pytest.mark.parametrize("tree", [object(), {1, 2}, (A, iter([]))])
def test_anything_else_is_refused(tree):
    with pytest.raises(NotATreeError):
        flatten(tree, [])
