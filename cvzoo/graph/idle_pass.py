"""A dry run: functions are called, their kernels are not executed."""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.backends.onednn.bound_call import operation_of, written_of
from cvzoo.backends.onednn.primitives import DST, WEIGHTS, Primitive, local
from cvzoo.config.switches import switches
from cvzoo.graph.readers import Recorded

_SMALL = 1 << 20  # bytes; larger arrays are fresh pages, which cost nothing until they are touched


@contextlib.contextmanager
def idle_pass(recorded: Recorded) -> Iterator[None]:
    """A context in which kernels write zeros, or leave memory uninitialized.

    recorded: the capture, for its `in_backward` and `trains`
    In a capture for training these are the kernels of which gradients are recorded. All others run, as their results
    may be cached. In one for inference these are convolutions, matrix products, and others with large results. Reorders
    run, since they may be of weights for a cache.
    """

    def skip(primitive: Primitive, arrays: Sequence[np.ndarray]) -> bool:
        written = written_of(primitive.kinds)[0]
        if recorded.trains:
            if not switches.enable_backprop and not recorded.in_backward:
                return False
        elif WEIGHTS not in primitive.kinds or DST not in primitive.kinds:
            is_small = any(arrays[k].nbytes < _SMALL for k in written)
            if is_small or operation_of(primitive) == "reorder":
                return False
        for k in written:
            if arrays[k].nbytes < _SMALL:
                arrays[k].fill(0)
        return True

    before, local.recorder = local.recorder, skip
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        local.recorder = before
