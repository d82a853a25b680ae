"""Progress of a download, on standard error."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

_EVERY = 0.2  # seconds


@contextlib.contextmanager
def fetching(name: str, *, quiet: bool = False) -> Iterator[Callable[[int, int | None], None]]:
    """A function to give to `fetch_weights`: on a terminal it rewrites a line, elsewhere it says once that it began.

    quiet: it prints nothing
    """
    rewrites = sys.stderr.isatty()
    said: list[float] = []

    def progress(done: int, total: int | None) -> None:
        now = time.monotonic()
        if quiet:
            return
        if not said or (rewrites and (now - said[-1] >= _EVERY or done == total)):
            said[:] = [now]
            share = f"{done / 1e6:.1f}" if total is None else f"{done / 1e6:.1f} of {total / 1e6:.1f}"
            text = f"fetching {name}: {share} MB"
            # padded, so that a shorter line covers the one before
            sys.stderr.write(f"\r{text:<60}" if rewrites else f"fetching {name}\n")
            sys.stderr.flush()

    try:
        yield progress
    finally:
        if said and rewrites:
            sys.stderr.write("\n")
