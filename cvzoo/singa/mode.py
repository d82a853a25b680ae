"""SINGA's `autograd.training` flag, separate from cvzoo's own switches."""

import contextlib
import threading
from collections.abc import Iterator

from cvzoo.config.switches import using_config


class _Process:
    """The flag `autograd.training`, shared by all threads."""

    training = False


class _Within(threading.local):
    """Whether this thread is inside a layer, model or function that has already set the switches."""

    entered = False


_process = _Process()
_within = _Within()


def is_training() -> bool:
    """The value of `autograd.training`."""
    return _process.training


def set_training(training: bool) -> None:
    """Set `autograd.training`."""
    _process.training = bool(training)


def is_entered() -> bool:
    """Whether this thread has already set the switches."""
    return _within.entered


@contextlib.contextmanager
def entered(training: bool) -> Iterator[None]:
    """A context of training mode or evaluation mode for this thread."""
    before = _within.entered
    _within.entered = True
    try:
        with using_config("train", training), using_config("enable_backprop", training):
            yield
    finally:
        _within.entered = before
