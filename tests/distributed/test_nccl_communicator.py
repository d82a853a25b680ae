"""The communicator by NCCL, on made-up GPUs whose NCCL is made up: values, streams and captures, not speed."""

import functools
import warnings

import numpy as np
import pytest
from fake_gpu.fake_nccl import get_unique_id
from fake_gpu.install import fake_gpu
from on_ranks import on_ranks

import cvzoo
import cvzoo.links as L
from cvzoo.backends.arrays import is_device_array, to_numpy
from cvzoo.distributed import MPICommunicator, NCCLCommunicator, create_communicator
from cvzoo.errors import BackendError, DtypeError, GraphError, ShapeError


def on_gpus(function):
    """The test, called with a communicator by NCCL, whose ranks have a GPU each, and the machine of this rank."""

    @functools.wraps(function)
    def run(comm):
        with fake_gpu(devices=comm.size) as machine, create_communicator("nccl") as nccl:
            function(nccl, machine)

    return run


def part(rank, shape=(2, 3), dtype=np.float32):
    return (np.random.default_rng(rank).uniform(-4, 4, shape) * (10 if np.dtype(dtype).kind in "iu" else 1)).astype(
        dtype
    )


@on_ranks(1, 2, 3)
@on_gpus
def test_each_rank_has_the_gpu_of_its_number(comm, machine):
    assert isinstance(comm, NCCLCommunicator)
    assert comm.device.name == f"gpu:{comm.rank}"
    assert repr(comm) == f"<nccl communicator, rank {comm.rank} of {comm.size}>"


@on_ranks(1, 2, 3)
@on_gpus
def test_allreduce_is_in_place_and_does_not_wait_for_the_gpu(comm, machine):
    for op, whole in (("sum", np.sum), ("max", np.max), ("min", np.min), ("mean", np.mean)):
        for dtype in (np.float64, np.float32, np.float16, np.int32, np.int16, np.int8):
            if op == "mean" and np.dtype(dtype).kind == "i":
                continue
            given = part(comm.rank, dtype=dtype)
            expected = whole([part(k, dtype=dtype).astype(np.float64) for k in range(comm.size)], axis=0)
            x = comm.device.asarray(given)
            with machine.no_sync():
                assert comm.allreduce(x, op) is x
            assert x.dtype == dtype
            tolerance = 4e-3 if dtype == np.float16 else 1e-5
            np.testing.assert_allclose(to_numpy(x), expected.astype(dtype), rtol=tolerance, atol=1e-4)
    x = comm.device.asarray(np.array([1 + 2j]))
    np.testing.assert_array_equal(to_numpy(comm.allreduce(x)), [comm.size * (1 + 2j)])


@on_ranks(2)
@on_gpus
def test_arrays_that_are_not_contiguous_are_reduced_in_place(comm, machine):
    whole = comm.device.asarray(part(comm.rank, (4, 6)))
    with comm.device:
        comm.allreduce(whole.T[::2])
    expected = part(0, (4, 6)) + part(1, (4, 6))
    np.testing.assert_allclose(to_numpy(whole)[:, ::2], expected[:, ::2])
    np.testing.assert_array_equal(to_numpy(whole)[:, 1::2], part(comm.rank, (4, 6))[:, 1::2])


@on_ranks(1, 2, 3)
@on_gpus
def test_the_other_collectives_send_arrays_from_gpu_to_gpu(comm, machine):
    n, rank = comm.size, comm.rank
    parts = [part(k, (k + 1, 2)) for k in range(n)]
    mine = comm.device.asarray(parts[rank])
    for root in range(n):
        reduced = comm.reduce(comm.device.asarray(part(rank)), "mean", root)
        assert (reduced is None) == (rank != root)
        if rank == root:
            np.testing.assert_allclose(to_numpy(reduced), np.mean([part(k) for k in range(n)], axis=0), rtol=1e-4)
        got = comm.bcast(comm.device.asarray(parts[root]) if rank == root else None, root)
        assert is_device_array(got)
        np.testing.assert_array_equal(to_numpy(got), parts[root])
        gathered = comm.gather(mine, root)
        assert (gathered is None) == (rank != root)
        for found, expected in zip(gathered or (), parts, strict=rank == root):
            np.testing.assert_array_equal(to_numpy(found), expected)
        scattered = comm.scatter([comm.device.asarray(each) for each in parts] if rank == root else None, root)
        np.testing.assert_array_equal(to_numpy(scattered), parts[rank])
    for found, expected in zip(comm.allgather(mine), parts, strict=True):
        assert is_device_array(found)
        np.testing.assert_array_equal(to_numpy(found), expected)
    np.testing.assert_array_equal(
        to_numpy(comm.allgather_equal(comm.device.asarray(part(rank)))), [*map(part, range(n))]
    )
    sent = [comm.device.asarray(np.full(k + 1, 10.0 * rank + k)) for k in range(n)]
    for k, found in enumerate(comm.alltoall(sent)):
        np.testing.assert_array_equal(to_numpy(found), np.full(rank + 1, 10.0 * k + rank))


