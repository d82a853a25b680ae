"""Collectives of one, two and three ranks: the same results as NumPy's on all parts at once."""

import numpy as np
import pytest
from on_ranks import on_ranks

import cvzoo
import cvzoo.links as L
from cvzoo.distributed import NullCommunicator, abstract_mpi_communicator, create_communicator
from cvzoo.errors import BackendError, DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.errors.exceptions import WeightsMismatchError


def part(rank, shape=(2, 3), dtype=np.float32):
    return np.random.default_rng(rank).uniform(-4, 4, shape).astype(dtype)


@on_ranks(1, 2, 3)
def test_ranks_count_from_zero(comm):
    assert comm.allgather_obj(comm.rank) == list(range(comm.size))
    assert (comm.intra_rank, comm.intra_size, comm.inter_rank, comm.inter_size) == (comm.rank, comm.size, 0, 1)
    assert repr(comm) == f"<mpi communicator, rank {comm.rank} of {comm.size}>"


@on_ranks(1, 2, 3)
def test_allreduce_is_in_place_and_exact_for_each_operation_and_dtype(comm):
    for op, whole in (("sum", np.sum), ("max", np.max), ("min", np.min), ("mean", np.mean)):
        for dtype in (np.float64, np.float32, np.float16, np.int32):
            if op == "mean" and dtype == np.int32:
                continue
            x = part(comm.rank, dtype=dtype)
            expected = whole([part(k, dtype=dtype).astype(np.float64) for k in range(comm.size)], axis=0)
            assert comm.allreduce(x, op) is x
            np.testing.assert_allclose(x, expected, rtol=4e-3 if dtype == np.float16 else 1e-5, atol=1e-5)


@on_ranks(2, 3)
def test_a_large_array_is_reduced_in_pieces_with_nothing_left_out(comm):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(abstract_mpi_communicator, "_PIECE", 4)
        for n in (0, 1, 4, 11):
            x = comm.allreduce(part(comm.rank, n))
            np.testing.assert_allclose(x, sum(part(k, n) for k in range(comm.size)), rtol=1e-5)


@on_ranks(2)
def test_arrays_that_are_not_contiguous_are_reduced_in_place(comm):
    whole = part(comm.rank, (4, 6))
    expected = part(0, (4, 6)) + part(1, (4, 6))
    comm.allreduce(whole.T[::2])
    np.testing.assert_allclose(whole[:, ::2], expected[:, ::2])
    np.testing.assert_array_equal(whole[:, 1::2], part(comm.rank, (4, 6))[:, 1::2])


@on_ranks(2, 3)
def test_reduce_changes_the_root_only(comm):
    x = part(comm.rank)
    result = comm.reduce(x, root=1)
    if comm.rank == 1:
        np.testing.assert_allclose(x, sum(part(k) for k in range(comm.size)), rtol=1e-5)
        assert result is x
    else:
        assert result is None
        np.testing.assert_array_equal(x, part(comm.rank))


@on_ranks(1, 2, 3)
def test_bcast_fills_an_array_or_makes_one(comm):
    root = comm.size - 1
    for given in (part(comm.rank, dtype=np.float16), part(comm.rank) if comm.rank == root else None):
        x = comm.bcast(given, root)
        np.testing.assert_array_equal(x, part(root).astype(x.dtype))


@on_ranks(1, 2, 3)
def test_gathered_arrays_may_have_different_shapes(comm):
    x = part(comm.rank, (comm.rank, 2))
    everyone = [part(k, (k, 2)) for k in range(comm.size)]
    gathered = comm.gather(x, comm.size - 1)
    assert (gathered is None) == (comm.rank != comm.size - 1)
    for found in (comm.allgather(x), gathered or everyone):
        for a, b in zip(found, everyone, strict=True):
            np.testing.assert_array_equal(a, b)


