"""Gradients by NCCL on made-up GPUs: the weights of one process, on a stream of its own, without synchronization."""

import functools

import numpy as np
import pytest
from fake_gpu.install import fake_gpu
from fake_gpu.machine import FakeGpuError
from on_ranks import on_ranks
from steps_on_ranks import MAKES, Net, assert_same, batches, classifier

import cvzoo
from cvzoo import optimizers
from cvzoo.backends.arrays import is_device_array, to_numpy
from cvzoo.distributed import NullCommunicator, create_communicator, create_multi_node_optimizer


def on_gpus(*, late=False):
    """The test, called with a communicator by NCCL, whose ranks have a GPU each, and the machine of this rank."""

    def decorate(function):
        @functools.wraps(function)
        def run(comm):
            with fake_gpu(devices=comm.size, late=late) as machine, create_communicator("nccl") as nccl:
                function(nccl, machine)

        return run

    return decorate


def begin(comm, make, *, compiled=False, prepare=lambda optimizer: optimizer, **settings):
    cvzoo.set_seed(0)
    model = (classifier() if compiled else Net()).to_device(comm.device)
    if compiled:
        model.compile(train=True)
    return model, prepare(create_multi_node_optimizer(make(), comm, **settings).setup(model))


def train(comm, make, data, **settings):
    """The weights after the steps, each on this rank's part of the batch."""
    model, optimizer = begin(comm, make, **settings)
    with comm.device:
        for x, t in data:
            mine = [comm.device.asarray(np.array_split(each, comm.size)[comm.rank]) for each in (x, t)]
            optimizer.update(model, *mine)
    return {path: to_numpy(param.array) for path, param in model.namedparams()}


@on_ranks(1, 2, 3)
@on_gpus()
def test_uneven_parts_give_the_weights_of_the_whole_batch(comm, machine):
    for name, make in MAKES.items():
        alone = train(NullCommunicator(), make, batches(np.float32))
        for bucket_mb in (8, 1e-4):
            found = train(comm, make, batches(np.float32), bucket_mb=bucket_mb)
            assert_same(found, alone, 5e-6 if name == "LARS" else 2e-6)


@on_ranks(2)
@on_gpus(late=True)
def test_the_update_waits_for_the_sums_and_the_sums_for_the_gradients(comm, machine):
    """Streams other than the default one run only when somebody waits for them, here."""
    data = batches(np.float32)
    found = train(comm, MAKES["MomentumSGD"], data, bucket_mb=1e-4)
    assert_same(found, train(NullCommunicator(), MAKES["MomentumSGD"], data), 2e-6)


@on_ranks(2)
@on_gpus()
def test_compiled_networks_do_as_well(comm, machine):
    data = batches(np.float32, n=6)
    expected = train(NullCommunicator(), MAKES["MomentumSGD"], data, compiled=True)
    before = machine.recorder.counts()["graph_launch"]
    assert_same(train(comm, MAKES["MomentumSGD"], data, compiled=True), expected, 2e-6)
    assert machine.recorder.counts()["graph_launch"] > before


@on_ranks(2, 3)
@on_gpus()
def test_the_wire_rounds_to_16_bits_and_sums_in_float32(comm, machine):
    data = batches(np.float32)
    expected = train(NullCommunicator(), MAKES["SGD"], data)
    for wire_dtype, tolerance in (("float16", 1e-3), ("bfloat16", 8e-3)):
        found = train(comm, MAKES["SGD"], data, wire_dtype=wire_dtype)
        assert_same(found, expected, tolerance)
        assert any((found[path] != expected[path]).any() for path in found)
        for path, array in comm.bcast_obj(found).items():
            np.testing.assert_array_equal(array, found[path])


@on_ranks(2)
@on_gpus()
def test_gradients_are_clipped_after_the_mean_accumulated_and_rescaled(comm, machine):
    def prepare(optimizer):
        optimizer.add_hook(optimizers.GradientClipping(0.05))
        return optimizer.accumulate(2).loss_scaling(scale=64.0)

    data = batches(np.float32, n=6)
    expected = train(NullCommunicator(), MAKES["Adam"], data, prepare=prepare)
    assert_same(train(comm, MAKES["Adam"], data, prepare=prepare), expected, 5e-6)


@on_ranks(2)
@on_gpus()
def test_a_run_with_double_buffering_resumes_with_the_same_bits(comm, machine):
    data = [[comm.device.asarray(each[comm.rank :: 2]) for each in batch] for batch in batches(np.float32, 6, 4)]
    (whole, steps), (first, some) = (begin(comm, MAKES["Adam"], double_buffering=True) for _ in range(2))
    resumed, others = begin(comm, MAKES["Adam"], double_buffering=True)
    with comm.device:
        for k, batch in enumerate(data):
            steps.update(whole, *batch)
            if k < 3:
                some.update(first, *batch)
        state = comm.bcast_obj(some.state() if comm.rank == 0 else None)
        resumed.copyparams(first)
        others.load_state(state)
        for batch in data[3:]:
            others.update(resumed, *batch)
    for (path, a), (_, b) in zip(whole.namedparams(), resumed.namedparams()):
        np.testing.assert_array_equal(to_numpy(a.array), to_numpy(b.array), err_msg=path)


@on_ranks(2)
@on_gpus()
def test_buckets_are_summed_on_another_stream_and_the_cpu_does_not_wait(comm, machine):
    model, optimizer = begin(comm, MAKES["SGD"], bucket_mb=1e-4)
    data = [[comm.device.asarray(each[comm.rank :: 2]) for each in batch] for batch in batches(np.float32, 3)]
    with comm.device:
        for batch in data[:2]:
            optimizer.update(model, *batch)
        del machine.recorder[:]
        with machine.no_sync("a step"):
            optimizer.update(model, *data[2])
    sums = [entry for entry in machine.recorder if entry.name == "nccl allReduce"]
    assert len(sums) == len(optimizer.exchange._plan.buckets) > 2
    assert len({entry.stream for entry in sums}) == 1
    assert sums[0].stream != 0
    first, last = machine.recorder.index(sums[0]), machine.recorder.index(sums[-1])
    backward = [entry for entry in machine.recorder[first:last] if entry.stream == 0 and "Gemm" in entry.name]
    assert backward  # continues while the first buckets are summed
    assert all(is_device_array(param.grad) for _, param in model.namedparams() if param.grad is not None)


@on_ranks(2)
@on_gpus()
def test_a_model_in_the_cpus_memory_is_exchanged_over_mpi(comm, machine):
    data, model = batches(np.float32, n=6), Net()
    optimizer = create_multi_node_optimizer(optimizers.SGD(lr=0.1), comm).setup(model)
    del machine.recorder[:]
    for x, t in data:
        optimizer.update(model, x[comm.rank :: 2], t[comm.rank :: 2])
    assert not machine.recorder
    weights = comm.allgather_obj(model.conv.W.array)
    assert (weights[0] == weights[1]).all()


@on_ranks(2)
@on_gpus()
def test_ranks_whose_calls_of_nccl_differ_do_not_pass_here(comm, machine):
    """The made-up NCCL is no proof if it accepts what hangs on a GPU."""
    with pytest.raises(FakeGpuError, match="NCCL would hang: the ranks call"):
        comm.nccl.allreduce(comm.device.asarray(np.ones(2 + comm.rank)), "sum")
