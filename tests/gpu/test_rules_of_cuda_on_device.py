"""What only a real GPU shows of CUDA's and CuPy's own rules."""

import threading

import numpy as np
import pytest

import cvzoo
from cvzoo import functions as F
from cvzoo.backends.capture import NotCapturedError, PrivatePool, captured
from cvzoo.backends.cuda.elementwise import elementwise
from cvzoo.backends.cuda.selection import select_best
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.detection import just_below
from cvzoo.backends.transfer import upload

REASON = why_no_cupy()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def test_kernels_take_subnormal_numbers_for_zero_as_the_made_up_device_does():
    x = cupy().asarray(np.array([1e-40, 1.0], np.float32))
    assert elementwise("positive", "y = x0 > 0 ? 1 : 0;", (x,)).get().tolist() == [0, 1]


def test_a_score_of_zero_is_at_least_zero():
    score = cupy().asarray(np.array([[0.0, -1.0, 0.5]], np.float32))
    assert select_best(score, [(0, 3)], limit=3, above=just_below(0.0)).taken.get().tolist() == [[2]]


def test_a_capture_that_waits_is_ended_and_others_go_on():
    x = cupy().ones(5, np.float32)
    with pytest.raises(NotCapturedError):
        captured(lambda: cupy().cuda.get_current_stream().synchronize(), PrivatePool())
    graph = captured(lambda: x + 1, PrivatePool())
    graph.launch()
    np.testing.assert_array_equal(graph.result.get(), 2)


def test_a_graph_that_finds_no_memory_leaves_others_theirs():
    x, pool = cupy().ones(1 << 20, np.float32), PrivatePool()
    first = captured(lambda: x * 2 + 1, pool)
    with pytest.raises(NotCapturedError, match="OutOfMemoryError"):
        captured(lambda: cupy().empty(1 << 50, np.uint8), pool)
    first.launch()
    assert (first.result.get() == 3).all()


def test_plans_and_handles_outlive_the_thread_that_made_them():
    def convolved():
        x, w = (cupy().ones(shape, np.float16) for shape in ((2, 8, 9, 9), (8, 8, 3, 3)))
        with cvzoo.using_config("enable_backprop", False):
            return F.convolution_2d(x, w, None, pad=1).array.get()

    first = in_a_thread(convolved)
    np.testing.assert_array_equal(in_a_thread(convolved), first)
    np.testing.assert_array_equal(convolved(), first)


def test_a_buffer_outlives_its_thread_until_the_copy_out_of_it_is_done():
    big = np.arange(1 << 22, dtype=np.float32)
    for _ in range(4):
        (first,) = in_a_thread(lambda: upload([big]))
        in_a_thread(lambda: upload([np.zeros_like(big)]))
        np.testing.assert_array_equal(first.get(), big)