@on_ranks(2, 3)
@on_gpus
def test_arrays_in_the_cpus_memory_go_over_mpi(comm, machine):
    before = len(machine.recorder)
    x = np.full(3, comm.rank + 1.0)
    assert comm.allreduce(x) is x
    assert comm.allgather_obj(comm.rank) == list(range(comm.size))
    one, other = comm.bcast(np.arange(3) if comm.rank == 0 else None), comm.allgather(x)
    assert type(one) is type(other[0]) is np.ndarray
    assert len(machine.recorder) == before
    np.testing.assert_array_equal(x, np.full(3, comm.size * (comm.size + 1) / 2))
    mixed = [np.full(2, comm.rank), comm.device.asarray(np.full(2, comm.rank))] * comm.size
    np.testing.assert_array_equal([to_numpy(each)[0] for each in comm.alltoall(mixed[: comm.size])], range(comm.size))


@on_ranks(2, 3)
@on_gpus
def test_messages_between_two_ranks_keep_their_order(comm, machine):
    a, b = comm.device.asarray(part(1)), comm.device.asarray(part(2, (4,), np.int16))
    if comm.rank == 0:
        comm.send([a, np.arange(3), b], 1, tag=5)
        comm.send(b, 1, tag=1)
        comm.send(a, 1, tag=2)
        comm.send(part(3), 1, tag=4)
        comm.send(part(4), 1, tag=3)
    if comm.rank == 1:
        first, between, last = comm.recv(0, tag=5)
        assert [is_device_array(each) for each in (first, between, last)] == [True, False, True]
        np.testing.assert_array_equal(to_numpy(first), part(1))
        np.testing.assert_array_equal(to_numpy(last), part(2, (4,), np.int16))
        np.testing.assert_array_equal(comm.recv(0, tag=3), part(4))  # MPI has tags
        np.testing.assert_array_equal(comm.recv(0, tag=4), part(3))
        with pytest.raises(GraphError, match="rank 0 sent arrays on its GPU before these"):
            comm.recv(0, tag=2)


@on_ranks(2, 3)
@on_gpus
def test_ranks_that_differ_are_errors_on_all(comm, machine):
    x = comm.device.asarray(part(0, (2, 3) if comm.rank else (2, 2)))
    with pytest.raises(ShapeError, match=r"\(2, 2\) float32 on a GPU on rank 0, \(2, 3\) float32 on a GPU on rank 1"):
        comm.allreduce(x)
    y = part(0) if comm.rank else comm.device.asarray(part(0))
    with pytest.raises(ShapeError, match=r"\(2, 3\) float32 on a GPU on rank 0, \(2, 3\) float32 on rank 1"):
        comm.allreduce(y)
    with pytest.raises(DtypeError, match="no sum over ranks"):
        comm.allreduce(comm.device.asarray(np.ones(2, bool)))
    elsewhere = cvzoo.backends.device.get_device((comm.rank + 1) % comm.size).asarray(part(0))
    with pytest.raises(BackendError, match=f"the array is on gpu:.*, but this rank sends those of gpu:{comm.rank}"):
        comm.allreduce(elsewhere)


@on_ranks(2, 3)
def test_one_gpu_for_two_ranks_is_an_error_on_all(comm):
    with fake_gpu(devices=1), pytest.raises(BackendError, match="ranks 0 and 1 have the same GPU, 0000:00:00"):
        create_communicator("pure_nccl")


@on_ranks(1, 2)
def test_a_missing_gpu_or_library_is_an_error_on_all(comm):
    with pytest.raises(BackendError, match="rank 0 cannot use NCCL: CuPy cannot be imported"):
        create_communicator("nccl")
    with fake_gpu(devices=comm.size) as machine:
        machine.cupy.cuda.nccl.available = comm.rank != comm.size - 1
        with pytest.raises(BackendError, match=f"rank {comm.size - 1} cannot use NCCL: the library of NCCL cannot"):
            create_communicator("nccl")


@on_ranks(2, 3)
@on_gpus
def test_parts_of_the_ranks_have_communicators_of_their_own(comm, machine):
    half = comm.split(comm.rank % 2, key=-comm.rank)
    assert half.device == comm.device
    x = half.device.asarray(np.full(2, float(comm.rank)))
    half.allreduce(x)
    same = [k for k in range(comm.size) if k % 2 == comm.rank % 2]
    np.testing.assert_array_equal(to_numpy(x), np.full(2, float(sum(same))))
    half.close()
    half.close()
    with pytest.raises(BackendError, match="the communicator is closed"):
        half.nccl.check()


