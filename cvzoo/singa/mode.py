"""SINGA's `autograd.training` flag, separate from cvzoo's own switches."""

import contextlib
import threading
from collections.abc import Iterator

from cvzoo.config.switches import using_config


class _Process:
    """What `autograd.training` says, for all threads."""

    training = False


class _Within(threading.local):
    """Whether this thread is inside a layer, a model or a function that has set the switches already."""

    entered = False


_process = _Process()
_within = _Within()


def is_training() -> bool:
    """What `autograd.training` says."""
    return _process.training


def set_training(training: bool) -> None:
    """What `autograd.training = ...` does."""
    _process.training = bool(training)


def is_entered() -> bool:
    """Whether the switches are set already, so that nothing has to be entered."""
    return _within.entered


@contextlib.contextmanager
def entered(training: bool) -> Iterator[None]:
    """Compute as while training, or as in evaluation, in this thread until the block ends."""
    before = _within.entered
    _within.entered = True
    try:
        with using_config("train", training), using_config("enable_backprop", training):
            yield
    finally:
        _within.entered = before
