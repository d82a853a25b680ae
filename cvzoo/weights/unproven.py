"""Fetched files that nothing but a model can check: believed only once one has taken their arrays."""

import contextlib
import fcntl
import os
import pathlib

from cvzoo.weights.cache import unproven_mark

# path -> the mark, locked as long as this process lives and the file has not proved itself; None: it has no mark
_held: dict[pathlib.Path, int | None] = {}


def is_abandoned(path: pathlib.Path) -> bool:
    """Whether some process fetched the file and ended before a model took it: it may be anything."""
    if path in _held:
        return False
    try:
        descriptor = os.open(unproven_mark(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # another process is about to see
    finally:
        os.close(descriptor)
    return True


def mark(path: pathlib.Path) -> None:
    """Put the mark beside a file that is about to take its place; it stays locked until this process ends."""
    descriptor = os.open(unproven_mark(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    clear(path)
    _held[path] = descriptor


def expect(path: pathlib.Path) -> None:
    """Note that a model is about to see whether the file is the right one; nothing if that is noted."""
    if path in _held:
        return
    _held[path] = None
    if unproven_mark(path).exists():
        with contextlib.suppress(OSError):  # a cache that others fill and we only read
            mark(path)


def is_expected(path: pathlib.Path) -> bool:
    """Whether the file was handed out and no model has taken it yet."""
    return path in _held


def clear(path: pathlib.Path, *, remove: bool = False) -> None:
    """Forget the file; `remove` takes its mark away, too."""
    descriptor = _held.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)
    if remove:
        with contextlib.suppress(OSError):
            unproven_mark(path).unlink(missing_ok=True)
