"""The OpenMP runtime that oneDNN and our own kernels share: how long threads spin, and forked processes."""

import ctypes
import os
import pathlib
import threading
import time
from collections.abc import Callable

from cvzoo.backends.threads import BUSY, quota, thread_count

_FILE = "libgomp.so.1"
_SPINS = "20000"
_INTERVAL = 0.1  # seconds between two looks at the scheduler's statistics
_SHORTEST = 20_000_000  # nanoseconds of running and waiting that tell something
_QUIET = 0.05  # of the time; below it a thread does not wait for a CPU
_QUIET_LOOKS = 5  # in a row, before threads spin for long again
_AWAKE = 0.0003  # seconds that threads surely spin for after a kernel
_TO_SLEEP = 0.0002  # seconds, in which a thread on this CPU sees that there is nothing to do
_NEVER = float("inf")
_SCHEDULING = pathlib.Path("/proc/thread-self/schedstat")
_LOAD = pathlib.Path("/proc/loadavg")
_loaded = _forked = False


def prepare_openmp() -> None:
    """Set how long idle threads spin. To be called before anything loads libgomp, which reads the setting then."""
    # GOMP_SPINCOUNT: how long a thread spins before it sleeps. It must outlast the Python between
    # two kernels: ResNet-50 on 4 cores takes 23 ms with 20,000, and 23 or 65 with 5,000. Beside other programs it
    # must not, see `IdleThreads`. The bits are the same
    global _loaded
    if not _loaded and "OMP_WAIT_POLICY" not in os.environ:
        ours = os.environ.setdefault("GOMP_SPINCOUNT", _SPINS) == _SPINS  # a parent process sets it, too
        if ours and thread_count()[0] > 1 and _SCHEDULING.is_file():
            idle_threads.next_look = idle_threads.asleep_from = 0.0
    _loaded = True


def parallel_function() -> int | None:
    """The address of libgomp's GOMP_parallel; None if there is no libgomp."""
    prepare_openmp()
    try:
        return ctypes.cast(ctypes.CDLL(_FILE).GOMP_parallel, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


class IdleThreads:
    """How idle threads wait: spinning for long, or 100 times while other programs compete for the CPUs.

    next_look, asleep_from: time.monotonic() of the next look, and from which on idle threads sleep
    spread: a function of the number of threads, which moves those that were woken on one CPU to others, or None
    libgomp reads GOMP_SPINCOUNT once. But where it has more threads than CPUs, its threads spin 100 times only. So
    while it is to be brief, a thread of ours keeps idle ones.
    """

    # beside other programs a thread that spins uses up its time slice, and all wait until it has the next one: at a
    # load of 10 on 2 CPUs MobileNetV2 takes 300 to 350 ms in two threads that spin 20,000 times, 27 to 36 in such that
    # spin 100 times, and 37 in one thread

    def __init__(self) -> None:
        self.next_look = self.asleep_from = _NEVER
        self.spread: Callable[[int], None] | None = None
        self._seen = (0, 0, 0)  # thread, nanoseconds that it ran and that it waited
        self._n_quiet = 0
        self._end: threading.Event | None = None

    @property
    def is_brief(self) -> bool:
        """Whether threads spin 100 times only."""
        return self._end is not None

    def before_work(self) -> None:
        """To be called before kernels run: threads that sleep are woken, each on a CPU of its own if there is one."""
        if time.monotonic() > self.asleep_from and self._end is None and self.spread is not None:
            self.spread(thread_count()[0])

    def after_work(self) -> None:
        """To be called after kernels have run; by then who asked for them, and woke this process, sleeps."""
        now = time.monotonic()
        if self.asleep_from != _NEVER:
            self.asleep_from = now + _AWAKE
        if now >= self.next_look:
            self.look()

    def look(self) -> None:
        """Decide by what the scheduler tells of this thread since the last time."""
        try:
            self._decide()
        except (OSError, ValueError, RuntimeError):  # no file can be opened, or no thread started: all stays as it is
            self.next_look = _NEVER

    def _decide(self) -> None:
        self.next_look = time.monotonic() + _INTERVAL
        thread = threading.get_native_id()
        ran, waited = _scheduled()
        before = self._seen if self._seen[0] == thread else (thread, 0, 0)  # 0: since the thread began
        total = ran + waited - before[1] - before[2]
        if total < _SHORTEST:
            return
        self._seen = (thread, ran, waited)
        part = (waited - before[2]) / total
        if self._end is None:
            if part > BUSY and _is_crowded(thread_count()[0]):
                self._start()
            return
        # threads that sleep at once may be woken on one CPU, and wait for each other while the next one is idle
        is_quiet = part < _QUIET
        if not is_quiet:
            time.sleep(_TO_SLEEP)
            is_quiet = not _is_crowded(1)
        self._n_quiet = self._n_quiet + 1 if is_quiet else 0
        if self._n_quiet >= _QUIET_LOOKS:
            self._end.set()
            self._end = None

    def _start(self) -> None:
        self._n_quiet = 0
        end = threading.Event()
        n = max(len(os.sched_getaffinity(0)) - thread_count()[0] + 2, 2)
        threading.Thread(target=_keep_threads, args=(n, end), name="cvzoo-openmp", daemon=True).start()
        self._end = end


def _scheduled() -> tuple[int, int]:
    """Nanoseconds that this thread ran, and that it waited for a CPU."""
    ran, waited = map(int, _SCHEDULING.read_text().split()[:2])
    return ran, waited


def _is_crowded(n_own: int) -> bool:
    """Whether so many other threads could run now that they leave too few CPUs for ours, or that is not known.

    n_own: threads of ours that can run now: all while they spin, otherwise this one
    """
    n_cpu = os.cpu_count() or 1
    if len(os.sched_getaffinity(0)) < n_cpu or quota() is not None:
        return True  # threads are counted on all CPUs
    try:
        runnable = int(_LOAD.read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return True
    return runnable - n_own > max(n_cpu - thread_count()[0], 0)


def _keep_threads(n: int, end: threading.Event) -> None:
    """Make libgomp create n threads, which do nothing, and keep them as long as this one lives."""
    parallel, nothing = ctypes.CDLL(_FILE).GOMP_parallel, ctypes.CDLL(None).free
    parallel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    parallel(ctypes.cast(nothing, ctypes.c_void_p), None, n, 0)
    end.wait()


idle_threads = IdleThreads()


def waiting_threads() -> str:
    """How idle threads wait, in words."""
    policy = os.environ.get("OMP_WAIT_POLICY")
    if policy:
        return f"OMP_WAIT_POLICY={policy}"
    if idle_threads.is_brief:
        return "spin 100 times, then sleep: other programs compete for the CPUs"
    return f"spin {os.environ.get('GOMP_SPINCOUNT', 'as long as the runtime likes')} times, then sleep"


# GNU OpenMP would wait forever for threads that a forked child does not have, so a child uses a single thread
def _after_fork() -> None:
    global _forked
    _forked = _forked or _loaded
    idle_threads.next_look = idle_threads.asleep_from = _NEVER


os.register_at_fork(after_in_child=_after_fork)


def threads_now() -> tuple[int, str]:
    """The number of threads kernels may use in this process, and the reason in words."""
    if _forked:
        return 1, "this process was forked from one that may have had OpenMP threads"
    return thread_count()
