"""Hierarchical softmax."""

import collections
import heapq
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cvzoo.autodiff.on_device_of_arguments import on_device_of_arguments
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.arrays import range_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.backends.transfer import to_device_of
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.activation.sigmoid import softplus
from cvzoo.functions.array.axes import expand_dims
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.connection.embed_id import embed_id
from cvzoo.functions.loss.reduction import beside
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.math.sum import sum
from cvzoo.initializers.uniform import Uniform
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array

Tree = Any  # a class, or a pair (left, right) of trees


class BinaryHierarchicalSoftmax(Link):
    """Hierarchical softmax: the loss of a class is that of the decisions on its path in a binary tree.

    in_size: the length of an input row
    tree: nested pairs of classes, such as ((0, 1), 2); `create_huffman_tree` creates one from counts

    W (N, in_size) has a row for each of the N inner nodes, in preorder, and is initialized by Uniform(1).
    Raises ValueRangeError for an invalid tree, or a duplicate class.
    Source: Morin and Bengio, "Hierarchical probabilistic neural network language model", AISTATS 2005.
    """

    def __init__(self, in_size: int, tree: Tree):
        super().__init__()
        paths = dict(_paths(tree))
        n_node = max([node for path in paths.values() for node, _ in path], default=-1) + 1
        if not n_node:
            raise ValueRangeError("BinaryHierarchicalSoftmax: the tree has no inner node", got=repr(tree)[:80])
        longest = max([len(path) for path in paths.values()])
        # for each class the nodes on its path and the branches taken, 1 left and -1 right; padded with 0
        self.nodes = np.zeros((max(paths) + 1, longest), np.int32)
        self.turns = np.zeros(self.nodes.shape, np.float32)
        for each, path in paths.items():
            self.nodes[each, : len(path)] = [node for node, _ in path]
            self.turns[each, : len(path)] = [turn for _, turn in path]
        with self.init_scope():
            self.W = Parameter(Uniform(1.0), (n_node, in_size))

    @staticmethod
    def create_huffman_tree(word_counts: Mapping[int, int]) -> Tree:
        """The Huffman tree, whose average path is shortest: nested pairs of the classes in `word_counts`.

        Raises ValueRangeError if there is no class.
        """
        if not word_counts:
            raise ValueRangeError("create_huffman_tree: there is no class")
        numbers = itertools.count()
        heap: list[tuple[int, int, Any]] = [(count, next(numbers), each) for each, count in word_counts.items()]
        heapq.heapify(heap)
        while len(heap) > 1:
            (first, _, left), (second, _, right) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (first + second, next(numbers), (left, right)))
        return heap[0][2]

    def forward(self, x: Variable | Array, t: Variable | Array) -> Variable:
        """The sum of the losses of x (B, in_size) and classes t (B,), integers of the tree.

        Raises ShapeError or DtypeError for invalid arrays, ValueRangeError for a class that is not in the tree; classes
        on a GPU are not checked, which would synchronize.
        """
        return _loss(x, t, self.W, self.nodes, self.turns)


def _paths(tree: Tree) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each class with the (node, branch) pairs on its path."""
    n_node = 0
    leaves: collections.Counter[int] = collections.Counter()
    waiting: list[tuple[Tree, list[tuple[int, int]]]] = [(tree, [])]
    while waiting:  # without recursion, since a tree of many classes may be deep
        branch, path = waiting.pop()
        if isinstance(branch, tuple):
            if len(branch) != 2:
                raise ValueRangeError("BinaryHierarchicalSoftmax: a node has two branches", got=repr(branch)[:80])
            waiting += [(branch[1], [*path, (n_node, -1)]), (branch[0], [*path, (n_node, 1)])]
            n_node += 1
            continue
        if not isinstance(branch, int | np.integer) or branch < 0 or leaves[int(branch)]:
            raise ValueRangeError(
                "BinaryHierarchicalSoftmax: a leaf is a class, and each comes once", got=repr(branch)[:80]
            )
        leaves[int(branch)] += 1
        yield int(branch), path


@on_device_of_arguments
def _loss(x: Variable | Array, t: Variable | Array, W: Parameter, nodes: np.ndarray, turns: np.ndarray) -> Variable:
    x, t = widened(x), as_array(t)
    backend_of(t)
    assert W.shape is not None, "W is made with the tree"
    if x.ndim != 2 or t.shape != x.shape[:1] or x.shape[1] != W.shape[1]:
        raise ShapeError("BinaryHierarchicalSoftmax: x and t do not fit", got=f"x {x.shape}, t {t.shape}, W {W.shape}")
    if t.dtype.kind not in "iu":
        raise DtypeError("BinaryHierarchicalSoftmax: t must be of integers", got=t.dtype, hint="t.astype('int32')")
    limits = range_of(t)
    if limits is not None and not (limits[0] >= 0 and limits[1] < len(turns) and turns[t].any(axis=1).all()):
        raise ValueRangeError("BinaryHierarchicalSoftmax: the tree does not have a class of t")
    t = beside(t, x)
    path, turn = to_device_of(nodes, t)[t], to_device_of(turns, t)[t].astype(x.dtype)
    scores = sum(multiply(embed_id(path, widened(W)), expand_dims(x, 1)), axis=2)  # (B, the longest path)
    loss = multiply(softplus(multiply(scores, -turn)), abs(turn))
    return sum(loss)
