"""Several ranks give the weights of one process with the whole batch."""

import numpy as np
import pytest
from on_ranks import on_ranks
from steps_on_ranks import MAKES, Net, assert_same, batches, classifier

import cvzoo
import cvzoo.functions as F
import cvzoo.links as L
from cvzoo import optimizers
from cvzoo.autodiff.function_hook import this_thread
from cvzoo.distributed import NullCommunicator, create_multi_node_optimizer
from cvzoo.errors import ValueRangeError
from cvzoo.errors.exceptions import WeightsMismatchError


def train(comm, make, dtype=np.float64, data=None, prepare=lambda optimizer: optimizer, compiled=False, **settings):
    """The weights after some steps, each on this rank's part of the batch."""
    with cvzoo.using_config("dtype", "float64" if dtype == np.float64 else "float32"):
        cvzoo.set_seed(comm.rank)
        model = classifier() if compiled else Net()
        if compiled:
            model.compile(train=True)
        optimizer = prepare(create_multi_node_optimizer(make(), comm, **settings).setup(model))
        for x, t in batches(dtype) if data is None else data:
            optimizer.update(model, np.array_split(x, comm.size)[comm.rank], np.array_split(t, comm.size)[comm.rank])
        assert len(model.graphs()) == compiled
        return {path: param.array for path, param in model.namedparams()}


@on_ranks(1, 2, 3, 4)
def test_uneven_parts_give_the_weights_of_the_whole_batch(comm):
    for make in MAKES.values():
        for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
            expected = train(NullCommunicator(), make, dtype)
            for bucket_mb in (8, 1e-4):
                assert_same(train(comm, make, dtype, bucket_mb=bucket_mb), expected, tolerance)
    assert_same(train(comm, make, overlap=False), train(comm, make), 0)


@on_ranks(1, 2, 3, 4)
def test_compiled_networks_do_as_well(comm):
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-6)):
        expected = train(NullCommunicator(), MAKES["MomentumSGD"], dtype, compiled=True)
        assert_same(train(comm, MAKES["MomentumSGD"], dtype, compiled=True), expected, tolerance)


@on_ranks(2, 3)
def test_all_ranks_have_the_same_bits(comm):
    for settings in ({}, {"wire_dtype": "float16"}, {"wire_dtype": "bfloat16"}):
        weights = train(comm, MAKES["Adam"], np.float32, bucket_mb=1e-3, **settings)
        for path, array in comm.bcast_obj(weights).items():
            np.testing.assert_array_equal(array, weights[path])


@on_ranks(2, 3, 4)
def test_the_wire_rounds_to_16_bits_and_sums_in_float32(comm):
    expected = train(NullCommunicator(), MAKES["SGD"], np.float32)
    for wire_dtype, tolerance in (("float16", 1e-3), ("bfloat16", 8e-3)):
        found = train(comm, MAKES["SGD"], np.float32, wire_dtype=wire_dtype)
        assert_same(found, expected, tolerance)
        assert any((found[path] != expected[path]).any() for path in found)


@on_ranks(2, 3)
def test_gradients_are_clipped_after_the_mean(comm):
    def clipping(optimizer):
        optimizer.add_hook(optimizers.GradientClipping(0.05))
        return optimizer

    expected = train(NullCommunicator(), MAKES["SGD"], prepare=clipping)
    assert_same(train(comm, MAKES["SGD"], prepare=clipping), expected, 1e-12)


@on_ranks(2, 3, 4)
def test_accumulated_gradients_are_exchanged_once(comm):
    data = [(x[:6], t[:6]) for x, t in batches(np.float64)]

    def prepare(optimizer):
        return optimizer.accumulate(2)

    expected = train(NullCommunicator(), MAKES["Adam"], data=data, prepare=prepare)
    assert_same(train(comm, MAKES["Adam"], data=data, prepare=prepare), expected, 1e-12)


@on_ranks(2, 3)
def test_each_rank_and_step_has_its_own_dropout(comm):
    (x, t), *_ = batches(np.float32)
    masks = []

    def loss(x, t):
        masks.append(F.dropout(np.ones(64, np.float32)).array)
        return model(x, t)

    cvzoo.set_seed(0)
    model = Net()
    before = cvzoo.config.get_random_state()
    optimizer = create_multi_node_optimizer(optimizers.SGD(), comm).setup(model).accumulate(2)
    for _ in range(4):
        optimizer.update(loss, x, t)
    assert comm.rank == 0 or cvzoo.config.get_random_state() == before
    drawn = {mask.tobytes() for each in comm.allgather_obj(masks) for mask in each}
    assert len(drawn) == 4 * comm.size


