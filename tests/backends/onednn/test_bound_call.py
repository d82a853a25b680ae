import numpy as np
import pytest

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.onednn.bound_call import BoundCall, operation_of, written_slots
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.pool import laid_out
from cvzoo.backends.onednn.primitives import local
from cvzoo.config.switches import using_config

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason="needs oneDNN")


@pytest.fixture
def watched():
    """From a function to the primitives that it calls, with their arrays."""

    def watch(call):
        seen = []
        local.recorder = lambda primitive, arrays: seen.append((primitive, arrays))
        try:
            with using_config("backend", "onednn"):
                result = call(get_backend("onednn"))
        finally:
            local.recorder = None
        return seen, result

    return watch


X = np.random.default_rng(0).normal(size=(1, 16, 32, 32)).astype(np.float32)
WIDE = np.concatenate((X, X, X), axis=1)


def test_a_bound_call_does_again_what_the_primitive_did(watched):
    ((primitive, arrays),), y = watched(lambda backend: backend.eltwise("exp", X))
    bound = BoundCall(primitive)
    out = laid_out(np.zeros_like(y), y.strides)
    for k, array in enumerate((arrays[0], out)):
        bound.bind(k, array.__array_interface__["data"][0])
    assert bound.run() == 0
    np.testing.assert_array_equal(out, y)


@pytest.mark.parametrize(
    ("call", "operation", "written"),
    [
        (lambda b: b.eltwise("exp", X), "eltwise", {1}),
        (lambda b: b.softmax(X, axis=3), "softmax", {1}),
        (lambda b: b.max_pool_2d(X, ksize=(2, 2), stride=(2, 2), pad=(0, 0, 0, 0), keep=False), "pooling", {1}),
        (lambda b: b.concat((X, X), axis=1), "concat", {0}),
        (lambda b: b.add(WIDE, WIDE * 2), "binary", {2}),
    ],
)
def test_operations_and_what_they_write_are_known(watched, call, operation, written):
    seen, _ = watched(call)
    assert operation_of(seen[-1][0]) == operation
    assert written_slots(seen[-1][0]) == (written, set())


def test_of_a_gradients_operands_the_gradient_alone_is_written(watched):
    seen, result = watched(lambda backend: backend.eltwise_grad("exp", X, X))
    primitive, arrays = seen[-1]
    (written,), statistics = written_slots(primitive)
    assert arrays[written] is result
    assert not statistics


def test_nobody_records_unless_asked(watched):
    watched(lambda backend: backend.eltwise("exp", X))
    assert local.recorder is None
