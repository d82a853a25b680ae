"""The number of ranks that a job was planned for, and how fewer ranks keep its global batch."""

import os

from cvzoo.errors.exceptions import ConfigError, ValueRangeError

PLANNED = "CVZOO_LAUNCH_RANKS"  # environment variable, set by the launcher
ATTEMPT = "CVZOO_LAUNCH_ATTEMPT"  # likewise: 0, then 1 for the first restart


def planned_ranks(size: int) -> int:
    """The number of ranks that `cvzoo launch` was asked for, which after a restart may be more than the present `size`.

    Without the launcher it is `size`. Raises ConfigError for an invalid environment variable.
    """
    planned = os.environ.get(PLANNED)
    if planned is None:
        return size
    if not planned.isdigit() or int(planned) < 1:
        raise ConfigError(f"{PLANNED} must be a positive number", got=repr(planned))
    return max(int(planned), size)


def accumulation_steps(rank: int, size: int, planned: int | None = None) -> int:
    """The number of batches whose gradients this rank adds up for one update, so that the global batch stays the same.

    planned: number of ranks, of one batch each, that make up the global batch; None: `planned_ranks(size)`
    All ranks together have `planned` batches; the sum of all gradients, divided by `planned`, is the mean.
    Raises ValueRangeError if there is no such rank.
    """
    if not 0 <= rank < size:
        raise ValueRangeError(f"there is no rank {rank} of {size}")
    whole, rest = divmod(planned_ranks(size) if planned is None else planned, size)
    return whole + (rank < rest)
