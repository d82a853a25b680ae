"""NCCL's collectives on arrays of the GPU of this process, by CuPy."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from cvzoo.backends.arrays import device_address, device_number, is_device_array
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.device import Device, gpu_count
from cvzoo.errors.exceptions import BackendError, DtypeError
from cvzoo.typing.aliases import Array

HINT = 'pip install "nvidia-nccl-cu13>=2.27,<3", or "nvidia-nccl-cu12>=2.27,<3" for CUDA 12'
# ncclDataType_t and ncclRedOp_t, whose values are a part of NCCL's binary interface
_DTYPES = {"int8": 0, "uint8": 1, "int32": 2, "uint32": 3, "int64": 4, "uint64": 5, "float32": 7, "float64": 8}
_UINT8 = 1
_OPERATIONS = {"sum": 0, "max": 2, "min": 3}
# sums of 16-bit floats are made in float32 as everywhere; NCCL has no integers of 16 bits
_WIDE = {"float16": "float32", "bfloat16": "float32", "int16": "int32", "uint16": "uint32"}


class NcclCommunicator(Protocol):
    """cupy.cuda.nccl.NcclCommunicator; buffers and streams are addresses."""

    def allReduce(self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, stream: int) -> None: ...
    def reduce(
        self, sendbuf: int, recvbuf: int, count: int, datatype: int, op: int, root: int, stream: int
    ) -> None: ...
    def broadcast(self, sendbuff: int, recvbuff: int, count: int, datatype: int, root: int, stream: int) -> None: ...
    def allGather(self, sendbuf: int, recvbuf: int, count: int, datatype: int, stream: int) -> None: ...
    def send(self, sendbuf: int, count: int, datatype: int, peer: int, stream: int) -> None: ...
    def recv(self, recvbuf: int, count: int, datatype: int, peer: int, stream: int) -> None: ...
    def check_async_error(self) -> None: ...
    def destroy(self) -> None: ...


class NcclModule(Protocol):
    """cupy.cuda.nccl."""

    NcclError: type[Exception]

    def NcclCommunicator(self, ndev: int, commId: bytes, rank: int) -> NcclCommunicator: ...
    def get_unique_id(self) -> bytes: ...
    def groupStart(self) -> None: ...
    def groupEnd(self) -> None: ...


def why_no_nccl() -> str | None:
    """Why NCCL cannot be used here, or None if it can."""
    reason = why_no_cupy()
    if reason is not None:
        return reason
    import cupy.cuda.nccl as module

    return None if module.available else "the library of NCCL cannot be loaded"


def _module() -> NcclModule:
    import cupy.cuda.nccl as module

    found: Any = module
    return found


def new_id() -> bytes:
    """(128,) bytes that one process makes and all of them pass to `NCCL`."""
    return _module().get_unique_id()


def own_gpu(number: int, count: int) -> Device:
    """The GPU of the process `number` of the `count` ones of this machine; a launcher may show each only its own."""
    found = gpu_count()
    return Device(number if count <= found else number % found)


def bus_id(device: Device) -> str:
    """The address of a GPU on its machine's bus, which is the same for all processes."""
    runtime: Any = cupy().cuda.runtime
    return str(runtime.deviceGetPCIBusId(device.index))


