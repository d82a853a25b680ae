"""A lock that many processes (and threads) share through a file."""

import contextlib
import fcntl
import os
from collections.abc import Iterator


@contextlib.contextmanager
def file_lock(path: str | os.PathLike) -> Iterator[None]:
    """Holds the lock for the block; whoever comes second waits. The kernel frees it when a process dies.

    The file stays: removing it would let two processes lock two different files of one name.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
