"""Worker processes, what each of them is at, and what they gave."""

import collections
import multiprocessing
import pickle
import selectors
import signal
import threading
import time
from typing import NamedTuple

from cvzoo.errors.exceptions import DtypeError, ExampleError
from cvzoo.iterators.fetch import example_name
from cvzoo.iterators.shared_slots import SharedSlots
from cvzoo.iterators.worker import ENDING_SIGNALS, is_worth_lending, unpack, work

_AT_ONCE = 128  # tasks that wait in a worker's pipe: so few that sending one never blocks
_PATIENCE = 2.0  # seconds to end by itself, before a process is ended


class _Task(NamedTuple):
    seed: int
    epoch: int
    index: int


class WorkerPool:
    """n_process processes that read examples of a data set.

    start_method: "spawn", "forkserver" or "fork"
    n_ahead: how many examples may be on their way or in use at once without being copied
    slot_size: the bytes that an example's arrays may have; larger ones are sent through pipes

    Large arrays are views of the memory that the worker wrote them to; it is written again when nobody has them any
    more. Who keeps more of them than n_ahead is given copies.
    Raises DtypeError if the data set cannot be sent to another process.
    """

    def __init__(self, dataset, *, n_process, start_method, n_ahead, slot_size):
        self._dataset = dataset
        self._slot_size = slot_size
        n_kept = 2 * n_process  # so that a worker need not wait while its last example is taken
        self._memory = SharedSlots(n_ahead + n_kept, slot_size, n_worker=n_process, n_kept=n_kept)
        self._ready = selectors.DefaultSelector()
        self._backlog = collections.deque()  # tickets that no worker has yet
        self._tasks = {}  # ticket -> _Task
        self._slots = {}  # ticket -> slot, of tasks that a worker has
        self._results = {}  # ticket -> example or ExampleError
        self._unwanted = set()
        self._next_ticket = 0
        self._connections, self._processes, self._pending = [], [], []
        try:
            self._start(multiprocessing.get_context(start_method), n_process, start_method == "fork")
        except BaseException:
            self.close()
            raise

    def _start(self, context, n_process, is_fork):
        data = None if is_fork else _pickled(self._dataset)
        # a worker that is hit by Ctrl-C before it can ignore it would print its own traceback, and one that is hit by
        # SIGTERM or SIGHUP would be missing while the program saves its work
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS) if is_main else None
        try:
            for _ in range(n_process):
                mine, its = context.Pipe()
                strangers = (*self._connections, mine) if is_fork else ()
                arguments = its, self._memory.block, self._slot_size, self._dataset if is_fork else None, strangers
                process = context.Process(target=work, args=arguments, daemon=True, name="cvzoo-iterator")
                self._connections.append(mine)
                _start_process(process)
                its.close()
                self._processes.append(process)
                self._pending.append(collections.OrderedDict())
                self._ready.register(mine, selectors.EVENT_READ, len(self._connections) - 1)
        finally:
            if before is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if data is not None:
            for number, connection in enumerate(self._connections):
                self._send(number, connection.send_bytes, data)

    def submit(self, seed, epoch, index):
        """A ticket for an example."""
        ticket = self._next_ticket
        self._next_ticket += 1
        self._tasks[ticket] = _Task(seed, epoch, index)
        self._backlog.append(ticket)
        self._dispatch()
        return ticket

    def discard(self, tickets):
        """Nobody will ask for these."""
        for ticket in tickets:
            if ticket in self._results:
                self._forget(ticket)
            else:
                self._unwanted.add(ticket)

    def collect(self, tickets, *, timeout=None):
        """The examples of the tickets, in their order.

        timeout: seconds to wait for the next answer of any worker
        Raises the ExampleError of the first example that could not be read, or one that says which worker died.
        """
        while not all(ticket in self._results for ticket in tickets):
            self._receive(timeout)
        found = [self._results[ticket] for ticket in tickets]
        for ticket in tickets:
            self._forget(ticket)
        for example in found:
            if isinstance(example, ExampleError):
                raise example
        return found

    def _forget(self, ticket):
        del self._results[ticket]
        self._unwanted.discard(ticket)

    def _dispatch(self):
        while self._backlog:
            number = min(range(len(self._pending)), key=lambda each: len(self._pending[each]))
            if len(self._pending[number]) >= _AT_ONCE:
                return
            ticket = self._backlog[0]
            if ticket in self._unwanted:
                self._backlog.popleft()
                self._unwanted.discard(ticket)
                del self._tasks[ticket]
                continue
            slot = self._memory.take(number)
            if slot is None:
                return
            self._backlog.popleft()
            self._slots[ticket] = slot
            self._pending[number][ticket] = None
            self._send(number, self._connections[number].send, (ticket, slot, *self._tasks[ticket]))

    def _send(self, number, send, message):
        try:
            send(message)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._death(number) from error

    def _receive(self, timeout):
        ready = self._ready.select(timeout)
        if not ready:
            raise ExampleError(f"no worker answered for {timeout} seconds", got="busy with " + "; ".join(self._busy()))
        for key, _ in ready:
            connection, number = key.fileobj, key.data
            try:
                ticket, kind, payload = connection.recv()
            except (EOFError, ConnectionResetError) as error:
                raise self._death(number) from error
            if kind == "broken":
                raise DtypeError("a worker process cannot rebuild the data set", got=payload)
            del self._pending[number][ticket], self._tasks[ticket]
            self._take(ticket, kind, payload)
        self._dispatch()

    def _take(self, ticket, kind, payload):
        slot = self._slots.pop(ticket)
        if ticket in self._unwanted:
            self._unwanted.discard(ticket)
        elif kind == "error":
            text, cause, trace = payload
            error = ExampleError(f"{text}\n\nin a worker process:\n{trace.rstrip()}")
            error.__cause__ = None if cause is None else pickle.loads(cause)
            self._results[ticket] = error
        else:
            room = self._memory.lend(slot) if is_worth_lending(kind, payload) else None
            if room is not None:
                self._results[ticket] = unpack(kind, payload, room, lent=True)
                return
            self._results[ticket] = unpack(kind, payload, self._memory.view(slot))
        self._memory.give_back(slot)

    def _busy(self):
        firsts = [next(iter(pending)) for pending in self._pending if pending]
        return [example_name(self._dataset, self._tasks[ticket].index) for ticket in firsts]

    def _death(self, number):
        process = self._processes[number]
        process.join(_PATIENCE)
        code = process.exitcode
        what = f"signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"exit status {code}"
        first = next(iter(self._pending[number]), None)
        if first is None:
            return ExampleError(
                f"a worker process ended before it began ({what})",
                hint='the program\'s main part must stand below `if __name__ == "__main__":`',
            )
        hint = "memory? fewer n_processes" if code == -signal.SIGKILL else None
        return ExampleError(
            f"a worker process died ({what}) at {example_name(self._dataset, self._tasks[first].index)}", hint=hint
        )

    def close(self):
        """End the processes; more than once does no harm. What was on its way is lost."""
        connections, self._connections = self._connections, []
        processes, self._processes = self._processes, []
        busy = [process for process, pending in zip(processes, self._pending) if pending]
        self._pending = []
        try:
            self._ready.close()
            for connection in connections:
                connection.close()  # an idle worker ends when it finds nobody there
            for process in busy:
                process.kill()  # it ignores SIGTERM, and holds nothing but its own end of a pipe
            _join(processes, _PATIENCE)
        except BaseException:
            for process in processes:  # a second Ctrl-C: no more patience
                process.kill()
            raise
        finally:
            self._memory.close()
        for process in processes:
            process.close()


def _start_process(process):
    try:
        process.start()
    except (EOFError, ConnectionError) as error:
        raise ExampleError(
            "a worker process could not be started: the process that starts them (multiprocessing's forkserver) ended",
            got=repr(error),
            hint="memory? fewer n_processes; start_method='spawn' does without it",
        ) from error


def _join(processes, patience):
    limit = time.monotonic() + patience
    for process in processes:
        process.join(max(limit - time.monotonic(), 0.1))
        if process.is_alive():
            process.kill()
            process.join()


def _pickled(dataset):
    try:
        return pickle.dumps(dataset, protocol=5)
    except Exception as error:
        raise DtypeError(
            f"the data set cannot be sent to another process: {type(error).__name__}: {error}",
            hint='functions at the top of a module instead of lambdas, or start_method="fork", or MultithreadIterator',
        ) from error
