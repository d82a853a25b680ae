"""Captured work on a made-up GPU whose capture records and replays."""

import contextlib
import gc
import weakref

import numpy as np
import pytest

from cvzoo.backends import capture
from cvzoo.backends.capture import NotCapturedError, PrivatePool, captured, warmed_up
from cvzoo.backends.cuda import random_numbers
from cvzoo.backends.transfer import Constants
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import GraphError


@pytest.fixture(autouse=True)
def machine(fake_gpu):
    with fake_gpu(devices=2) as machine:
        yield machine


def test_captured_work_is_done_by_launches_only(machine):
    cupy = machine.cupy
    x, y = cupy.arange(5, dtype=np.float32), cupy.zeros(5, np.float32)

    def work():
        y[...] = x * 2 + 1

    pool = PrivatePool()
    graph = captured(work, pool)
    assert not y.get().any()
    graph.launch()
    np.testing.assert_array_equal(y.get(), [1, 3, 5, 7, 9])
    x += 1
    graph.launch()
    np.testing.assert_array_equal(y.get(), [3, 5, 7, 9, 11])


def test_memory_of_captured_work_comes_from_the_private_pool(machine):
    cupy = machine.cupy
    x = cupy.ones(1000, np.float32)
    pool = PrivatePool()
    common = cupy.get_default_memory_pool().used_bytes()
    graph = captured(lambda: x * 2 * 3 * 4, pool)
    assert cupy.get_default_memory_pool().used_bytes() - common <= 512  # the place of random numbers
    assert pool.nbytes >= 4096
    graph.launch()
    np.testing.assert_array_equal(graph.result.get(), 24)
    used = pool.memory.used_bytes()
    assert used == 4096  # what was needed on the way is free for the next graph
    captured(lambda: x * 5 * 6, pool)
    del graph
    gc.collect()
    assert pool.memory.used_bytes() == 0


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda x: x.get(), "capturing"),
        (lambda x: float(x[0]), "capturing"),
        (lambda x: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
    ids=["get", "float", "an error"],
)
def test_what_no_graph_holds_is_told_and_leaves_the_device_usable(machine, work, words):
    x = machine.cupy.ones(3, np.float32)
    with pytest.raises(NotCapturedError, match=words):
        captured(lambda: work(x), PrivatePool())
    assert not any(state.capture for state in machine.streams.values())
    graph = captured(lambda: x + 1, PrivatePool())
    graph.launch()
    np.testing.assert_array_equal(graph.result.get(), 2)


def test_a_capture_that_cuda_broke_is_ended_though_it_may_not_be_asked_for(machine):
    stream = machine.cupy.cuda.get_current_stream
    seen = []

    def work():
        seen.append(stream())
        with pytest.raises(RuntimeError):
            stream().synchronize()
        with pytest.raises(RuntimeError, match="invalidated"):
            stream().is_capturing()

    with pytest.raises(NotCapturedError, match="Invalidated"):
        captured(work, PrivatePool())
    assert not seen[0].is_capturing()


def test_constants_live_as_long_as_the_graph_that_reads_them(machine):
    constants = Constants(size=1)
    x = machine.cupy.zeros(4, np.float32)

    def work():
        return x + constants.get("mine", lambda: np.arange(4, dtype=np.float32))

    warmed_up(work)
    graph = captured(work, PrivatePool())
    for other in range(3):
        constants.get(other, lambda: np.full(4, 7, np.float32))
    graph.launch()
    np.testing.assert_array_equal(graph.result.get(), [0, 1, 2, 3])


@pytest.mark.parametrize("limit", ["the device's", "the pool's"])
def test_memory_that_graphs_write_to_is_not_given_back_where_there_is_no_more(machine, monkeypatch, limit):
    cupy = machine.cupy
    x = cupy.ones(1000, np.float32)
    if limit == "the pool's":
        monkeypatch.setenv("CUPY_GPU_MEMORY_LIMIT", str(32 << 10))
    pool = PrivatePool()
    first = captured(lambda: x * 2 + 1, pool)  # what it needs on the way is free
    if limit == "the device's":
        machine.capacity = sum(block.size for block in machine.memory) + 8192
    with contextlib.suppress(NotCapturedError):
        captured(lambda: cupy.empty(100_000, np.float32), pool)
    first.launch()
    np.testing.assert_array_equal(first.result.get(), 3)


def test_what_idles_in_the_common_pool_makes_room_for_a_graph(machine):
    cupy = machine.cupy
    x = cupy.empty(100_000, np.uint8)
    del x
    machine.capacity = sum(block.size for block in machine.memory) + 8192
    graph = captured(lambda: cupy.full(100_000, 5, np.uint8), PrivatePool())
    graph.launch()
    assert graph.result.get()[-1] == 5
    with pytest.raises(NotCapturedError, match="OutOfMemoryError"):
        captured(lambda: cupy.full(200_000, 5, np.uint8), PrivatePool())


def test_warming_up_runs_on_the_stream_that_captures(machine):
    streams = []
    warmed_up(lambda: streams.append(machine.cupy.cuda.get_current_stream().ptr))
    captured(lambda: streams.append(machine.cupy.cuda.get_current_stream().ptr), PrivatePool())
    assert streams[0] == streams[1] != 0
    assert machine.cupy.cuda.get_current_stream().ptr == 0


def test_random_numbers_go_on_where_the_last_draw_stopped():
    set_seed(3)
    eager = [random_numbers.uniform(7).get() for _ in range(3)]
    set_seed(3)
    graph = captured(lambda: random_numbers.uniform(7), PrivatePool())
    replayed = []
    for _ in range(3):
        assert graph.has_the_seed()
        graph.launch()
        replayed.append(graph.result.get())
    np.testing.assert_array_equal(replayed, eager)
    set_seed(4)
    assert not graph.has_the_seed()
    with pytest.raises(GraphError):
        graph.launch()


def test_the_common_pool_is_one_for_each_device_and_lives_as_long_as_who_uses_it(machine):
    pool = capture.common_pool()
    assert capture.common_pool() is pool
    with machine.cupy.cuda.Device(1):
        assert capture.common_pool() is not pool
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None


def test_a_launch_on_another_stream_waits_for_the_last_one(machine):
    for _ in range(2):
        with capture.one_after_another():
            pass
    assert [(entry.name, entry.stream) for entry in machine.recorder.of("event")] == [("record", 0)] * 2
    machine.recorder.clear()
    with machine.cupy.cuda.Stream(non_blocking=True) as stream, capture.one_after_another():
        pass
    events = [(entry.name, entry.stream) for entry in machine.recorder.of("event")]
    assert events == [("wait", stream.ptr), ("record", stream.ptr)]
