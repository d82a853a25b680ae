"""Arrays carried to a made-up GPU and back, by one copy each way."""

import gc
import threading

import ml_dtypes
import numpy as np
import pytest

from cvzoo.backends.transfer import download, upload


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu(devices=2) as machine:
        yield machine


def arrays():
    rng = np.random.default_rng(0)
    return [
        rng.random((3, 5)).astype(np.float32),
        rng.integers(0, 255, (2, 3, 3)).astype(np.uint8),
        rng.random((4, 2)).astype(ml_dtypes.bfloat16).T,
        np.array(7, np.int64),
        np.zeros((0, 4), np.float32),
    ]


def test_arrays_go_there_and_back_by_one_copy_each_way(machine):
    there = upload(arrays())
    assert machine.recorder.counts()["h2d"] == 1
    back = download(there)
    assert machine.recorder.counts()["d2h"] == 1
    for one, two in zip(arrays(), back):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


def test_each_array_lies_where_the_widest_loads_may_read_it(machine):
    assert all(each.data.ptr % 256 == 0 for each in upload(arrays()))


def test_the_hosts_arrays_may_change_at_once_and_results_are_their_own(machine):
    one = np.arange(6, dtype=np.float32)
    (there,) = upload([one])
    one[:] = 0
    (first,) = download([there])
    for _ in range(5):  # as often as there are buffers, and more
        download(upload([np.full(6, 9, np.float32)]))
    assert first.tolist() == [0, 1, 2, 3, 4, 5]


def test_channels_last_stays_channels_last(machine):
    x = machine.cupy.zeros((2, 4, 5, 3), np.float32).transpose(0, 3, 1, 2)
    (back,) = download([x])
    assert back.shape == (2, 3, 4, 5)
    assert back.transpose(0, 2, 3, 1).flags.c_contiguous


def test_every_gpu_has_buffers_of_its_own(machine):
    with machine.cupy.cuda.Device(1):
        (there,) = upload([np.ones(3, np.float32)])
        assert there.device.id == 1
        assert download([there])[0].tolist() == [1, 1, 1]


def test_a_buffer_outlives_its_thread_until_the_copy_out_of_it_is_done(fake_gpu):
    with fake_gpu(late=True) as machine:
        found = []

        def send():
            with machine.cupy.cuda.Stream(non_blocking=True):
                found.extend(upload([np.arange(4, dtype=np.float32)]))

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
        del thread
        gc.collect()
        np.testing.assert_array_equal(found[0].get(), [0, 1, 2, 3])


def test_nothing_is_no_copy(machine):
    assert upload([]) == []
    assert download([]) == []
    assert not machine.recorder.of("h2d", "d2h")
