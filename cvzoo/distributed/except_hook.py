"""An uncaught error of one rank ends all ranks, which would wait for it otherwise."""

import sys
from types import TracebackType

from cvzoo.distributed.communicator import AbstractCommunicator


def global_except_hook(comm: AbstractCommunicator) -> None:
    """Prints the traceback of an uncaught error with its rank, and then ends the processes of all ranks.

    `create_communicator` calls it. Source: ChainerMN's hook of the same name. Where we differ: it is on by default.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        sys.stdout.flush()
        comm.abort(f"uncaught {kind.__name__}: {str(error).splitlines()[0] if str(error) else ''}")

    sys.excepthook = hook