@on_ranks(2, 3)
def test_scaled_losses_are_rescaled(comm):
    def prepare(optimizer):
        return optimizer.loss_scaling(scale=64.0)

    expected = train(NullCommunicator(), MAKES["Adam"], prepare=prepare)
    assert_same(train(comm, MAKES["Adam"], prepare=prepare), expected, 1e-12)


@on_ranks(2, 3)
def test_a_rank_without_examples_takes_part(comm):
    data = [(x[: comm.size - 1], t[: comm.size - 1]) for x, t in batches(np.float64)]
    assert_same(train(comm, MAKES["Adam"], data=data), train(NullCommunicator(), MAKES["Adam"], data=data), 1e-12)


@on_ranks(2, 3, 4)
def test_a_branch_that_one_rank_uses_counts_as_zeros_on_the_others(comm):
    """Every rank draws its branches in each step, in other orders; one process computes the weighted sum itself."""

    def branches(step, rank):
        return ("left right", "right left", "left", "right")[(step + rank) % 4]

    cvzoo.set_seed(0)
    with cvzoo.using_config("dtype", "float64"):
        model = Net()
    alone = model.copy("copy")
    optimizer = create_multi_node_optimizer(optimizers.MomentumSGD(lr=0.1), comm, bucket_mb=1e-4).setup(model)
    reference = optimizers.MomentumSGD(lr=0.1).setup(alone)
    for step, (x, t) in enumerate(batches(np.float64, 6, 7)):
        xs, ts = np.array_split(x, comm.size), np.array_split(t, comm.size)
        optimizer.update(model, xs[comm.rank], ts[comm.rank], branches(step, comm.rank))
        alone.cleargrads()
        for rank in range(comm.size):
            (alone(xs[rank], ts[rank], branches(step, rank)) * (len(xs[rank]) / len(x))).backward()
        reference.update()
        assert model.never.W.grad is None
    assert_same({p: v.array for p, v in model.namedparams()}, {p: v.array for p, v in alone.namedparams()}, 1e-12)


