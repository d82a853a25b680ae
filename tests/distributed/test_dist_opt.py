"""SINGA's DistOpt: several ranks update as one process would, or by the formula that is documented."""

import inspect

import numpy as np
import pytest
from on_ranks import on_ranks

from cvzoo.errors import ValueRangeError
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.singa import autograd, opt
from cvzoo.singa.tensor import Tensor

X = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
Y = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
W = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def training():
    before, autograd.training = autograd.training, True
    yield
    autograd.training = before


def loss_of(params, x, y):
    W, b = params
    return autograd.mse_loss(autograd.add_bias(autograd.matmul(Tensor(data=x), W), b), Tensor(data=y))


def parameters(W=W):
    return [
        Tensor(data=W, stores_grad=True, name="W"),
        Tensor(data=np.zeros(3, np.float32), stores_grad=True, name="b"),
    ]


def parts(comm):
    return np.array_split(X, comm.size)[comm.rank], np.array_split(Y, comm.size)[comm.rank]


def gradients(params, x, y):
    """(W's and b's,) flat, of a loss."""
    found = {param.name: grad._array for param, grad in autograd.backward(loss_of(params, x, y))}
    return np.concatenate([found["W"].reshape(-1), found["b"]])


def flat(params):
    return np.concatenate([param.array.reshape(-1) for param in params])


@on_ranks(1, 2, 3)
def test_the_mean_gradient_gives_the_weights_of_one_process(comm):
    autograd.training = True
    for name, tolerance in (("backward_and_update", 1e-6), ("backward_and_update_half", 2e-3)):
        alone, mine = parameters(), parameters()
        one, many = opt.SGD(lr=0.1, momentum=0.9), opt.DistOpt(opt.SGD(lr=0.1, momentum=0.9), world_size=comm.size)
        for _ in range(4):
            one(loss_of(alone, X, Y))
            getattr(many, name)(loss_of(mine, *parts(comm)))
        np.testing.assert_allclose(flat(mine), flat(alone), rtol=tolerance, atol=tolerance)
        assert many.opt.step_counter.item() == 4
        assert (many.world_size, many.global_rank, many.local_rank) == (comm.size, comm.rank, comm.rank)


@on_ranks(2, 3)
def test_partial_updates_average_one_part_of_the_parameters_in_turn(comm):
    autograd.training = True
    mine, many = parameters(), opt.DistOpt(opt.SGD(lr=0.1))
    sizes = []
    for _ in range(4):
        many.backward_and_partial_update(loss_of(mine, *parts(comm)), threshold=3)
        everyone = comm.allgather(flat(mine))
        same = np.all([each == everyone[0] for each in everyone], axis=0)
        sizes.append((same[:12].all(), same[12:].all()))
    assert sorted(sizes[:2]) == [(False, True), (True, False)]
    assert sizes[2:] == sizes[:2]


@on_ranks(1, 2, 3)
def test_sparse_updates_send_the_largest_elements_and_keep_the_rest(comm):
    autograd.training = True
    for settings in ({"topK": True, "spars": 0.2}, {"topK": False, "spars": 0.3}):
        mine, many = parameters(), opt.DistOpt(opt.SGD(lr=0.1))
        params, residuals = parameters(), [np.zeros(15, np.float32)] * comm.size
        for _ in range(3):
            total = np.zeros(15, np.float32)
            for k, (x, y) in enumerate(zip(np.array_split(X, comm.size), np.array_split(Y, comm.size))):
                g = gradients(params, x, y) + residuals[k]
                kept = np.argsort(-np.abs(g))[:3] if settings["topK"] else np.flatnonzero(np.abs(g) >= 0.3)
                total[kept] += g[kept]
                residuals[k] = np.where(np.isin(np.arange(15), kept), np.float32(0), g)
            new = flat(params) - np.float32(0.1) * total / comm.size
            params = [
                Tensor(data=new[:12].reshape(4, 3), stores_grad=True, name="W"),
                Tensor(data=new[12:], stores_grad=True, name="b"),
            ]
            many.backward_and_sparse_update(loss_of(mine, *parts(comm)), **settings)
            np.testing.assert_allclose(flat(mine), flat(params), rtol=1e-5, atol=1e-6)


@on_ranks(2)
def test_other_weights_on_a_rank_are_an_error_on_all(comm):
    autograd.training = True
    mine, many = parameters(W + comm.rank), opt.DistOpt(opt.SGD(lr=0.1))
    with pytest.raises(WeightsMismatchError, match="the weights of the ranks differ"):
        many(loss_of(mine, *parts(comm)))


@on_ranks(1, 2)
def test_tensors_are_summed_one_by_one_or_together(comm):
    many = opt.DistOpt()
    a, b = Tensor(data=np.full(2, comm.rank + 1.0)), Tensor(data=np.full((1, 3), 2.0))
    many.all_reduce(a)
    many.fused_all_reduce([a, b])
    n = comm.size
    np.testing.assert_array_equal(a.array, n * n * (n + 1) / 2)
    np.testing.assert_array_equal(b.array, 2 * n)


def test_settings_that_are_out_of_range_are_refused():
    with pytest.raises(ValueRangeError, match="another number of ranks"):
        opt.DistOpt(opt.SGD(), world_size=7)
    mine, many = parameters(), opt.DistOpt(opt.SGD())
    for settings in ({"spars": 0}, {"spars": 1.5, "topK": True}):
        with pytest.raises(ValueRangeError, match="spars is out of range"):
            many.backward_and_sparse_update(loss_of(mine, X, Y), **settings)


def test_arguments_come_in_singas_order():
    def arguments(name):
        return list(inspect.signature(getattr(opt.DistOpt, name)).parameters)[1:]

    assert arguments("__init__") == ["opt", "nccl_id", "local_rank", "world_size", "buffSize"]
    assert arguments("backward_and_update") == ["loss", "threshold"]
    assert arguments("backward_and_update_half") == ["loss", "threshold", "clipping", "clip_Value"]
    assert arguments("backward_and_partial_update") == ["loss", "threshold"]
    assert arguments("backward_and_sparse_update") == ["loss", "threshold", "spars", "topK", "corr"]