@on_ranks(2, 3)
@on_gpus
def test_models_are_broadcast_and_averaged_on_the_gpus(comm, machine):
    cvzoo.set_seed(comm.rank)
    model = cvzoo.Sequential(L.Linear(4, 3), L.BatchNormalization(3)).to_device(comm.device)
    comm.bcast_data(model)
    weights = comm.allgather_obj(model[0].W.array)
    assert all((each == weights[0]).all() for each in weights)
    with comm.device:
        model[0].W.grad = model[0].W.array * 0 + comm.rank
        model[1].avg_mean[...] = comm.rank
    comm.allreduce_grad(model)
    comm.allreduce_persistent(model)
    assert is_device_array(model[0].W.grad)
    np.testing.assert_allclose(to_numpy(model[0].W.grad), (comm.size - 1) / 2)
    np.testing.assert_allclose(to_numpy(model[1].avg_mean), (comm.size - 1) / 2)
    assert model[0].b.grad is None


@on_ranks(1, 2)
@on_gpus
def test_a_captured_graph_sums_what_is_in_its_arrays_at_each_launch(comm, machine):
    xp = machine.cupy
    with comm.device:
        x, stream = xp.zeros(3), xp.cuda.Stream(non_blocking=True)
        with stream:
            comm.allreduce(x)
            stream.begin_capture()
            comm.allreduce(x)
            graph = stream.end_capture()
            for k in range(2):
                x[...] = comm.rank + k
                graph.launch()
                np.testing.assert_array_equal(to_numpy(x), comm.size * (comm.size - 1) / 2 + comm.size * k)


@on_ranks(1)
def test_the_made_up_nccl_refuses_what_cupy_or_a_gpu_would(comm):
    with fake_gpu(devices=2) as machine:
        xp, nccl = machine.cupy, machine.cupy.cuda.nccl
        x = xp.zeros(4, np.float32)
        for wrong, error in ((None, TypeError), ((1,) * 128, TypeError), (b"1234567890", ValueError)):
            with pytest.raises(error):
                nccl.NcclCommunicator(1, wrong, 0)
        made = nccl.NcclCommunicator(1, get_unique_id(), 0)
        made.allReduce(x.data.ptr, x.data.ptr, 4, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, 0)
        for words, error in (
            ((x.data, x.data.ptr, 4, 7, 0, 0), TypeError),
            ((x.data.ptr, x.data.ptr, 4, "f", 0, 0), TypeError),
            ((x.data.ptr, x.data.ptr, 4, 7, 0, None), TypeError),
            ((x.data.ptr, x.data.ptr, 4000, 7, 0, 0), RuntimeError),
            ((x.data.ptr, x.data.ptr, 4, 70, 0, 0), nccl.NcclError),
        ):
            with pytest.raises(error):
                made.allReduce(*words)
        with xp.cuda.Device(1):
            y = xp.zeros(4, np.float32)
        with pytest.raises(RuntimeError, match="device 1, its communicator on 0"):
            made.broadcast(y.data.ptr, y.data.ptr, 4, 7, 0, 0)
        with pytest.raises(nccl.NcclError):
            made.broadcast(x.data.ptr, x.data.ptr, 4, 7, 1, 0)
        with pytest.raises(nccl.NcclError):
            nccl.groupEnd()
        made.destroy()
        with pytest.raises(RuntimeError, match="destroyed"):
            made.size()


@on_ranks(2, 3)
def test_auto_sends_by_nccl_where_each_rank_has_a_gpu_of_its_own(comm):
    with fake_gpu(devices=comm.size):
        with create_communicator() as found:
            assert (type(found), found.device.name) == (MPICommunicator, "cpu")
        with cvzoo.using_config("device", "gpu:0"), create_communicator() as found:
            assert (type(found), found.device.name) == (NCCLCommunicator, f"gpu:{comm.rank}")
        with cvzoo.using_config("device", "cpu" if comm.rank == 0 else "gpu:0"), create_communicator() as found:
            assert isinstance(found, MPICommunicator)


@on_ranks(2, 3)
def test_auto_sends_by_mpi_and_warns_where_nccl_is_impossible(comm):
    for devices, missing, words in ((1, None, "ranks 0 and 1 have the same GPU"), (comm.size, 1, "rank 1 cannot use")):
        with fake_gpu(devices=devices) as machine, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            machine.cupy.cuda.nccl.available = comm.rank != missing
            with cvzoo.using_config("device", "gpu:0"), create_communicator() as found:
                assert (type(found), found.device.name) == (MPICommunicator, "gpu:0")
        assert [words in str(each.message) for each in told] == [True] * (comm.rank == 0)
