"""Processes that end with the one that started them, even if they hang."""

import ctypes
import os
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1


def end_with_parent(*, listens: bool = False) -> None:
    """From here on the kernel kills this process when the thread that started it ends, as by a kill of the server.

    listens: standard input is a pipe that the parent holds open; one that is closed already ends this process
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if listens:  # the parent may have been killed before that call
        poll = select.poll()
        poll.register(sys.stdin.fileno(), 0)  # POLLHUP is always told
        if poll.poll(0):
            os._exit(1)