@on_ranks(1, 2, 3)
def test_alltoall_and_scatter_deliver_to_each_rank_its_own(comm):
    sent = [part(10 * comm.rank + k, (k + 1,)) for k in range(comm.size)]
    for k, x in enumerate(comm.alltoall(sent)):
        np.testing.assert_array_equal(x, part(10 * k + comm.rank, (comm.rank + 1,)))
    x = comm.scatter(sent if comm.rank == 0 else None)
    np.testing.assert_array_equal(x, part(comm.rank, (comm.rank + 1,)))


@on_ranks(2, 3)
def test_send_and_recv_carry_one_array_or_several(comm):
    following, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if comm.rank % 2 == 0:
        comm.send(part(comm.rank), following, tag=3)
        comm.send((part(comm.rank), part(7, (0,))), following)
    x, (y, z) = comm.recv(before, tag=3), comm.recv(before)
    if comm.rank % 2:
        comm.send(part(comm.rank), following, tag=3)
        comm.send((part(comm.rank), part(7, (0,))), following)
    np.testing.assert_array_equal(x, part(before))
    np.testing.assert_array_equal(y, part(before))
    assert z.shape == (0,)


@on_ranks(1, 2, 3)
def test_objects_travel_without_pickles(comm):
    mine = {"rank": comm.rank, "text": "é", "array": part(comm.rank), "list": [1, None, 2.5, True, b"x"]}
    everyone = comm.allgather_obj(mine)
    for k, each in enumerate(everyone):
        assert each["rank"] == k
        assert each["list"] == mine["list"]
        np.testing.assert_array_equal(each["array"], part(k))
    assert comm.bcast_obj(comm.rank, comm.size - 1) == comm.size - 1
    gathered = comm.gather_obj(comm.rank)
    assert gathered == (list(range(comm.size)) if comm.rank == 0 else None)
    assert comm.alltoall_obj([10 * comm.rank + k for k in range(comm.size)]) == [
        10 * k + comm.rank for k in range(comm.size)
    ]
    assert comm.scatter_obj(list("abc"[: comm.size]) if comm.rank == 0 else None) == "abc"[comm.rank]
    assert comm.allreduce_obj(comm.rank + 1) == sum(range(1, comm.size + 1))
    with pytest.raises(DtypeError, match="an object of type object cannot be sent"):
        comm.allgather_obj([object()])


