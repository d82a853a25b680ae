"""Sums over ranks while this process computes: a thread that posts messages and keeps them moving."""

import collections
import queue
import threading
import time
from typing import Any

import numpy as np

from cvzoo.backends.nccl import SideStream
from cvzoo.distributed.abstract_mpi_communicator import AbstractMPICommunicator, import_mpi
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.nccl_communicator import NCCLCommunicator
from cvzoo.distributed.timeline import Timeline
from cvzoo.distributed.waiting import wait_for
from cvzoo.distributed.wire import allreduce_in_16_bits, allreduce_in_16_bits_on_gpus
from cvzoo.typing.aliases import Array

# MPI makes progress only while it is called. A thread that calls and sleeps hides more of the communication than one
# that blocks, which takes a CPU core from the computation.
_SLEEP = 0.0002  # seconds
_PATIENCE = 10.0  # seconds, for ranks that still send when this one ends


class Sender:
    """Sums arrays over all ranks in the order of the calls of `add`, which must be the same on all ranks.

    overlap: in a thread of its own, while the caller computes; False: in `wait`, or where MPI allows no threads
    wire_dtype: "float16" or "bfloat16", of messages; None: the arrays' own
    timeline: where the times of messages are written, or None
    """

    def __init__(
        self,
        comm: AbstractCommunicator,
        *,
        overlap: bool,
        wire_dtype: str | None,
        timeline: Timeline | None = None,
    ):
        self._size = comm.size
        self._wire_dtype = wire_dtype
        self._timeline = timeline
        self._begun: collections.deque[tuple[float, int]] = collections.deque()  # of messages on their way: time, bytes
        self._tasks: queue.SimpleQueue[tuple[np.ndarray, bool] | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._open = 0
        self._done = threading.Condition()
        self._thread: threading.Thread | None = None
        self._comm: Any = None
        self._on_gpus: _SenderOnGPUs | None = None
        if not isinstance(comm, AbstractMPICommunicator) or comm.size == 1:
            return
        if isinstance(comm, NCCLCommunicator):
            self._on_gpus = _SenderOnGPUs(comm, wire_dtype, timeline)
        self._mpi = import_mpi()
        self._comm = comm.duplicate()
        if overlap and self._mpi.Query_thread() == self._mpi.THREAD_MULTIPLE:
            self._thread = threading.Thread(target=self._work, name="cvzoo gradients", daemon=True)
            self._thread.start()

    def add(self, array: Array, *, exact: bool = False) -> None:
        """Sums `array`, (N,), in place; it may be read after `wait`. `exact`: not in 16 bits."""
        if self._comm is None or (self._on_gpus is not None and self._on_gpus.takes(array)):
            return
        with self._done:
            self._open += 1
        self._tasks.put((array, exact))

    def wait(self) -> None:
        """Returns when all arrays are summed, or, on a GPU, will be before what is enqueued next.

        Raises the error of the thread, if any, BackendError if NCCL has one.
        """
        if self._on_gpus is not None:
            self._on_gpus.wait()
        if self._thread is None:
            while self._open:
                self._finish(self._post(self._tasks.get()))
            return
        with self._done:
            self._done.wait_for(lambda: self._open == 0 or self._error is not None)
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Ends the thread, after what it is sending."""
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join(_PATIENCE)
            self._thread = None

    def _work(self) -> None:
        requests: list[tuple[Any, Any]] = []
        try:
            while True:
                if not requests or not self._tasks.empty():
                    task = self._tasks.get()
                    if task is None:
                        for request, _ in requests:
                            self._finish(request)
                        return
                    requests.append((self._post(task), task))  # its array, which MPI writes into, stays referenced
                    del task
                elif requests[0][0].Test():
                    self._finish(requests.pop(0)[0])
                else:
                    time.sleep(_SLEEP)
        except BaseException as error:
            with self._done:
                self._error = error
                self._done.notify_all()

    def _post(self, task: "tuple[np.ndarray, bool] | None") -> Any:
        assert task is not None
        array, exact = task
        self._begun.append((time.perf_counter(), array.nbytes))
        if self._wire_dtype is None or exact:
            return self._comm.Iallreduce(self._mpi.IN_PLACE, array)
        allreduce_in_16_bits(self._comm, array, self._wire_dtype, self._poll)
        return self._mpi.REQUEST_NULL

    def _poll(self, request: Any) -> None:
        while not request.Test():
            time.sleep(_SLEEP)

    def _finish(self, request: Any) -> None:
        wait_for(request.Test)
        begin, nbytes = self._begun.popleft()
        if self._timeline is not None:
            self._timeline.add("wire", f"{nbytes:,} bytes", begin, time.perf_counter())
        with self._done:
            self._open -= 1
            if not self._open:
                self._done.notify_all()


class _SenderOnGPUs:
    """Sums arrays on GPUs, on a stream of its own; the CPU does not wait, unless there is a timeline."""

    def __init__(self, comm: NCCLCommunicator, wire_dtype: str | None, timeline: Timeline | None):
        self._nccl = comm.nccl
        self._wire_dtype = wire_dtype
        self._timeline = timeline
        self._stream = SideStream(comm.device)
        self._begun: tuple[float, int] | None = None  # of the first message on its way: time; bytes of all

    def takes(self, array: Array) -> bool:
        """Whether the array is on the GPU, and thus is summed after what computes it."""
        if not self._nccl.owns(array):
            return False
        begun, nbytes = self._begun or (time.perf_counter(), 0)
        self._begun = begun, nbytes + array.nbytes
        if self._wire_dtype is None:
            self._stream.run(lambda: self._nccl.allreduce(array, "sum"))
        else:
            name = self._wire_dtype
            self._stream.run(lambda: allreduce_in_16_bits_on_gpus(self._nccl, array, name))
        return True

    def wait(self) -> None:
        """Makes the current stream continue after the sums."""
        if self._begun is None:
            return
        self._stream.join()
        self._nccl.check()
        if self._timeline is not None:
            self._stream.synchronize()
            begun, nbytes = self._begun
            self._timeline.add("wire", f"{nbytes:,} bytes on a GPU", begun, time.perf_counter())
        self._begun = None
