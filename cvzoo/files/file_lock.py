"""File locks between processes and threads."""

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator

_log = logging.getLogger("cvzoo.weights")


@contextlib.contextmanager
def file_lock(path: str | os.PathLike) -> Iterator[None]:
    """Holds an exclusive lock on the file for the block; a second process logs that it waits; Ctrl-C ends the wait.

    The kernel releases it when a process dies. The file is not removed, since two processes could then lock two
    different files of the same name.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _log.warning("waiting for another process, or thread, that holds %s", path)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