@on_ranks(3)
def test_split_makes_communicators_of_the_ranks_with_one_color(comm):
    part_of = comm.split(comm.rank // 2, key=-comm.rank)
    assert part_of.size == (2 if comm.rank < 2 else 1)
    assert part_of.rank == (1 - comm.rank if comm.rank < 2 else 0)
    assert part_of.allreduce_obj(comm.rank) == (1 if comm.rank < 2 else 2)
    part_of.close()
    part_of.close()


@on_ranks(2, 3)
def test_mismatches_are_the_same_error_on_all_ranks(comm):
    last = comm.size - 1
    with pytest.raises(ShapeError, match=r"allreduce sum: .* differ: \(2,\) float32 on rank 0, \(3,\) float32 on rank"):
        comm.allreduce(np.zeros(3 if comm.rank == last else 2, np.float32))
    with pytest.raises(ShapeError, match=rf"different collectives: rank 0 barrier, rank {last} allgather"):
        comm.allgather(np.zeros(2)) if comm.rank == last else comm.barrier()
    with pytest.raises(ShapeError, match="the root, rank 0, passes no array"):
        comm.bcast(None)
    with pytest.raises(ShapeError, match="bcast: the arrays of the ranks differ"):
        comm.bcast(np.zeros(comm.rank + 1))


def net(n_out=2):
    return cvzoo.Sequential(L.Convolution2D(None, 3, 3), L.BatchNormalization(3), L.Linear(None, n_out))


@on_ranks(1, 2, 3)
def test_bcast_data_gives_all_ranks_the_values_of_the_lowest_that_has_them(comm):
    cvzoo.set_seed(comm.rank)
    model = net()
    if comm.rank:  # rank 0's layers have no values yet
        model(np.ones((1, 2, 4, 4), np.float32))
    comm.bcast_data(model)
    first = comm.bcast_obj({path: p.array for path, p in model.namedparams(False)}, min(1, comm.size - 1))
    for path, param in model.namedparams(False):
        np.testing.assert_array_equal(param.array, first[path])
    assert len(first) == (6 if comm.size > 1 else 4)


@on_ranks(2, 3)
def test_different_models_are_an_error_on_all_ranks_that_names_the_parameter(comm):
    model = net(4 if comm.rank == 1 else 2)
    model(np.ones((1, 2, 4, 4), np.float32))
    with pytest.raises(WeightsMismatchError, match=r"/2/W is \(2, 12\) float32 on rank 0, \(4, 12\) float32 on rank 1"):
        comm.bcast_data(model)
    model = cvzoo.Sequential(*([L.Linear(3, 2)] * (2 if comm.rank else 1)))
    with pytest.raises(WeightsMismatchError, match=r"/1/W is absent on rank 0, \(2, 3\) float32 on rank 1"):
        comm.allreduce_grad(model)


@on_ranks(1, 2, 3)
def test_gradients_are_averaged_where_any_rank_has_one(comm):
    a, b, c = (cvzoo.Parameter(np.zeros(2, np.float32)) for _ in range(3))
    model = cvzoo.Link(a=None)
    with model.init_scope():
        model.a, model.b, model.c = a, b, c
    a.grad = np.full(2, comm.rank, np.float32)
    if comm.rank == 0:
        b.grad = np.ones(2, np.float32)
    comm.allreduce_grad(model)
    np.testing.assert_allclose(a.grad, (comm.size - 1) / 2)
    np.testing.assert_allclose(b.grad, 1 / comm.size)
    assert c.grad is None


@on_ranks(1, 2, 3)
def test_running_statistics_are_averaged(comm):
    model = L.BatchNormalization(2)
    model.avg_mean[...] = comm.rank
    comm.allreduce_persistent(model)
    np.testing.assert_allclose(model.avg_mean, (comm.size - 1) / 2)


def test_one_process_needs_no_package():
    comm = create_communicator()
    assert isinstance(comm, NullCommunicator)
    x = np.ones(3)
    assert comm.allreduce(x) is x
    assert comm.reduce(x, "mean") is x
    assert comm.bcast(x) is x
    assert comm.gather(x) == comm.allgather(x) == comm.alltoall([x]) == (x,)
    assert comm.scatter([x]) is x
    assert comm.allgather_obj((1, 2)) == comm.gather_obj((1, 2)) == comm.alltoall_obj([(1, 2)]) == [[1, 2]]
    assert comm.bcast_obj("a") == comm.scatter_obj(["a"]) == "a"
    assert comm.allreduce_obj(3) == 3
    with comm as entered:
        assert entered.split(0) is comm
        comm.barrier()
        comm.bcast_data(net())
        comm.allreduce_grad(net())
        comm.allreduce_persistent(net())
    with pytest.raises(GraphError, match="send: there is no other rank"):
        comm.send(x, 0)
    with pytest.raises(ValueRangeError, match="there is no such rank"):
        comm.bcast(x, 1)
    with pytest.raises(ShapeError, match="scatter takes one value per rank"):
        comm.scatter([x, x])
    with pytest.raises(SystemExit, match="reason"):
        comm.abort("reason")


def test_unknown_names_are_refused():
    with pytest.raises(ValueRangeError, match="there is no communicator 'gloo'"):
        create_communicator("gloo")


@on_ranks(1)
def test_a_launcher_of_another_mpi_is_an_error(comm):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMI_SIZE", "4")
        with pytest.raises(BackendError, match="the launcher started 4 processes, but MPI sees one"):
            create_communicator()
    assert create_communicator("hierarchical").name == "hierarchical"
