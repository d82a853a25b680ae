"""Batch normalization over ranks is that of one process with the whole batch."""

import warnings

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.distributed import (
    MultiNodeBatchNormalization,
    NullCommunicator,
    create_mnbn_model,
    create_multi_node_optimizer,
)
from cvzoo.errors import GraphError
from cvzoo.links import BatchNormalization


def parts(comm, n=7, shape=(3, 4, 4), dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(5, 2, (n, *shape)).astype(dtype)
    return x, np.array_split(x, comm.size), rng.normal(size=x.shape).astype(dtype)


@on_ranks(1, 2, 3)
def test_outputs_gradients_and_running_statistics_are_those_of_the_whole_batch(comm):
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 2e-5)):
        for shape in ((3, 4, 4), (3,)):
            with cvzoo.using_config("dtype", np.dtype(dtype).name):
                whole = BatchNormalization(3, initial_gamma=1.5)
                mine = MultiNodeBatchNormalization(3, comm, initial_gamma=1.5)
            x, xs, gy = parts(comm, shape=shape, dtype=dtype)
            gys = np.array_split(gy, comm.size)
            a, b = cvzoo.Variable(x), cvzoo.Variable(xs[comm.rank])
            y, own = whole(a), mine(b)
            n, n_own = len(x), len(b.array)
            F.sum(y * gy / n).backward()
            F.sum(own * gys[comm.rank] / n_own).backward()
            np.testing.assert_allclose(
                own.array, np.array_split(y.array, comm.size)[comm.rank], rtol=tolerance, atol=tolerance
            )
            np.testing.assert_allclose(
                b.grad * (n_own / n), np.array_split(a.grad, comm.size)[comm.rank], rtol=tolerance, atol=tolerance
            )
            for name in ("avg_mean", "avg_var"):
                np.testing.assert_allclose(getattr(mine, name), getattr(whole, name), rtol=tolerance)
            for name in ("gamma", "beta"):
                grad = comm.allreduce(getattr(mine, name).grad * dtype(n_own / n))
                np.testing.assert_allclose(grad, getattr(whole, name).grad, rtol=tolerance, atol=tolerance)


def network():
    conv = L.Convolution2D(3, 4, 3, pad=1, nobias=True)  # a bias has no gradient but rounding before a normalization
    return L.Classifier(cvzoo.Sequential(conv, L.BatchNormalization(4), F.relu, L.Linear(64, 3)))


def train(comm, make, dtype, compiled=False):
    with cvzoo.using_config("dtype", np.dtype(dtype).name):
        cvzoo.set_seed(0)
        model = create_mnbn_model(network(), comm)
        if compiled:
            model.compile(train=True)
        optimizer = create_multi_node_optimizer(make(), comm).setup(model)
        rng = np.random.default_rng(1)
        for step in range(4):
            _, xs, _ = parts(comm, 7, dtype=dtype, seed=step)
            ts = np.array_split(rng.integers(0, 3, 7).astype(np.int32), comm.size)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # is not trained as a graph
                optimizer.update(model, xs[comm.rank], ts[comm.rank])
        return model.state_arrays()


@on_ranks(1, 2, 3, 4)
def test_training_gives_the_weights_and_statistics_of_one_process(comm):
    for make in (
        lambda: optimizers.SGD(lr=0.1),
        lambda: optimizers.MomentumSGD(lr=0.1),
        lambda: optimizers.Adam(alpha=0.01),
        lambda: optimizers.LARS(lr=0.5),
    ):
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
            expected = train(NullCommunicator(), make, dtype)
            found = train(comm, make, dtype)
            for name, array in expected.items():
                np.testing.assert_allclose(
                    found[name], array, rtol=0, atol=tolerance * max(1, np.abs(array).max()), err_msg=name
                )


@on_ranks(2)
def test_a_compiled_network_stays_eager_where_ranks_communicate(comm):
    def make():
        return optimizers.SGD(lr=0.1)

    expected = train(NullCommunicator(), make, np.float64)
    for name, array in train(comm, make, np.float64, compiled=True).items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-11, atol=1e-11, err_msg=name)


@on_ranks(2)
def test_a_rank_without_examples_is_an_error_that_names_the_layer(comm):
    model = create_mnbn_model(network(), comm)
    optimizer = create_multi_node_optimizer(optimizers.SGD(), comm).setup(model)
    x, t = np.zeros((2, 3, 4, 4), np.float32), np.zeros(2, np.int32)
    optimizer.update(model, x, t)
    if comm.rank == 1:
        with pytest.raises(GraphError, match="rank 1 has no examples, but /predictor/1 normalizes over all ranks"):
            optimizer.update(model, x[:0], t[:0])


def test_the_copy_has_the_same_names_and_the_original_is_unchanged():
    model = network()
    other = create_mnbn_model(model, NullCommunicator())
    assert other is not model
    assert other.state_arrays().keys() == model.state_arrays().keys()
    assert other.predictor[1].normalize is F.batch_normalization


@on_ranks(2)
def test_inference_needs_no_other_rank(comm):
    model = create_mnbn_model(network(), comm)
    x = np.ones((1, 3, 4, 4), np.float32)
    if comm.rank == 0:
        with cvzoo.using_config("train", False), cvzoo.no_backprop_mode():
            np.testing.assert_array_equal(model.predictor(x).array, model.copy("copy").predictor(x).array)


@on_ranks(2)
def test_a_second_derivative_is_refused(comm):
    link = MultiNodeBatchNormalization(3, comm)
    x = cvzoo.Variable(np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32))
    F.sum(link(x) ** 2).backward(enable_double_backprop=True)
    with pytest.raises(GraphError, match="has no second derivative"):
        F.sum(x.grad_var**2).backward()
