"""A pool of data-loading worker processes, with their pending tasks and results."""

import collections
import multiprocessing
import pickle
import selectors
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from cvzoo.errors.exceptions import DtypeError, ExampleError
from cvzoo.iterators.fetch import Task, example_name
from cvzoo.iterators.shared_slots import SharedSlots
from cvzoo.iterators.worker import ENDING_SIGNALS, is_worth_lending, unpack, work
from cvzoo.typing.protocols import IndexableDataset

_MAX_PENDING = 128  # tasks in a worker's pipe: few enough that sending one never blocks
_GRACE = 2.0  # seconds for a process to end by itself before it is killed


class WorkerPool:
    """n_process processes that read examples of a data set.

    start_method: "spawn", "forkserver" or "fork"
    n_ahead: how many examples may be pending or in use at once without being copied
    slot_size: the largest size of an example's arrays in bytes; larger ones are sent through pipes

    Large arrays are views of shared memory, which is reused when they are no longer referenced. If more than n_ahead
    are referenced, further ones are copied.
    Raises DtypeError if the data set cannot be pickled.
    """

    def __init__(
        self,
        dataset: IndexableDataset[Any],
        *,
        n_process: int,
        start_method: str,
        n_ahead: int,
        slot_size: int,
    ) -> None:
        self._dataset = dataset
        self._slot_size = slot_size
        n_kept = 2 * n_process  # so that a worker need not wait until its previous example was received
        self._memory = SharedSlots(n_ahead + n_kept, slot_size, n_worker=n_process, n_kept=n_kept)
        self._ready = selectors.DefaultSelector()
        self._backlog: collections.deque[int] = collections.deque()  # tickets that are not assigned to a worker yet
        self._tasks: dict[int, Task] = {}  # by ticket
        self._slots: dict[int, int] = {}  # ticket -> slot, of tasks that are assigned to a worker
        self._results: dict[int, Any] = {}  # ticket -> example or ExampleError
        self._discarded: set[int] = set()
        self._next_ticket = 0
        self._connections: list[Connection] = []
        self._processes: list[BaseProcess] = []
        self._pending: list[collections.OrderedDict[int, None]] = []  # tickets of each worker, in the order of sending
        try:
            self._start(multiprocessing.get_context(start_method), n_process, start_method == "fork")
        except BaseException:
            self.close()
            raise

    def _start(self, context: Any, n_process: int, is_fork: bool) -> None:  # typeshed's BaseContext has no Process
        data = None if is_fork else _pickled(self._dataset)
        # blocked until a worker ignores them: Ctrl-C would make it print a traceback of its own, SIGTERM or SIGHUP
        # would kill it while the program saves its work
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS) if is_main else None
        try:
            for _ in range(n_process):
                ours, theirs = context.Pipe()
                inherited = (*self._connections, ours) if is_fork else ()
                arguments = theirs, self._memory.block, self._slot_size, self._dataset if is_fork else None, inherited
                process = context.Process(target=work, args=arguments, daemon=True, name="cvzoo-iterator")
                self._connections.append(ours)
                _start_process(process)
                theirs.close()
                self._processes.append(process)
                self._pending.append(collections.OrderedDict())
                self._ready.register(ours, selectors.EVENT_READ, len(self._connections) - 1)
        finally:
            if before is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if data is not None:
            for worker, connection in enumerate(self._connections):
                self._send(worker, connection.send_bytes, data)

    def submit(self, task: Task) -> int:
        """Requests an example; returns a ticket for `collect`."""
        ticket = self._next_ticket
        self._next_ticket += 1
        self._tasks[ticket] = task
        self._backlog.append(ticket)
        self._dispatch()
        return ticket

    def discard(self, tickets: Iterable[int]) -> None:
        """Cancels requests."""
        for ticket in tickets:
            if ticket in self._results:
                self._forget(ticket)
            else:
                self._discarded.add(ticket)

    def collect(self, tickets: Sequence[int], *, timeout: float | None = None) -> list[Any]:
        """The examples of the tickets, in their order.

        timeout: seconds to wait for the next result of any worker
        Raises the ExampleError of the first example that could not be read, or one that says that a worker died.
        """
        while not all(ticket in self._results for ticket in tickets):
            self._receive(timeout)
        examples = [self._results[ticket] for ticket in tickets]
        for ticket in tickets:
            self._forget(ticket)
        for example in examples:
            if isinstance(example, ExampleError):
                raise example
        return examples

    def _forget(self, ticket: int) -> None:
        del self._results[ticket]
        self._discarded.discard(ticket)

    def _dispatch(self) -> None:
        while self._backlog:
            worker = min(range(len(self._pending)), key=lambda each: len(self._pending[each]))
            if len(self._pending[worker]) >= _MAX_PENDING:
                return
            ticket = self._backlog[0]
            if ticket in self._discarded:
                self._backlog.popleft()
                self._discarded.discard(ticket)
                del self._tasks[ticket]
                continue
            slot = self._memory.take(worker)
            if slot is None:
                return
            self._backlog.popleft()
            self._slots[ticket] = slot
            self._pending[worker][ticket] = None
            self._send(worker, self._connections[worker].send, (ticket, slot, self._tasks[ticket]))

    def _send(self, worker: int, send: Callable[[Any], None], message: object) -> None:
        try:
            send(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._death(worker) from error

    def _receive(self, timeout: float | None) -> None:
        ready = self._ready.select(timeout)
        if not ready:
            raise ExampleError(
                f"no worker returned an example for {timeout} seconds", got="busy with " + "; ".join(self._busy())
            )
        for key, _ in ready:
            worker: int = key.data
            try:
                ticket, kind, payload = self._connections[worker].recv()
            except (EOFError, ConnectionResetError) as error:
                raise self._death(worker) from error
            if kind == "broken":
                raise DtypeError("a worker process cannot unpickle the data set", got=payload)
            del self._pending[worker][ticket], self._tasks[ticket]
            self._store(ticket, kind, payload)
        self._dispatch()

    def _store(self, ticket: int, kind: str, payload: Any) -> None:
        slot = self._slots.pop(ticket)
        if ticket in self._discarded:
            self._discarded.discard(ticket)
        elif kind == "error":
            text, cause, trace = payload
            error = ExampleError(f"{text}\n\nin a worker process:\n{trace.rstrip()}")
            error.__cause__ = None if cause is None else pickle.loads(cause)
            self._results[ticket] = error
        else:
            lent = self._memory.lend(slot) if is_worth_lending(kind, payload) else None
            if lent is not None:
                self._results[ticket] = unpack(kind, payload, lent, lent=True)
                return
            self._results[ticket] = unpack(kind, payload, self._memory.view(slot))
        self._memory.give_back(slot)

    def _busy(self) -> list[str]:
        firsts = [next(iter(pending)) for pending in self._pending if pending]
        return [self._name(ticket) for ticket in firsts]

    def _name(self, ticket: int) -> str:
        return example_name(self._dataset, self._tasks[ticket].example_index)

    def _death(self, worker: int) -> ExampleError:
        process = self._processes[worker]
        process.join(_GRACE)
        code = process.exitcode
        what = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit status {code}"
        first = next(iter(self._pending[worker]), None)
        if first is None:
            return ExampleError(
                f"a worker process ended during start-up ({what})",
                hint='guard the main part of the program by `if __name__ == "__main__":`',
            )
        hint = "fewer n_processes, if the system is out of memory" if code == -signal.SIGKILL else None
        return ExampleError(f"a worker process died ({what}) at {self._name(first)}", hint=hint)

    def close(self) -> None:
        """Stops the processes, discarding pending examples; may be called repeatedly."""
        connections, self._connections = self._connections, []
        processes, self._processes = self._processes, []
        busy = [process for process, pending in zip(processes, self._pending) if pending]
        self._pending = []
        try:
            self._ready.close()
            for connection in connections:
                connection.close()  # which ends an idle worker
            for process in busy:
                process.kill()  # it ignores SIGTERM, and has no resources but its end of a pipe
            _join(processes, _GRACE)
        except BaseException:
            for process in processes:  # a second Ctrl-C
                process.kill()
            raise
        finally:
            self._memory.close()
        for process in processes:
            process.close()


def _start_process(process: BaseProcess) -> None:
    try:
        process.start()
    except (EOFError, ConnectionError) as error:
        raise ExampleError(
            "a worker process cannot be started, since multiprocessing's forkserver has ended",
            got=repr(error),
            hint="fewer n_processes, if the system is out of memory; start_method='spawn' needs no forkserver",
        ) from error


def _join(processes: Iterable[BaseProcess], timeout: float) -> None:
    limit = time.monotonic() + timeout
    for process in processes:
        process.join(max(limit - time.monotonic(), 0.1))
        if process.is_alive():
            process.kill()
            process.join()


def _pickled(dataset: object) -> bytes:
    try:
        return pickle.dumps(dataset, protocol=5)
    except Exception as error:
        raise DtypeError(
            f"the data set cannot be pickled for worker processes: {type(error).__name__}: {error}",
            hint='functions at the top of a module instead of lambdas, start_method="fork", or MultithreadIterator',
        ) from error
