"""Networks whose parts are on several ranks learn what one process would."""

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.distributed.functions as D
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.distributed import MultiNodeChainList
from cvzoo.distributed.null_communicator import NullCommunicator
from cvzoo.errors import GraphError

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
T = np.arange(6, dtype=np.int32) % 3


def layers():
    """Three layers with the same weights on all ranks."""
    cvzoo.set_seed(5)
    return [L.Linear(4, 8), L.Linear(8, 8), L.Linear(8, 3)]


def alone(n_step):
    model = cvzoo.Sequential(*[part for layer in layers() for part in (layer, F.tanh)])
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    for _ in range(n_step):
        optimizer.update(lambda: F.softmax_cross_entropy(model(X), T))
    return [param.array for param in model.params()]


class Part(MultiNodeChainList):
    """The first and the last layer on rank 0, that between on rank 1."""

    def __init__(self, comm):
        super().__init__(comm)
        first, between, last = [cvzoo.Sequential(layer, F.tanh) for layer in layers()]
        if comm.rank == 0:
            self.add_link(first, rank_in=None, rank_out=1)
            self.add_link(last, rank_in=1, rank_out=None)
        else:
            self.add_link(between, rank_in=0, rank_out=0)


@on_ranks(2)
def test_a_network_over_two_ranks_has_the_weights_of_one_process(comm):
    model = Part(comm)
    optimizer = optimizers.MomentumSGD(lr=0.1).setup(model)
    for _ in range(4):
        if comm.rank == 0:
            optimizer.update(lambda: F.softmax_cross_entropy(model(X), T))
        else:
            optimizer.update(model)  # its delegate variable is the loss
    W1, b1, W2, b2, W3, b3 = alone(4)
    expected = (W1, b1, W3, b3) if comm.rank == 0 else (W2, b2)
    for param, array in zip(model.params(), expected, strict=True):
        np.testing.assert_allclose(param.array, array, rtol=1e-5, atol=1e-6)


@on_ranks(2, 3)
def test_values_sent_around_a_ring_bring_their_gradients_back(comm):
    x = cvzoo.Variable(np.full(3, comm.rank + 1, np.float32))
    if comm.rank == 0:
        delegate = D.send([x * 2, x * 3], comm, 1, tag=4)
        D.pseudo_connect(delegate, F.sum(x * 5)).backward()
        np.testing.assert_array_equal(x.grad, 2 * 7 + 3 * 11 + 5)
    elif comm.rank == 1:
        a, b = D.recv(comm, 0, tag=4)
        np.testing.assert_array_equal(b.array, [3, 3, 3])
        F.sum(a * 7 + b * 11).backward()
    with pytest.raises(GraphError, match="a rank cannot send to itself"):
        D.send(x, comm, comm.rank)
    with pytest.raises(GraphError, match="a rank cannot receive from itself"):
        D.recv(comm, comm.rank)


@on_ranks(1, 2, 3)
def test_collectives_have_the_gradients_of_their_sums(comm):
    n, rank, root = comm.size, comm.rank, comm.size - 1
    x = cvzoo.Variable(np.full(2, rank + 1.0))
    F.sum(D.bcast(comm, x if rank == root else None, root) * (rank + 1)).backward()
    if rank == root:
        np.testing.assert_allclose(x.grad, n * (n + 1) / 2)

    x = cvzoo.Variable(np.full(2, rank + 1.0))
    ys = D.allgather(comm, x)
    np.testing.assert_allclose([y.array[0] for y in ys], np.arange(n) + 1)
    sum(F.sum(y * (k + 1) * (rank + 1)) for k, y in enumerate(ys)).backward()
    np.testing.assert_allclose(x.grad, (rank + 1) * n * (n + 1) / 2)

    xs = [cvzoo.Variable(np.full(2, 10.0 * rank + k)) for k in range(n)]
    ys = D.alltoall(comm, xs)
    np.testing.assert_allclose([y.array[0] for y in ys], 10.0 * np.arange(n) + rank)
    sum(F.sum(y * (rank + 1)) for y in ys).backward()
    np.testing.assert_allclose([x.grad[0] for x in xs], np.arange(n) + 1)

    xs = [cvzoo.Variable(np.full(k + 1, k + 2.0)) for k in range(n)] if rank == root else None
    y = D.scatter(comm, xs, root)
    np.testing.assert_allclose(y.array, np.full(rank + 1, rank + 2.0))
    F.sum(y * (rank + 3)).backward()
    if rank == root:
        np.testing.assert_allclose([x.grad[0] for x in xs], np.arange(n) + 3.0)

    x = cvzoo.Variable(np.full(rank + 1, rank + 1.0))
    ys = D.gather(comm, x, root)
    (sum(F.sum(y * (k + 4)) for k, y in enumerate(ys)) if rank == root else ys[0]).backward()
    np.testing.assert_allclose(x.grad, np.full(rank + 1, rank + 4.0))


class Sending(NullCommunicator):
    """Rank 0 of three, which notes what it sends."""

    size = 3

    def __init__(self):
        self.sent = []

    def send(self, x, dest, tag=0):
        self.sent.append((dest, [array.tolist() for array in x]))


def test_several_values_of_a_link_go_to_several_ranks():
    comm = Sending()
    model = MultiNodeChainList(comm)
    model.add_link(cvzoo.Sequential(lambda x: (x, x + 1)), rank_out=[1, 2])
    model(np.zeros(2, np.float32))
    assert comm.sent == [(1, [[0, 0], [1, 1]]), (2, [[0, 0], [1, 1]])]


@on_ranks(1)
def test_links_without_an_output_are_errors(comm):
    model = MultiNodeChainList(comm)
    with pytest.raises(GraphError, match="there are no links"):
        model(X)
    for _ in range(2):
        model.add_link(L.Linear(4, 4))
    with pytest.raises(GraphError, match="two links have no rank_out"):
        model(X)
