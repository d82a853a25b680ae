"""cupy.cuda.nccl of CuPy 14, whose ranks are processes of MPI, each with a made-up GPU of its own.

Signatures and constants are CuPy's. A call is work of the stream that it names: it waits where streams run late, and is
recorded where they capture. What NCCL answers with a hang or with wrong numbers is an error: ranks whose calls differ,
memory of another device, buffers that are too short, a communicator that was destroyed, a group that is not closed.
"""

import json
import os
from types import ModuleType
from typing import Any

import numpy as np

from fake_gpu import memory
from fake_gpu.machine import FakeGpuError, machine

_ID_BYTES = 128
_TYPES = {
    0: "int8", 1: "uint8", 2: "int32", 3: "uint32", 4: "int64", 5: "uint64", 6: "float16", 7: "float32", 8: "float64",
}  # fmt: skip
_NAMES = {
    "NCCL_SUM": 0, "NCCL_PROD": 1, "NCCL_MAX": 2, "NCCL_MIN": 3, "NCCL_AVG": 4,
    "NCCL_INT8": 0, "NCCL_CHAR": 0, "NCCL_UINT8": 1, "NCCL_INT32": 2, "NCCL_INT": 2, "NCCL_UINT32": 3, "NCCL_INT64": 4,
    "NCCL_UINT64": 5, "NCCL_FLOAT16": 6, "NCCL_HALF": 6, "NCCL_FLOAT32": 7, "NCCL_FLOAT": 7, "NCCL_FLOAT64": 8,
    "NCCL_DOUBLE": 8, "NCCL_BFLOAT16": 9,
}  # fmt: skip
_REDUCES = {0: np.add, 1: np.multiply, 2: np.maximum, 3: np.minimum}
_WORDS = {4: "NCCL_ERROR_INVALID_ARGUMENT: invalid argument", 5: "NCCL_ERROR_INVALID_USAGE: invalid usage"}


class NcclError(RuntimeError):
    """CuPy's error; `status` is NCCL's number."""

    def __init__(self, status: int):
        self.status = status
        super().__init__(f"{_WORDS[status]} (run with NCCL_DEBUG=WARN for details)")


_open_groups: list[list[Any]] = []  # of this process: the calls of each


def get_unique_id() -> bytes:
    """128 bytes that no other call gives."""
    return os.urandom(_ID_BYTES)


def group_start() -> None:
    _open_groups.append([])


def group_end() -> None:
    """Enqueues the messages of the outermost group, all at the same time."""
    if not _open_groups:
        raise NcclError(5)
    calls = _open_groups.pop()
    if _open_groups:
        _open_groups[-1].extend(calls)
    elif calls:
        _enqueue_messages(calls)


class NcclCommunicator:
    """The group of processes that passed the same id."""

    def __init__(self, ndev: int, commId: bytes, rank: int, config: None = None):
        _check_integers(ndev=ndev, rank=rank)
        if not isinstance(commId, bytes):
            raise TypeError(f"Argument 'commId' has incorrect type (expected bytes, got {type(commId).__name__})")
        if len(commId) != _ID_BYTES:
            raise ValueError(f"commId length {len(commId)} != {_ID_BYTES}.")
        if not 0 <= rank < ndev:
            raise NcclError(4)
        from mpi4py import MPI

        self._size, self._rank, self._device = ndev, rank, machine().here.device
        # processes that passed the same id meet
        self._mpi = MPI.COMM_WORLD
        mine = [self._mpi.Get_rank(), rank, self._device]
        tag = int.from_bytes(commId[:2], "little") % 20_000 + 1_000
        token = commId.hex()
        for other in range(self._mpi.Get_size()):  # who takes part is not known here
            self._mpi.isend((token, mine), other, tag)
        found: dict[int, list[int]] = {}
        while len(found) < ndev:
            theirs, who = self._mpi.recv(tag=tag)
            if theirs == token:
                found[who[1]] = who
        devices = [device for *_, device in found.values()]
        if len(set(devices)) < len(devices):
            raise NcclError(5)  # "Duplicate GPU detected"
        group = self._mpi.Get_group().Incl([found[k][0] for k in range(ndev)])
        self._comm: Any = self._mpi.Create_group(group, tag)

    def _open(self) -> Any:
        if self._comm is None:
            raise FakeGpuError("a communicator of NCCL that was destroyed is used")
        return self._comm

    def destroy(self) -> None:
        self._comm = None

    abort = destroy

    def rank_id(self) -> int:
        self._open()
        return self._rank

    def size(self) -> int:
        self._open()
        return self._size

    def device_id(self) -> int:
        self._open()
        return self._device

    def check_async_error(self) -> None:
        self._open()

    # --- collectives ------------------------------------------------------------------------------------------------
    def _collective(
        self, what: list[Any], send: int, recv: int, sizes: tuple[int, int], stream: int, work: Any
    ) -> None:
        """Enqueues `work(bytes of the ranks by rank, own memory to write)`."""
        if _open_groups:
            raise NotImplementedError("the fake has no collectives in groups")
        _check_integers(send=send, recv=recv, stream=stream)
        comm = self._open()
        come, to = _device_bytes(send, sizes[0], self._device), _device_bytes(recv, sizes[1], self._device)

        def run() -> None:
            _agree(comm, what)
            everyone = np.empty((self._size, come.size), np.uint8)
            comm.Allgather(np.ascontiguousarray(come), everyone)
            work(everyone, to)

        machine().run(f"nccl {what[0]}", run, size=sizes[0], stream=stream)

    def allReduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int) -> None:
        dtype = _dtype(datatype, op)

        def work(everyone: np.ndarray, to: np.ndarray) -> None:
            to.view(dtype)[...] = _REDUCES[op].reduce(everyone.view(dtype), axis=0)

        size = count * dtype.itemsize
        self._collective(["allReduce", count, datatype, op], sendbuf, recvbuf, (size, size), stream, work)

    def reduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, root: int, stream: int) -> None:
        dtype = _dtype(datatype, op)
        self._check_rank(root)

        def work(everyone: np.ndarray, to: np.ndarray) -> None:
            if self._rank == root:
                to.view(dtype)[...] = _REDUCES[op].reduce(everyone.view(dtype), axis=0)

        size = count * dtype.itemsize
        self._collective(["reduce", count, datatype, op, root], sendbuf, recvbuf, (size, size), stream, work)

    def broadcast(self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int) -> None:
        self._check_rank(root)
        size = count * _dtype(datatype).itemsize

        def work(everyone: np.ndarray, to: np.ndarray) -> None:
            to[...] = everyone[root]

        self._collective(["broadcast", count, datatype, root], sendbuff, recvbuff, (size, size), stream, work)

    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None:
        size = count * _dtype(datatype).itemsize

        def work(everyone: np.ndarray, to: np.ndarray) -> None:
            to[...] = everyone.reshape(-1)

        self._collective(["allGather", count, datatype], sendbuf, recvbuf, (size, size * self._size), stream, work)

    # --- messages ---------------------------------------------------------------------------------------------------
    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._message("send", sendbuf, count, datatype, peer, stream)

    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None:
        self._message("recv", recvbuf, count, datatype, peer, stream)

    def _message(self, kind: str, address: int, count: int, datatype: int, peer: int, stream: int) -> None:
        _check_integers(buffer=address, stream=stream)
        self._check_rank(peer)
        data = _device_bytes(address, count * _dtype(datatype).itemsize, self._device)
        call = kind, self._open(), data, [count, datatype], peer, stream
        if _open_groups:
            _open_groups[-1].append(call)
        else:
            _enqueue_messages([call])

    def _check_rank(self, rank: int) -> None:
        _check_integers(rank=rank)
        if not 0 <= rank < self._size:
            raise NcclError(4)


