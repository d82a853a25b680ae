import copy
import gc
import pickle
import random
import threading

import numpy as np
import pytest

from cvzoo.backends.onednn.pool import Pool, _size_class

F32 = np.dtype(np.float32)


def take(pool, n):
    return pool.take((n,), (4,), F32, 4 * n)


def test_memory_is_used_again_when_nobody_refers_to_it():
    pool = Pool(1 << 30)
    x = take(pool, 1 << 20)
    address = x.ctypes.data
    view = x[5:7]
    del x
    assert pool.idle_bytes == 0  # the view still lives there
    y = take(pool, 1 << 20)
    assert y.ctypes.data != address
    del view
    assert pool.idle_bytes > 0
    assert take(pool, (1 << 20) - 100).ctypes.data == address
    assert pool.made_blocks == 2


@pytest.mark.parametrize("limit", [1 << 30, 0], ids=["pool", "no pool"])
@pytest.mark.parametrize("n", [1, 100, 100_003])
def test_arrays_are_plain_and_aligned(n, limit):
    x = take(Pool(limit), n)
    assert type(x) is np.ndarray
    assert type(x[2:5]) is np.ndarray
    assert type(np.asarray(x.base)) is np.ndarray
    assert x.ctypes.data % 64 == 0
    assert x.flags.writeable


def test_copies_and_pickles_own_their_memory():
    pool = Pool(1 << 30)
    x = take(pool, 1 << 16)
    x[...] = np.arange(1 << 16)
    copies = [x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x + 0]
    del x
    take(pool, 1 << 16)[...] = -1
    for y in copies:
        assert y.flags.owndata or y.base is None or not hasattr(y.base, "block")
        np.testing.assert_array_equal(y, np.arange(1 << 16))


def test_somebody_who_holds_only_the_base_keeps_the_memory():
    pool = Pool(1 << 30)
    x = take(pool, 1 << 16)
    x[...] = 7
    other = np.asarray(x.base).view(F32)
    del x
    take(pool, 1 << 16)[...] = 8
    assert (other[: 1 << 16] == 7).all()


def test_idle_memory_is_bounded_and_can_be_released():
    pool = Pool(10 << 20)
    arrays = [take(pool, 1 << 18) for _ in range(40)]
    del arrays
    assert 0 < pool.idle_bytes <= pool.limit
    assert pool.release() > 0
    assert pool.idle_bytes == 0
    assert pool.release() == 0


def test_a_limit_of_zero_turns_it_off():
    pool = Pool(0)
    x = take(pool, 1 << 20)
    assert type(x.base) is np.ndarray
    assert pool.made_blocks == 0


def test_small_arrays_have_memory_of_their_own():
    pool = Pool(1 << 30)
    x, y = take(pool, 100), take(pool, 100)
    assert x.base is not y.base
    assert pool.made_blocks == 0
    assert pool.take((0, 5), (20, 4), F32, 0).shape == (0, 5)


@pytest.mark.parametrize("n", [1, 5, 1000, 65536, 65537, 81920, 81921, 10**7 + 1])
def test_a_block_is_large_enough_and_not_much_larger(n):
    n = max(n, 65536)
    assert n <= _size_class(n) <= 1.25 * n


@pytest.mark.slow
def test_living_arrays_never_share_memory_among_threads():
    pool = Pool(64 << 20)
    failures = []

    def work(number):
        choose = random.Random(number)
        living = []
        for step in range(300):
            mark = number * 1000 + step
            x = take(pool, choose.randrange(1 << 14, 1 << 17))
            x[...] = mark
            living.append((mark, x))
            if len(living) > 6:
                mark, x = living.pop(choose.randrange(len(living)))
                if x[0] != mark or x[-1] != mark:
                    failures.append((number, mark))
            if step % 50 == 0:
                gc.collect()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert pool.idle_bytes <= pool.limit


def test_blocks_in_a_cycle_come_back_when_the_collector_runs():
    pool = Pool(1 << 30)
    loop = [take(pool, 1 << 16)]
    loop.append(loop)
    del loop
    gc.collect()
    assert pool.idle_bytes > 0


def test_sizes_that_nobody_asks_for_make_room_for_those_in_use():
    pool = Pool(8 << 20)
    for n in range(1, 9):  # fills the pool with sizes of long ago
        del_me = take(pool, n << 17)
        del del_me
    made = pool.made_blocks
    for _ in range(10):
        pair = take(pool, 3 << 18), take(pool, 3 << 18)
        del pair
    assert pool.made_blocks <= made + 2
    assert pool.idle_bytes <= pool.limit


def test_a_block_larger_than_the_limit_is_not_kept():
    pool = Pool(1 << 20)
    array = take(pool, 1 << 20)
    del array
    assert pool.idle_bytes == 0


def test_in_a_frugal_block_large_memory_does_not_lie_idle():
    pool = Pool(1 << 30)
    with pool.frugal(), pool.frugal():
        arrays = [pool.take((30 << 20,), (1,), np.dtype(np.uint8), 30 << 20) for _ in range(4)]
        del arrays
        assert pool.idle_bytes <= 64 << 20
    arrays = [pool.take((30 << 20,), (1,), np.dtype(np.uint8), 30 << 20) for _ in range(4)]
    del arrays
    assert pool.idle_bytes > 100 << 20
