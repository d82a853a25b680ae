"""Signs of life of a rank, for the launcher that watches it."""

import os
import time

FOLDER = "CVZOO_LAUNCH_FOLDER"  # environment variable: where the launcher looks for them
_INTERVAL = 1.0  # seconds
_last = -_INTERVAL


def sign_of_life(step: int | None = None) -> None:
    """Tells `cvzoo launch` that this rank makes progress; does nothing without it.

    Every iterator calls it with each batch, in training and in evaluation. A program with a loop of its own calls it
    there: ranks that neither do so nor print anything for `--patience` seconds are taken for hanging.

    step: number of updates so far, which a Trainer tells. A job that fails at the same step as its last attempt is not
    restarted again. Without a step, calls within a second of the last do nothing.
    """
    global _last
    folder = os.environ.get(FOLDER)
    if folder is None:
        return
    now = time.monotonic()
    if step is None and now - _last < _INTERVAL:
        return
    _last = now
    path = os.path.join(folder, f"alive-{os.environ.get('CVZOO_LAUNCH_RANK')}")
    try:
        if step is None:
            os.utime(path)
        else:
            _write(path, step)
    except OSError:
        pass  # the launcher is gone


def _write(path: str, step: int) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, b"%-20d" % step, 0)  # always as long: readers never see a part of it
    finally:
        os.close(descriptor)
