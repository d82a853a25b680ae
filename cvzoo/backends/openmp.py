"""The OpenMP runtime that oneDNN and our own kernels share: how long threads spin, and forked processes."""

import ctypes
import os
import pathlib
import threading
import time

from cvzoo.backends.threads import BUSY, thread_count

_FILE = "libgomp.so.1"
_SPINS = "20000"
_INTERVAL = 0.1  # seconds between two looks at the scheduler's statistics
_SHORTEST = 20_000_000  # nanoseconds of running and waiting that tell something
_QUIET = 0.05  # of the time; below it a thread does not wait for a CPU
_QUIET_LOOKS = 5  # in a row, before threads spin for long again
_SCHEDULING = pathlib.Path("/proc/thread-self/schedstat")
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
            idle_threads.next_look = 0.0
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

    next_look: from this time.monotonic() on, `look` is to be called, often
    libgomp reads GOMP_SPINCOUNT once. But where it has more threads than CPUs, its threads spin 100 times only. So
    while it is to be brief, a thread of ours keeps idle ones.
    """

    # beside other programs a thread that spins uses up its time slice, and all wait until it has the next one: at a
    # load of 10 on 2 CPUs MobileNetV2 takes 300 to 350 ms in two threads that spin 20,000 times, 27 to 36 in such that
    # spin 100 times, and 37 in one thread

    def __init__(self) -> None:
        self.next_look = float("inf")
        self._seen = (0, 0, 0)  # thread, nanoseconds that it ran and that it waited
        self._n_quiet = 0
        self._end: threading.Event | None = None

    @property
    def is_brief(self) -> bool:
        """Whether threads spin 100 times only."""
        return self._end is not None

    def look(self) -> None:
        """Decide by what the scheduler tells of this thread since the last time."""
        try:
            self._decide()
        except (OSError, ValueError, RuntimeError):  # no file can be opened, or no thread started: all stays as it is
            self.next_look = float("inf")

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
        self._n_quiet = self._n_quiet + 1 if part < _QUIET else 0
        if part > BUSY and self._end is None:
            self._start()
        elif self._n_quiet >= _QUIET_LOOKS and self._end is not None:
            self._end.set()
            self._end = None

    def _start(self) -> None:
        end = threading.Event()
        n = max(len(os.sched_getaffinity(0)) - thread_count()[0] + 2, 2)
        threading.Thread(target=_keep_threads, args=(n, end), name="cvzoo-openmp", daemon=True).start()
        self._end = end


def _scheduled() -> tuple[int, int]:
    """Nanoseconds that this thread ran, and that it waited for a CPU."""
    ran, waited = map(int, _SCHEDULING.read_text().split()[:2])
    return ran, waited


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
    idle_threads.next_look = float("inf")


os.register_at_fork(after_in_child=_after_fork)


def threads_now() -> tuple[int, str]:
    """The number of threads kernels may use in this process, and the reason in words."""
    if _forked:
        return 1, "this process was forked from one that may have had OpenMP threads"
    return thread_count()
