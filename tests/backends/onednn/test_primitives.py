import threading

import numpy as np
import pytest

from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn import primitives
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.errors.exceptions import BackendError

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

FAST, REFERENCE = onednn_backend, numpy_backend
SETTINGS = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def test_threads_that_work_at_the_same_time_do_not_disturb_one_another():
    w = draw(32, 32, 3, 3)
    photos = [draw(1, 32, 20 + k, 24, seed=k) for k in range(8)]
    expected = [REFERENCE.conv_2d(x, w, None, **SETTINGS) for x in photos]
    failures = []
    pack = {}
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        for step in range(25):
            k = (number + step) % 8
            y = FAST.conv_2d(photos[k], w, None, pack=pack, **SETTINGS)
            y = FAST.add(FAST.eltwise("relu", y), y)
            e = np.maximum(expected[k], 0) + expected[k]
            if np.abs(y - e).max() > 1e-4 * np.abs(e).max():
                failures.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_same_input_gives_the_same_bits_again():
    x, w = draw(4, 64, 28, 28), draw(64, 64, 3, 3)
    y = FAST.conv_2d(x, w, None, **SETTINGS)
    gw = FAST.conv_2d_weight_grad(x, y, (3, 3), **SETTINGS)
    for _ in range(5):
        np.testing.assert_array_equal(FAST.conv_2d(x, w, None, **SETTINGS), y)
        np.testing.assert_array_equal(FAST.conv_2d_weight_grad(x, y, (3, 3), **SETTINGS), gw)


def test_the_cache_is_bounded_and_forgets_the_oldest(monkeypatch):
    monkeypatch.setattr(primitives, "_KEPT", 4)
    primitives.local.start()
    made = []

    def make(number):
        made.append(number)
        return number + 1

    def look_up(number):
        value = primitives.local.young.get(number)
        return primitives.recall(number, make, number) if value is None else value

    for number in range(12):
        assert look_up(number) == number + 1
        assert len(primitives.local.young) + len(primitives.local.old) <= 8
        assert look_up(0) == 1  # in use all the time: never made again
    assert made.count(0) == 1
    look_up(1)
    assert made.count(1) == 2
    primitives.local.start()


def test_scratch_memory_grows_with_what_is_asked_for():
    primitives.local.start()
    primitives.local.reserve(1000)
    small = primitives.local.scratch.nbytes
    primitives.local.reserve(100)
    assert primitives.local.scratch.nbytes == small
    primitives.local.reserve(100000)
    assert primitives.local.scratch.nbytes >= 100000
    assert primitives.local.scratch_address % 64 == 0


def test_a_failure_of_the_library_is_told():
    with pytest.raises(BackendError, match=r"(?s)running a thing.*invalid arguments"):
        primitives.check(2, "running a thing")


def test_what_oneDNN_does_is_not_left_to_numpy(monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("NumPy was asked")

    x, w, b = draw(2, 16, 14, 14), draw(32, 16, 3, 3), draw(32)
    for module, names in (
        ("conv", ("numpy_conv_2d", "numpy_conv_2d_input_grad", "numpy_conv_2d_weight_grad")),
        ("pooling", ("numpy_max_pool_2d", "numpy_max_pool_2d_grad", "numpy_average_pool_2d")),
        ("normalization", ("numpy_batch_norm_train", "numpy_batch_norm_fixed", "numpy_batch_norm_grad")),
        ("matmul", ("numpy_linear", "numpy_matmul")),
        ("eltwise", ("numpy_eltwise", "numpy_eltwise_grad")),
    ):
        for name in names:
            monkeypatch.setattr(f"cvzoo.backends.onednn.{module}.{name}", refuse)
    for stride in ((1, 1), (2, 2)):
        settings = {**SETTINGS, "stride": stride}
        y = FAST.conv_2d(x, w, b, **settings)
        FAST.conv_2d_input_grad(y, w, (14, 14), **settings)
        FAST.conv_2d_weight_grad(x, y, (3, 3), **settings)
    geometry = {"ksize": (3, 3), "stride": (2, 2), "pad": (1, 1, 1, 1)}
    y, kept = FAST.max_pool_2d(x, keep=True, **geometry)
    FAST.max_pool_2d_grad(y, kept, x.shape, **geometry)
    FAST.average_pool_2d(x, count_pad=True, **geometry)
    one = np.ones(16, np.float32)
    _, mean, var = FAST.batch_norm_train(x, one, one, eps=1e-5)
    FAST.batch_norm_fixed(x, one, one, mean, var, eps=1e-5)
    FAST.batch_norm_grad(x, x, one, mean, var, eps=1e-5)
    FAST.eltwise("tanh", x)
    FAST.eltwise_grad("tanh", x, x)
    FAST.linear(draw(3, 512), draw(256, 512), draw(256))
    FAST.matmul(draw(40, 50), draw(50, 60))
