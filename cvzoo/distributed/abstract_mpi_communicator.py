"""What communicators over MPI share: ranks, agreement on messages, and messages in the CPU's memory."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.device import device_of
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.messages import decode, encode
from cvzoo.distributed.null_communicator import check_one_per_rank, check_root
from cvzoo.distributed.waiting import wait_for, wait_for_all
from cvzoo.errors.exceptions import DtypeError, MissingExtraError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from mpi4py import MPI as mpi

Self = TypeVar("Self", bound="AbstractMPICommunicator")
OPERATIONS = ("sum", "max", "min", "mean")
_HEADER = 160  # bytes of what the ranks compare before a collective
# elements of one message of an allreduce: 100 MB at once took three ranks on two cores 1.6 times as long as in pieces
_PIECE = 1 << 22
_TAG = 32_000  # of the messages of collectives; users' are mostly small


def import_mpi() -> Any:
    """mpi4py's module MPI. Raises MissingExtraError if mpi4py or an MPI library is not installed."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(f"MPI cannot be imported: {error}", hint='pip install "cvzoo[mpi]"') from error
    return MPI


class AbstractMPICommunicator(AbstractCommunicator):
    """Base class of communicators over MPI: any MPI that mpi4py finds, the wheel `mpich` or a cluster's own.

    comm: mpi4py's communicator, which is duplicated; None: all processes of the launcher
    name: the name it was created by

    Arrays on a GPU are sent through the CPU's memory where a subclass has no other way.
    Raises MissingExtraError without mpi4py.
    """

    def __init__(self, comm: "mpi.Intracomm | None" = None, *, name: str = "mpi"):
        self._mpi = import_mpi()
        self.name = name
        self._comm: Any = (self._mpi.COMM_WORLD if comm is None else comm).Dup()
        self._rank, self._size = self._comm.Get_rank(), self._comm.Get_size()
        intra = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED)
        self._intra_rank, self._intra_size = intra.Get_rank(), intra.Get_size()
        first = np.array([self._rank])
        intra.Bcast(first)
        intra.Free()
        firsts = np.empty(self._size, first.dtype)
        self._comm.Allgather(first, firsts)
        machines = sorted({int(each) for each in firsts})
        self._inter_rank, self._inter_size = machines.index(int(first[0])), len(machines)

    @property
    def rank(self) -> int:
        return self._rank

    @property
    def size(self) -> int:
        return self._size

    @property
    def intra_rank(self) -> int:
        return self._intra_rank

    @property
    def intra_size(self) -> int:
        return self._intra_size

    @property
    def inter_rank(self) -> int:
        return self._inter_rank

    @property
    def inter_size(self) -> int:
        return self._inter_size

    def split(self: Self, color: int, key: int = 0) -> Self:
        part = self._comm.Split(color, key)
        made = type(self)(part, name=self.name)
        part.Free()
        return made

    def duplicate(self) -> "mpi.Intracomm":
        """mpi4py's communicator of the same ranks, whose messages do not meet those of this one."""
        return self._comm.Dup()

    # --- agreement --------------------------------------------------------------------------------------------------
    def _meet(self, what: str, x: Array | None, equal: bool = False) -> list[list[Any]]:
        """[operation, dtype, shape, `_path`] of all ranks. Raises the same ShapeError on all if operations differ, or,
        with `equal`, rows."""
        mine = [what, None, None, 0] if x is None else [what, *self._row(x)]
        data = np.zeros(_HEADER, np.uint8)
        text = msgspec.json.encode(mine)
        if len(text) > _HEADER:
            raise ShapeError(f"{what}: the array has too many axes", got=x.shape if x is not None else None)
        data[: len(text)] = np.frombuffer(text, np.uint8)
        everyone = np.empty((self.size, _HEADER), np.uint8)
        wait_for(self._comm.Iallgather(data, everyone).Test)
        rows = [msgspec.json.decode(bytes(row).rstrip(b"\0")) for row in everyone]
        for rank, row in enumerate(rows):
            if row[0] != rows[0][0]:
                raise ShapeError(f"the ranks call different collectives: rank 0 {rows[0][0]}, rank {rank} {row[0]}")
            if equal and row != rows[0]:
                raise ShapeError(
                    f"{what}: the arrays of the ranks differ: {_text(rows[0])} on rank 0, {_text(row)} on rank {rank}"
                )
        return rows

    def _row(self, x: Array) -> list[Any]:
        """[dtype, shape, `_path`] of an array, as another rank needs them to receive it."""
        return [np.dtype(x.dtype).str, x.shape, self._path(x)]

    def _path(self, x: Array) -> int:
        """How an array is sent: 0, by MPI, unless a subclass has another way."""
        return 0

    # --- arrays -----------------------------------------------------------------------------------------------------
    def allreduce(self, x: Array, op: str = "sum") -> Array:
        check_reducible(x, op)
        self._meet(f"allreduce {op}", x, equal=True)
        return self._allreduced(x, op)

    def _allreduced(self, x: Array, op: str) -> Array:
        """`allreduce` after the ranks agreed."""
        return self._in_place(x, lambda flat: self._allreduce(flat, op))

    def _allreduce(self, flat: np.ndarray, op: str) -> None:
        wide = flat.astype(np.float32) if flat.dtype.itemsize == 2 and flat.dtype.kind not in "iu" else flat
        for start in range(0, max(wide.size, 1), _PIECE):
            piece = wide[start : start + _PIECE]
            wait_for(self._comm.Iallreduce(self._mpi.IN_PLACE, piece, self._operation(op)).Test)
        if op == "mean":
            wide *= wide.dtype.type(1 / self.size)
        if wide is not flat:
            flat[...] = wide

    def reduce(self, x: Array, op: str = "sum", root: int = 0) -> Array | None:
        check_reducible(x, op)
        check_root(root, self.size)
        self._meet(f"reduce {op} to {root}", x, equal=True)
        return self._reduced(x, op, root)

    def _reduced(self, x: Array, op: str, root: int) -> Array | None:
        """`reduce` after the ranks agreed."""
        total = np.array(to_numpy(x), np.float32 if x.dtype == np.float16 else None, order="C")
        if self.rank != root:
            wait_for(self._comm.Ireduce(total, None, self._operation(op), root).Test)
            return None
        wait_for(self._comm.Ireduce(self._mpi.IN_PLACE, total, self._operation(op), root).Test)
        x[...] = device_of(x).asarray(total / self.size if op == "mean" else total)
        return x

    def _operation(self, op: str) -> Any:
        return {"sum": self._mpi.SUM, "mean": self._mpi.SUM, "max": self._mpi.MAX, "min": self._mpi.MIN}[op]

    def bcast(self, x: Array | None = None, root: int = 0) -> Array:
        check_root(root, self.size)
        rows = self._meet(f"bcast from {root}", x)
        if rows[root][1] is None:
            raise ShapeError(f"bcast: the root, rank {root}, passes no array")
        for rank, row in enumerate(rows):
            if row[1] is not None and row != rows[root]:
                raise ShapeError(
                    f"bcast: the arrays of the ranks differ: {_text(rows[root])} on rank {root}, "
                    f"{_text(row)} on rank {rank}"
                )
        return self._broadcasted(self._empty(rows[root][1:]) if x is None else x, root)

    def _broadcasted(self, x: Array, root: int) -> Array:
        """`bcast` after the ranks agreed."""
        return self._in_place(x, lambda flat: wait_for(self._comm.Ibcast(flat.view(np.uint8), root).Test))

    def gather(self, x: Array, root: int = 0) -> tuple[Array, ...] | None:
        check_root(root, self.size)
        rows = self._meet(f"gather to {root}", x)
        if self.rank != root:
            self._transfer([(x, root)], [])
            return None
        results = [self._empty(row[1:]) for row in rows]
        self._transfer([], [(result, rank) for rank, result in enumerate(results) if rank != root])
        results[root] = x.copy()
        return tuple([device_of(x).asarray(each) for each in results])

    def allgather(self, x: Array) -> tuple[Array, ...]:
        results = [self._empty(row[1:]) for row in self._meet("allgather", x)]
        return self._exchanged([x] * self.size, results)

    def allgather_equal(self, x: Array) -> Array:
        host = np.ascontiguousarray(to_numpy(x))
        everyone = np.empty((self.size, *x.shape), x.dtype)
        wait_for(self._comm.Iallgather(host.view(np.uint8), everyone.view(np.uint8)).Test)
        return device_of(x).asarray(everyone)

    def alltoall(self, xs: Sequence[Array]) -> tuple[Array, ...]:
        check_one_per_rank("alltoall", xs, self.size)
        rows = self.alltoall_obj([self._row(x) for x in xs])
        return self._exchanged(xs, [self._empty(row) for row in rows])

    def _exchanged(self, xs: Sequence[Array], results: list[Array]) -> tuple[Array, ...]:
        """The arrays that the ranks sent to this one, received into `results`; `xs[r]` is sent to rank r."""
        others = [rank for rank in range(self.size) if rank != self.rank]
        self._transfer([(xs[rank], rank) for rank in others], [(results[rank], rank) for rank in others])
        results[self.rank] = xs[self.rank].copy()
        return tuple([device_of(xs[0]).asarray(each) for each in results])

    def _transfer(self, sends: Sequence[tuple[Array, int]], receives: Sequence[tuple[Array, int]]) -> None:
        """Sends arrays to ranks, and receives into new arrays from ranks, all at the same time."""
        requests = [self._comm.Irecv(_bytes(x), rank, _TAG) for x, rank in receives]
        requests += [self._comm.Isend(_bytes(x), rank, _TAG) for x, rank in sends]
        wait_for_all(requests)

    def _empty(self, row: Sequence[Any]) -> Array:
        """A new array for what has the row of `_row`."""
        return np.empty(tuple(row[1]), np.dtype(row[0]))

    def scatter(self, xs: Sequence[Array] | None = None, root: int = 0) -> Array:
        check_root(root, self.size)
        if self.rank == root:
            check_one_per_rank("scatter", xs, self.size)
        row = self.scatter_obj(xs and [self._row(x) for x in xs], root)
        if xs is None or self.rank != root:
            result = self._empty(row)
            self._transfer([], [(result, root)])
            return result
        self._transfer([(x, rank) for rank, x in enumerate(xs) if rank != root], [])
        return xs[root]

    def send(self, x: Array | Sequence[Array], dest: int, tag: int = 0) -> None:
        check_root(dest, self.size)
        is_one = not isinstance(x, tuple | list)
        xs: Sequence[Any] = [x] if is_one else x  # type: ignore[assignment]
        self.send_obj([is_one, self._count_sent(xs, dest), [self._row(each) for each in xs]], dest, tag)
        self._send(xs, dest, tag)

    def _send(self, xs: Sequence[Array], dest: int, tag: int) -> None:
        for each in xs:
            wait_for(self._comm.Isend(_bytes(each), dest, tag).Test)

    def _count_sent(self, xs: Sequence[Array], dest: int) -> int:
        """The number of the message among those to `dest` that have no tags; 0 by MPI, which has them."""
        return 0

    def recv(self, source: int, tag: int = 0) -> Array | tuple[Array, ...]:
        is_one, number, rows = self.recv_obj(source, tag)
        results = tuple([self._empty(row) for row in rows])
        self._recv(results, source, tag, number)
        return results[0] if is_one else results

    def _recv(self, results: Sequence[Array], source: int, tag: int, number: int) -> None:
        for result in results:
            wait_for(self._comm.Irecv(_bytes(result), source, tag).Test)

    def barrier(self) -> None:
        self._meet("barrier", None)

    def _in_place(self, x: Array, collective: Callable[[np.ndarray], object]) -> Array:
        """`x` after the collective was called with its elements, (N,) in C order."""
        host = to_numpy(x)
        flat = host.reshape(-1) if host.flags.c_contiguous else host.flatten()
        collective(flat)
        if flat.base is None or not np.shares_memory(flat, host) or host is not x:
            x[...] = device_of(x).asarray(flat.reshape(x.shape))
        return x

    # --- objects ----------------------------------------------------------------------------------------------------
    def bcast_obj(self, value: Any = None, root: int = 0) -> Any:
        check_root(root, self.size)
        data = np.frombuffer(encode(value), np.uint8) if self.rank == root else None
        return decode(self.bcast(None if data is None else data.copy(), root).tobytes())

    def gather_obj(self, value: Any, root: int = 0) -> list[Any] | None:
        arrays = self.gather(np.frombuffer(encode(value), np.uint8), root)
        return None if arrays is None else [decode(each.tobytes()) for each in arrays]

    def allgather_obj(self, value: Any) -> list[Any]:
        return [decode(each.tobytes()) for each in self.allgather(np.frombuffer(encode(value), np.uint8))]

    def alltoall_obj(self, values: Sequence[Any]) -> list[Any]:
        check_one_per_rank("alltoall_obj", values, self.size)
        self._meet("alltoall", None)
        sent = [np.frombuffer(encode(value), np.uint8) for value in values]
        lengths = np.array([len(each) for each in sent])
        theirs = np.empty_like(lengths)
        wait_for(self._comm.Ialltoall(lengths, theirs).Test)
        results = [np.empty(int(length), np.uint8) for length in theirs]
        return [decode(each.tobytes()) for each in self._exchanged(sent, list(results))]

    def scatter_obj(self, values: Sequence[Any] | None = None, root: int = 0) -> Any:
        check_root(root, self.size)
        if self.rank == root:
            check_one_per_rank("scatter_obj", values, self.size)
        self._meet(f"scatter from {root}", None)
        if values is None or self.rank != root:
            return self.recv_obj(root, _TAG)
        for rank, value in enumerate(values):
            if rank != root:
                self.send_obj(value, rank, _TAG)
        return decode(encode(values[root]))

    def send_obj(self, value: Any, dest: int, tag: int = 0) -> None:
        check_root(dest, self.size)
        wait_for(self._comm.Isend(np.frombuffer(encode(value), np.uint8), dest, tag).Test)

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        check_root(source, self.size)
        status = self._mpi.Status()
        message = wait_for(lambda: self._comm.Improbe(source, tag, status))
        data = np.empty(status.Get_count(self._mpi.BYTE), np.uint8)
        wait_for(message.Irecv(data).Test)
        return decode(data.tobytes())

    # --- the end ----------------------------------------------------------------------------------------------------
    def abort(self, reason: str) -> None:
        print(f"rank {self.rank} of {self.size} aborts: {reason}", file=sys.stderr, flush=True)
        time.sleep(0.2)  # mpiexec forwards output by another connection, and drops the rest when the abort reaches it
        self._mpi.COMM_WORLD.Abort(1)

    def close(self) -> None:
        if self._comm is not None:
            self._comm.Free()
            self._comm = None


def check_reducible(x: Array, op: str) -> None:
    """Raises ValueRangeError for an unknown operation, DtypeError for arrays without a sum."""
    if op not in OPERATIONS:
        raise ValueRangeError(f"unknown operation {op!r}", expected=", ".join(OPERATIONS))
    allowed = "f" if op == "mean" else "iufc"
    if x.dtype.kind not in allowed and x.dtype.name != "bfloat16":
        raise DtypeError(f"arrays of this dtype have no {op} over ranks", expected="numbers", got=str(x.dtype))


def _bytes(x: Array) -> np.ndarray:
    return np.ascontiguousarray(to_numpy(x)).reshape(-1).view(np.uint8)


def _text(row: Sequence[Any]) -> str:
    if row[1] is None:
        return "no array"
    return f"{tuple(row[2])} {np.dtype(row[1])}{' on a GPU' if row[3] else ''}"