@on_ranks(2, 3)
def test_parameters_without_a_shape_are_initialized_alike(comm):
    class Lazy(cvzoo.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.first, self.bn = L.Convolution2D(None, 3, 3), L.BatchNormalization()
                self.last, self.late = L.Linear(None, 3), L.Linear(None, 3)

        def forward(self, x, t, late=False):
            h = F.relu(self.bn(self.first(x)))
            return F.softmax_cross_entropy(self.last(h) + (self.late(h) if late else 0), t)

    cvzoo.set_seed(comm.rank)
    model = Lazy()
    optimizer = create_multi_node_optimizer(optimizers.SGD(lr=0.1), comm).setup(model)
    for step, (x, t) in enumerate(batches(np.float32)):
        optimizer.update(model, x, t, late=step >= 2 and comm.rank == comm.size - 1)
        everyone = comm.allgather_obj([None if p._array is None else p.array for p in model.params()])
        for each in everyone[1:]:
            for a, b in zip(everyone[0], each, strict=True):
                np.testing.assert_array_equal(a, b)
    assert model.late.W.is_initialized


@on_ranks(2, 3)
def test_gradients_of_the_callers_own_backward_are_exchanged(comm):
    (x, t), *_ = batches(np.float32, n=6)
    cvzoo.set_seed(0)
    model = Net()
    alone = model.copy("copy")
    optimizer = create_multi_node_optimizer(optimizers.SGD(lr=0.1), comm).setup(model)
    for _ in range(2):
        model.cleargrads()
        model(np.array_split(x, comm.size)[comm.rank], np.array_split(t, comm.size)[comm.rank]).backward()
        optimizer.update()
        optimizers.SGD(lr=0.1).setup(alone).update(alone, x, t)
    assert_same({p: v.array for p, v in model.namedparams()}, {p: v.array for p, v in alone.namedparams()}, 1e-6)


@on_ranks(2, 3)
def test_different_models_and_weights_are_errors_on_all_ranks(comm):
    (x, t), *_ = batches(np.float32)
    model = Net(3 if comm.rank == 1 else 2)
    optimizer = create_multi_node_optimizer(optimizers.SGD(), comm).setup(model)
    with pytest.raises(WeightsMismatchError, match=r"/conv/W is \(4, 2, 3, 3\) float32 on rank 0, \(4, 3, 3, 3\)"):
        optimizer.update(model, x if comm.rank != 1 else x.repeat(2, axis=1)[:, :3], t)
    cvzoo.set_seed(comm.rank)
    model = Net()
    optimizer = create_multi_node_optimizer(optimizers.SGD(), comm).setup(model)
    model(x, t).backward()
    with pytest.raises(WeightsMismatchError, match="the weights of the ranks differ, first those of /conv/W"):
        optimizer.update()


def delayed_reference(make, data):
    """One process whose updates apply the gradients of the step before."""
    cvzoo.set_seed(0)
    model = Net()
    optimizer, before = make().setup(model), None
    for x, t in data:
        model.cleargrads()
        model(x, t).backward()
        grads = {path: param.grad for path, param in model.namedparams()}
        if before is not None:
            for path, param in model.namedparams():
                param.grad = before[path]
            optimizer.update()
        before = grads
    return {path: param.array for path, param in model.namedparams()}


def same_halves(comm, n_step=5):
    """Batches whose parts are the same on all ranks, so that sums have no rounding of their own."""
    parts = batches(np.float32, n_step, 4)
    return parts, [(np.concatenate([x] * comm.size), np.concatenate([t] * comm.size)) for x, t in parts]


@on_ranks(1, 2)
def test_double_buffering_is_the_delayed_gradient_to_the_bit(comm):
    parts, whole = same_halves(comm)
    for make in MAKES.values():
        found = train(comm, make, np.float32, data=whole, double_buffering=True)
        expected = delayed_reference(make, parts)
        for path, array in found.items():
            np.testing.assert_array_equal(array, expected[path])


@on_ranks(1, 2, 3)
def test_a_run_with_double_buffering_resumes_with_the_same_bits(comm):
    def begin():
        cvzoo.set_seed(0)
        model = Net()
        return model, create_multi_node_optimizer(optimizers.Adam(), comm, double_buffering=True).setup(model)

    data = batches(np.float32, 6, 2 * comm.size)
    (whole, steps), (first, some) = begin(), begin()
    for k, (x, t) in enumerate(data):
        steps.update(whole, x[comm.rank :: comm.size], t[comm.rank :: comm.size])
        if k < 3:
            some.update(first, x[comm.rank :: comm.size], t[comm.rank :: comm.size])
    state = comm.bcast_obj(some.state() if comm.rank == 0 else None)
    resumed, others = begin()
    resumed.copyparams(first)
    others.load_state(state)
    for x, t in data[3:]:
        others.update(resumed, x[comm.rank :: comm.size], t[comm.rank :: comm.size])
    for (path, a), (_, b) in zip(whole.namedparams(), resumed.namedparams()):
        np.testing.assert_array_equal(a.array, b.array, err_msg=path)


def test_one_process_needs_no_exchange():
    optimizer = optimizers.SGD()
    assert create_multi_node_optimizer(optimizer, NullCommunicator()) is optimizer
    assert optimizer.exchange is None
    assert "exchange" not in optimizer.setup(Net()).state()


def test_unknown_settings_are_refused():
    with pytest.raises(ValueRangeError, match="unknown wire_dtype 'fp8'"):
        create_multi_node_optimizer(optimizers.SGD(), NullCommunicator(), wire_dtype="fp8")
    with pytest.raises(ValueRangeError, match="bucket_mb must be positive"):
        create_multi_node_optimizer(optimizers.SGD(), NullCommunicator(), bucket_mb=0)


@on_ranks(2)
def test_buckets_are_sent_while_backward_runs_from_the_second_step_on(comm):
    model = Net()
    optimizer = create_multi_node_optimizer(optimizers.SGD(), comm, bucket_mb=1e-4).setup(model)
    sender = optimizer.exchange._sender
    during, add = [], sender.add
    sender.add = lambda array, **settings: (during.append(this_thread.on_final is not None), add(array, **settings))
    for x, t in batches(np.float32, 2):
        during.clear()
        optimizer.update(model, x, t)
    assert during == [True] * 6 + [False]  # the parameters that are used, then the last message
    assert [bucket.places[0].path for bucket in optimizer.exchange._plan.buckets][-1].startswith("/conv")
