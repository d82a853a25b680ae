import copy
import functools
import gc
import itertools
import linecache
import pickle
import random
import sys
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
    assert n <= _size_class(n) <= 1.04 * n
    assert _size_class(n) % 64 == 0


def test_freed_neighbors_are_one_gap_for_larger_arrays():
    pool = Pool(1 << 30)
    arrays = [take(pool, 1 << 18) for _ in range(8)]
    addresses = [x.ctypes.data for x in arrays]
    for k in (1, 3, 2, 0, 4, 7, 5, 6):
        arrays[k] = None
    assert (pool.live_bytes, pool.idle_bytes) == (0, 8 << 20)
    x = take(pool, 8 << 18)
    assert x.ctypes.data == addresses[0]
    assert (pool.live_bytes, pool.idle_bytes, pool.most_bytes) == (8 << 20, 0, 8 << 20)


def test_the_smallest_sufficient_gap_is_taken():
    pool = Pool(1 << 30)
    arrays = [take(pool, n << 18) for n in (4, 1, 2, 1, 3)]
    expected = arrays[2].ctypes.data
    arrays[0] = arrays[2] = None
    assert take(pool, 2 << 18).ctypes.data == expected


def test_a_network_of_many_sizes_leaves_little_more_than_its_peak():
    pool, sizes, peak = Pool(1 << 30), (50, 13, 50, 27, 7, 28, 14, 3, 13), 0
    for _ in range(3):
        x = None
        for size in sizes:  # each needs its input and an intermediate result
            h = take(pool, size << 17)
            x = take(pool, size << 18)
            peak = max(peak, pool.live_bytes)
            del h
        del x
    assert pool.live_bytes == 0
    assert pool.idle_bytes == pool.most_bytes <= 1.6 * peak
    assert pool.idle_bytes < sum(set(sizes)) * (3 << 19)  # a block for each size, as it is if they are not joined


def test_memory_that_was_returned_to_the_system_is_fresh():
    pool = Pool(1 << 30)
    first, x, last = (take(pool, 1 << 20) for _ in range(3))
    first[...], x[...], last[...] = 1, 2, 3
    address = x.ctypes.data
    del x
    assert pool.release() == 4 << 20
    assert (first == 1).all()
    assert (last == 3).all()
    x = take(pool, 1 << 20)
    assert x.ctypes.data == address
    assert not x.any()  # pages that the system has filled with zeros


def test_a_finalizer_may_take_and_free_while_the_pool_is_at_work():
    pool = Pool(1 << 30)
    x = take(pool, 1 << 20)
    with pool._lock:  # as the garbage collector, in the middle of another call
        y = take(pool, 1 << 20)
        y[...] = 5
        del x
        assert pool._idle == 0
    assert (y == 5).all()
    assert pool.idle_bytes == 4 << 20
    assert take(pool, 1 << 20) is not None


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


class Interrupt(BaseException):
    pass


def interrupted_at(k, action):
    """Run the action, and raise an Interrupt at the k-th line of the pool that it runs; whether there were as many.

    `with` is not such a line: between its block and the release only a trace can raise, no handler of a signal.
    """
    left = k

    def trace(frame, event, _):
        nonlocal left
        path = frame.f_code.co_filename
        if path != Pool.take.__code__.co_filename:
            return None
        if event == "line" and not linecache.getline(path, frame.f_lineno).lstrip().startswith("with "):
            left -= 1
            if left == 0:
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except Interrupt:
        pass
    finally:
        sys.settrace(before)
    return left <= 0


def takes_and_returns(pool):
    x = [take(pool, n << 18) for n in (2, 5, 1)]
    del x[0]
    x.append(take(pool, 3 << 18))
    del x
    pool.release()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an interrupt in a finalizer
def test_an_interrupt_at_any_line_leaves_the_pool_usable_by_all_threads():
    for k in range(1, 1000):
        pool = Pool(8 << 20)
        kept = [take(pool, n << 18) for n in (1, 2, 3, 4)]
        del kept[1]
        came = interrupted_at(k, functools.partial(takes_and_returns, pool))
        arrays = []
        others = functools.partial(takes_and_keeps, pool, arrays)
        thread = threading.Thread(target=others, daemon=True)
        thread.start()
        thread.join(30)
        assert len(arrays) == 3, f"after an interrupt at line {k} other threads wait forever"
        spans = sorted((x.ctypes.data, x.ctypes.data + x.nbytes) for x in (*kept, *arrays))
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
        del arrays[:]
        pool.release()
        assert pool.idle_bytes == 0
        if not came:
            return
    raise AssertionError("there is no end of lines")


def takes_and_keeps(pool, arrays):
    arrays.extend(take(pool, n << 18) for n in (1, 2, 6))