class NCCL:
    """The collectives of a group of processes; each is enqueued on the current stream, without synchronization.

    size, rank: number of processes, and of this one
    unique_id: of `new_id`, the same in all processes
    device: the GPU of this process, which no other one may have

    Arrays are in C order. Raises BackendError if NCCL refuses.
    Source: NVIDIA's Collective Communication Library. Where we differ: sums of 16-bit floats are made in float32.
    """

    def __init__(self, size: int, unique_id: bytes, rank: int, device: Device):
        self.device = device
        self.size, self.rank = size, rank
        self._nccl = _module()
        with device:
            self._comm: NcclCommunicator | None = self._call(lambda: self._nccl.NcclCommunicator(size, unique_id, rank))

    def owns(self, array: object) -> bool:
        """Whether `array` is on a GPU. Raises BackendError if it is on a GPU of another process."""
        if not is_device_array(array):
            return False
        if device_number(array) != self.device.index:
            raise BackendError(
                f"the array is on gpu:{device_number(array)}, but this rank sends those of {self.device.name}",
                hint="model.to_device(comm.device)",
            )
        return True

    def empty(self, shape: Sequence[int], dtype: Any) -> Array:
        """A new array on the GPU."""
        with self.device:
            return cupy().empty(tuple(shape), dtype)

    def ascontiguous(self, array: Array) -> Array:
        """The array in C order, of the same shape."""
        with self.device:
            return array if array.flags.c_contiguous else array.astype(array.dtype, order="C")

    # --- collectives ------------------------------------------------------------------------------------------------
    def allreduce(self, x: Array, op: str) -> None:
        """Replaces `x` by its "sum", "max" or "min" over the processes."""
        self._reduce(x, op, lambda comm, *words: comm.allReduce(*words))

    def reduce(self, x: Array, op: str, root: int, is_root: bool) -> None:
        """As `allreduce`, of the root's array alone."""

        def call(comm: NcclCommunicator, send: int, recv: int, count: int, dtype: int, code: int, stream: int) -> None:
            comm.reduce(send, recv, count, dtype, code, root, stream)

        self._reduce(x, op, call, is_written=is_root)

    def _reduce(self, x: Array, op: str, call: Callable[..., None], is_written: bool = True) -> None:
        with self.device:
            wide = x.astype(_WIDE[x.dtype.name]) if x.dtype.name in _WIDE else x
            dtype, count = _numbers(wide, op)
            address = device_address(wide)
            self._run(lambda comm, stream: call(comm, address, address, count, dtype, _OPERATIONS[op], stream))
            if wide is not x and is_written:
                x[...] = wide.astype(x.dtype)

    def broadcast(self, x: Array, root: int) -> None:
        """Replaces `x` by the root's."""
        address = device_address(x)
        self._run(lambda comm, stream: comm.broadcast(address, address, x.nbytes, _UINT8, root, stream))

    def allgather(self, x: Array) -> Array:
        """(size, ...): the arrays of all processes, of the same shape and dtype."""
        everyone = self.empty((self.size, *x.shape), x.dtype)
        send, recv = device_address(x), device_address(everyone)
        self._run(lambda comm, stream: comm.allGather(send, recv, x.nbytes, _UINT8, stream))
        return everyone

    def transfer(self, sends: Iterable[tuple[Array, int]], receives: Iterable[tuple[Array, int]]) -> None:
        """Sends arrays to processes, and receives into arrays from processes, all at the same time."""
        to = [(device_address(x), x.nbytes, peer) for x, peer in sends if x.nbytes]
        come = [(device_address(x), x.nbytes, peer) for x, peer in receives if x.nbytes]

        def call(comm: NcclCommunicator, stream: int) -> None:
            self._nccl.groupStart()
            try:
                for address, nbytes, peer in to:
                    comm.send(address, nbytes, _UINT8, peer, stream)
                for address, nbytes, peer in come:
                    comm.recv(address, nbytes, _UINT8, peer, stream)
            finally:
                self._nccl.groupEnd()

        if to or come:
            self._run(call)

    # --- state ------------------------------------------------------------------------------------------------------
    def check(self) -> None:
        """Raises BackendError for an error of an earlier collective, such as a connection that was lost."""
        if self._comm is not None:
            self._call(self._comm.check_async_error)

    def close(self) -> None:
        """Frees the group, after what was enqueued; may be called repeatedly."""
        if self._comm is not None:
            self.device.synchronize()
            self._comm.destroy()
            self._comm = None

    def _run(self, call: Callable[[NcclCommunicator, int], None]) -> None:
        comm = self._comm
        if comm is None:
            raise BackendError("the communicator is closed")
        with self.device:
            stream = cupy().cuda.get_current_stream().ptr
            self._call(lambda: call(comm, stream))

    def _call(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._nccl.NcclError as error:
            raise BackendError(f"NCCL on {self.device.name}: {error}", hint="NCCL_DEBUG=WARN says more") from error


def _numbers(x: Array, op: str) -> tuple[int, int]:
    """NCCL's number of the dtype, and the number of elements; a complex one is two floats."""
    if x.dtype.kind == "c" and op == "sum":
        return _DTYPES[f"float{x.dtype.itemsize * 4}"], 2 * x.size
    if x.dtype.name not in _DTYPES:
        raise DtypeError(f"NCCL has no {op} of this dtype", expected=", ".join([*_DTYPES, *_WIDE]), got=x.dtype.name)
    return _DTYPES[x.dtype.name], x.size


class SideStream:
    """A stream next to the current one of a GPU, for what may run meanwhile.

    device: the GPU
    """

    def __init__(self, device: Device):
        self._device = device
        with device:
            # blocking streams would wait for the default one
            self._stream = cupy().cuda.Stream(non_blocking=True)
            self._begin = cupy().cuda.Event(disable_timing=True)
            self._end = cupy().cuda.Event(disable_timing=True)

    def run(self, work: Callable[[], object]) -> None:
        """Enqueues the work after what the current stream has by now."""
        with self._device:
            self._begin.record(cupy().cuda.get_current_stream())
            self._stream.wait_event(self._begin)
            with self._stream:
                work()

    def join(self) -> None:
        """Makes the current stream continue after the work; the CPU does not wait."""
        with self._device:
            self._end.record(self._stream)
            cupy().cuda.get_current_stream().wait_event(self._end)

    def synchronize(self) -> None:
        """Returns when the work is done."""
        with self._device:
            self._stream.synchronize()
