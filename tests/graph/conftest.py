"""Recording and replaying in one line."""

import numpy as np
import pytest

from cvzoo.config.switches import no_backprop_mode, switches, using_config
from cvzoo.graph.capture import Capture
from cvzoo.graph.lowering import lower
from cvzoo.graph.program import Program


@pytest.fixture
def inference():
    with using_config("train", False), no_backprop_mode():
        yield


@pytest.fixture
def own_switches():
    """A test of interrupts keeps to itself what one leaves behind that strikes at the end of a block of switches: an
    exception out of a destructor gets lost, and the block's end with it."""
    before = dict(switches.__dict__)
    yield
    switches.__dict__.update(before)


@pytest.fixture
def record(inference):
    """From a call and its arrays to the graph, and the call's results as arrays."""

    def run(call, *arrays):
        capture = Capture()
        result = capture.follow(call, arrays, {})
        results = result if isinstance(result, tuple) else (result,)
        return capture.graph, [y if isinstance(y, np.ndarray) else y.array for y in results]

    return run


@pytest.fixture
def replay(inference):
    """A graph's outputs for arrays, after changes to its steps."""

    def run(graph, *arrays, changes=()):
        lowered = lower(graph, arrays)
        counts = [change(lowered) for change in changes]
        program = Program(lowered)
        first = program(arrays)
        again = program(arrays)
        for a, b in zip(first, again):
            np.testing.assert_array_equal(a, b)
        return again, program, counts

    return run
