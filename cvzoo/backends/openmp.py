"""The OpenMP runtime that oneDNN and our own kernels share: how long threads spin, and forked processes."""

import ctypes
import os

from cvzoo.backends.threads import is_busy, thread_count

_FILE = "libgomp.so.1"
_loaded = _forked = False


def prepare_openmp() -> None:
    """Set how long idle threads spin. To be called before anything loads libgomp, which reads the setting then."""
    # GOMP_SPINCOUNT: how long a thread spins before it sleeps. It must outlast the Python between
    # two kernels: ResNet-50 on 4 cores takes 23 ms with 20,000, and 23 or 65 with 5,000. It must not outlast a busy
    # neighbour's time slice: a small kernel then takes 0.3 ms with 10,000, and 2.5 to 7.5 with 100,000 or by default.
    # On a busy machine (load 8 on 2 CPUs) one of 0.5 to 1.2 ms in one thread takes 1.6 to 8.9 ms in two with
    # 20,000, and 0.7 to 1.7 with 1,000. The bits are the same
    global _loaded
    _loaded = True
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000" if is_busy() else "20000")


def parallel_function() -> int | None:
    """The address of libgomp's GOMP_parallel; None if there is no libgomp."""
    prepare_openmp()
    try:
        return ctypes.cast(ctypes.CDLL(_FILE).GOMP_parallel, ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


# GNU OpenMP would wait forever for threads that a forked child does not have, so a child uses a single thread
def _after_fork() -> None:
    global _forked
    _forked = _forked or _loaded


os.register_at_fork(after_in_child=_after_fork)


def threads_now() -> tuple[int, str]:
    """The number of threads kernels may use in this process, and the reason in words."""
    if _forked:
        return 1, "this process was forked from one that may have had OpenMP threads"
    return thread_count()