_TAG = 7_000


def _enqueue_messages(calls: list[Any]) -> None:
    """Enqueues messages that are sent and received at the same time."""
    streams = {call[5] for call in calls}
    if len(streams) != 1:
        raise NotImplementedError("the fake has groups of one stream")

    def run() -> None:
        requests, expected = [], []
        for kind, comm, data, what, peer, _ in calls:
            if kind == "send":
                head = np.frombuffer(json.dumps(what).ljust(64).encode(), np.uint8)
                requests += [comm.Isend(head, peer, _TAG), comm.Isend(np.ascontiguousarray(data), peer, _TAG)]
        for kind, comm, data, what, peer, _ in calls:
            if kind == "recv":
                head = np.empty(64, np.uint8)
                comm.Recv(head, peer, _TAG)
                expected.append((what, json.loads(head.tobytes())))
                if expected[-1][0] != expected[-1][1]:
                    raise FakeGpuError(f"NCCL would hang: recv of {what}, but rank {peer} sends {expected[-1][1]}")
                buffer = np.empty_like(data)
                comm.Recv(buffer, peer, _TAG)
                data[...] = buffer
        for request in requests:
            request.Wait()

    machine().run("nccl messages", run, size=sum(call[2].size for call in calls), stream=streams.pop())


# --- checks ---------------------------------------------------------------------------------------------------------
def _check_integers(**values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, int | np.integer):
            raise TypeError(f"{name}: an integer is required, got {type(value).__name__}")


def _dtype(datatype: int, op: int | None = None) -> np.dtype:
    _check_integers(datatype=datatype, op=0 if op is None else op)
    if datatype not in _TYPES or not (op is None or op in _REDUCES):
        raise NcclError(4)
    return np.dtype(_TYPES[datatype])


def _device_bytes(address: int, size: int, device: int) -> np.ndarray:
    """Memory of the device. Raises FakeGpuError if some of it belongs to something else."""
    for block in list(machine().memory):
        if block.ptr <= address and address + size <= block.ptr + block.size:
            if block.device_id != device:
                raise FakeGpuError(f"NCCL's buffer is on device {block.device_id}, its communicator on {device}")
            return memory.host_bytes(address, size)
    raise FakeGpuError(f"{size} bytes at {address:#x} are not in one block of a device")


def _agree(comm: Any, what: list[Any]) -> None:
    """Raises FakeGpuError on all ranks whose calls differ."""
    everyone = comm.allgather(what)
    if any(each != everyone[0] for each in everyone):
        raise FakeGpuError(f"NCCL would hang: the ranks call {everyone}")


def nccl_module() -> ModuleType:
    """Stands for cupy.cuda.nccl."""
    made = ModuleType("cupy.cuda.nccl")
    made.available = True
    made.NcclError, made.NcclCommunicator = NcclError, NcclCommunicator
    made.get_unique_id, made.groupStart, made.groupEnd = get_unique_id, group_start, group_end
    made.get_version = lambda: 22907
    for name, value in _NAMES.items():
        setattr(made, name, value)
    return made
