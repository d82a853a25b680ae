"""A pass that does everything but the work: functions are called, and primitives do not run."""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from cvzoo.backends.onednn.bound_call import written_of
from cvzoo.backends.onednn.primitives import Primitive, local
from cvzoo.config.switches import switches
from cvzoo.graph.readers import Recorded

_SMALL = 1 << 20  # bytes; larger arrays are fresh memory, and memory that nobody touches costs nothing


@contextlib.contextmanager
def idle_pass(recorded: Recorded) -> Iterator[None]:
    """A block in which primitives make zeros, or leave memory as it is, where gradients are taken.

    recorded: the pass, which knows whether gradients are being computed at the moment
    Elsewhere they run: what is computed without gradients may be kept, such as reordered weights.
    """

    def skip(primitive: Primitive, arrays: Sequence[np.ndarray]) -> bool:
        if not switches.enable_backprop and not recorded.in_backward:
            return False
        for k in written_of(primitive.kinds)[0]:
            if arrays[k].nbytes < _SMALL:
                arrays[k].fill(0)
        return True

    before, local.recorder = local.recorder, skip
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        local.recorder = before
