"""Downloaded files without a published hash: trusted only after their arrays were loaded into a model."""

import contextlib
import fcntl
import os
import pathlib

from cvzoo.weights.cache import unproven_mark

# path -> the marker file, locked until the process ends or the file is verified; None: without a marker
_held: dict[pathlib.Path, int | None] = {}


def is_abandoned(path: pathlib.Path) -> bool:
    """Whether a process downloaded the file and ended before a model loaded it, so that it cannot be trusted."""
    if path in _held:
        return False
    try:
        descriptor = os.open(unproven_mark(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False  # another process is about to load it
    finally:
        os.close(descriptor)
    return True


def mark(path: pathlib.Path) -> None:
    """Create the marker of a file before its rename; it is locked until this process ends."""
    descriptor = os.open(unproven_mark(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    clear(path)
    _held[path] = descriptor


def expect(path: pathlib.Path) -> None:
    """Record that a model is about to load the file; repeated calls have no effect."""
    if path in _held:
        return
    _held[path] = None
    if unproven_mark(path).exists():
        with contextlib.suppress(OSError):  # a read-only cache
            mark(path)


def is_expected(path: pathlib.Path) -> bool:
    """Whether the file was returned to a caller, and no model has loaded it yet."""
    return path in _held


def clear(path: pathlib.Path, *, remove: bool = False) -> None:
    """Release the file's marker; remove: and delete it."""
    descriptor = _held.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)
    if remove:
        with contextlib.suppress(OSError):
            unproven_mark(path).unlink(missing_ok=True)
