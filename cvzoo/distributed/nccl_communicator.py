"""The communicator by NCCL: arrays on GPUs from GPU to GPU, the rest over MPI."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cvzoo.backends.device import Device
from cvzoo.backends.nccl import HINT, NCCL, bus_id, new_id, own_gpu, why_no_nccl
from cvzoo.distributed.abstract_mpi_communicator import AbstractMPICommunicator
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.errors.exceptions import BackendError, GraphError
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from mpi4py import MPI as mpi

Self = TypeVar("Self", bound="NCCLCommunicator")
_BY_GPU = 1  # of `_path`


class NCCLCommunicator(AbstractMPICommunicator):
    """The communicator by NCCL, with one GPU per rank; arrays in the CPU's memory and objects go over MPI.

    comm: mpi4py's communicator, which is duplicated; None: all processes of the launcher
    name: the name it was created by
    device: the GPU of this rank; None: that of its number on the machine, or the only one that the launcher shows it

    Collectives on GPU arrays are enqueued on the current stream: the CPU compares shapes with the other ranks, but does
    not wait for a GPU. Messages of `send` on GPUs are received in the order in which they were sent, whatever their
    tags.

    Raises BackendError on all ranks if one of them has no GPU or NCCL, or two of them have the same GPU;
    MissingExtraError without mpi4py.
    """

    def __init__(self, comm: "mpi.Intracomm | None" = None, *, name: str = "nccl", device: Device | None = None):
        self._ring: NCCL | None = None
        super().__init__(comm, name=name)
        try:
            self._device = gpu_of_rank(self, device)
        except BackendError:
            self.close()
            raise
        unique_id = self.bcast_obj(new_id() if self.rank == 0 else None)
        self._ring = NCCL(self.size, unique_id, self.rank, self._device)
        self._n_sent: Counter[int] = Counter()  # by rank
        self._n_received: Counter[int] = Counter()

    @property
    def nccl(self) -> NCCL:
        """The collectives of NCCL. Raises BackendError if the communicator is closed."""
        if self._ring is None:
            raise BackendError("the communicator is closed")
        return self._ring

    @property
    def device(self) -> Device:
        return self._device

    def split(self: Self, color: int, key: int = 0) -> Self:
        part = self._comm.Split(color, key)
        made = type(self)(part, name=self.name, device=self._device)
        part.Free()
        return made

    # --- arrays -----------------------------------------------------------------------------------------------------
    def _path(self, x: Array) -> int:
        return _BY_GPU if self._ring is not None and self._ring.owns(x) else 0

    def _empty(self, row: Sequence[Any]) -> Array:
        return self.nccl.empty(row[1], np.dtype(row[0])) if row[2] == _BY_GPU else super()._empty(row)

    def _allreduced(self, x: Array, op: str) -> Array:
        if not self._path(x):
            return super()._allreduced(x, op)
        flat = self.nccl.ascontiguous(x)
        with self._device:
            self.nccl.allreduce(flat, "sum" if op == "mean" else op)
            if op == "mean":
                flat /= self.size
            if flat is not x:
                x[...] = flat
        return x

    def _reduced(self, x: Array, op: str, root: int) -> Array | None:
        if not self._path(x):
            return super()._reduced(x, op, root)
        is_root = self.rank == root
        flat = self.nccl.ascontiguous(x)
        with self._device:
            self.nccl.reduce(flat, "sum" if op == "mean" else op, root, is_root)
            if not is_root:
                return None
            if op == "mean":
                flat /= self.size
            if flat is not x:
                x[...] = flat
        return x

    def _broadcasted(self, x: Array, root: int) -> Array:
        if not self._path(x):
            return super()._broadcasted(x, root)
        flat = self.nccl.ascontiguous(x)
        with self._device:
            self.nccl.broadcast(flat, root)
            if flat is not x:
                x[...] = flat
        return x

    def allgather_equal(self, x: Array) -> Array:
        return self.nccl.allgather(self.nccl.ascontiguous(x)) if self._path(x) else super().allgather_equal(x)

    def _transfer(self, sends: Sequence[tuple[Array, int]], receives: Sequence[tuple[Array, int]]) -> None:
        self._between_gpus(
            [(x, rank) for x, rank in sends if self._path(x)], [(x, rank) for x, rank in receives if self._path(x)]
        )
        super()._transfer(
            [(x, rank) for x, rank in sends if not self._path(x)],
            [(x, rank) for x, rank in receives if not self._path(x)],
        )

    def _between_gpus(self, sends: Sequence[tuple[Array, int]], receives: Sequence[tuple[Array, int]]) -> None:
        if sends or receives:
            self.nccl.transfer([(self.nccl.ascontiguous(x), rank) for x, rank in sends], receives)

    # --- messages between two ranks, of which NCCL has no tags --------------------------------------------------------
    def _count_sent(self, xs: Sequence[Array], dest: int) -> int:
        self._n_sent[dest] += any(self._path(x) for x in xs)
        return self._n_sent[dest]

    def _send(self, xs: Sequence[Array], dest: int, tag: int) -> None:
        self._between_gpus([(x, dest) for x in xs if self._path(x)], [])
        super()._send([x for x in xs if not self._path(x)], dest, tag)

    def _recv(self, results: Sequence[Array], source: int, tag: int, number: int) -> None:
        on_gpu = [x for x in results if self._path(x)]
        if on_gpu:
            self._n_received[source] += 1
            if number != self._n_received[source]:
                raise GraphError(
                    f"recv: rank {source} sent arrays on its GPU before these, which were not received yet",
                    hint="the same order of send and recv, or arrays in the CPU's memory, which have tags",
                )
            self._between_gpus([], [(x, source) for x in on_gpu])
        super()._recv([x for x in results if not self._path(x)], source, tag, number)

    # --- the end ----------------------------------------------------------------------------------------------------
    def close(self) -> None:
        if self._ring is not None:
            self._ring.close()
            self._ring = None
        super().close()


def gpu_of_rank(comm: AbstractCommunicator, device: Device | None = None) -> Device:
    """The GPU of this rank by NCCL: that of its number on the machine, or the only one that the launcher shows it.

    device: the GPU, if it is chosen already
    Raises BackendError on all ranks if one of them has no GPU or NCCL, or two of them have the same GPU.
    """
    reasons = comm.allgather_obj(why_no_nccl())
    for rank, reason in enumerate(reasons):
        if reason is not None:
            raise BackendError(f"rank {rank} cannot use NCCL: {reason}", hint=HINT)
    chosen = own_gpu(comm.intra_rank, comm.intra_size) if device is None else device
    first: dict[tuple[int, str], int] = {}
    for rank, (machine, address) in enumerate(comm.allgather_obj([comm.inter_rank, bus_id(chosen)])):
        other = first.setdefault((machine, address), rank)
        if other != rank:
            raise BackendError(
                f"ranks {other} and {rank} have the same GPU, {address}; NCCL needs one for each rank",
                hint='as many ranks per machine as it has GPUs, or create_communicator("mpi")',
            )
    return chosen
