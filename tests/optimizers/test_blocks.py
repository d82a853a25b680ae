"""Blocks hold every number once; threads change nothing."""

import math
import multiprocessing
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.optimizers import blocks as blocks_module
from cvzoo.optimizers.blocks import cut_into_blocks
from cvzoo.optimizers.in_threads import for_each_block

SHAPES = st.lists(st.lists(st.integers(1, 9), max_size=3).map(tuple), max_size=12)


@given(SHAPES, st.integers(1, 60), st.integers(1, 60), st.booleans())
def test_every_number_is_in_one_block(shapes, block, short, fortran):
    before = blocks_module.BLOCK, blocks_module.SHORT
    blocks_module.BLOCK, blocks_module.SHORT = block, short
    try:
        arrays = [np.zeros(shape, order="F" if fortran else "C") for shape in shapes]
        states = [{"m": np.arange(math.prod(shape), dtype=float).reshape(shape)} for shape in shapes]
        grads = [np.arange(math.prod(shape), dtype=float) for shape in shapes]
        indexes = [2 * k for k in range(len(shapes))]
        by_index = {2 * k: grad for k, grad in enumerate(grads)}
        cut = cut_into_blocks(indexes, arrays, states)
        for part in cut:
            p = part.load()
            assert p.shape == (part.n,)
            g = part.load_gradients(by_index)
            np.testing.assert_array_equal(part.state[0], g)
            p += 1 + g
            part.state[0][...] += 1
            part.store()
            assert set(part.members) <= set(indexes)
        assert sum(part.n for part in cut) == sum(array.size for array in arrays)
        for array, state in zip(arrays, states):
            expected = 1 + np.arange(array.size).reshape(array.shape)
            np.testing.assert_array_equal(array, expected)
            np.testing.assert_array_equal(state["m"], expected)  # the dictionaries' arrays are those of the blocks
    finally:
        blocks_module.BLOCK, blocks_module.SHORT = before


def _some_blocks():
    return cut_into_blocks(range(8), [np.zeros(40_000, "float32") for _ in range(8)], [{} for _ in range(8)])


@pytest.fixture
def threads(monkeypatch):
    monkeypatch.setattr("cvzoo.optimizers.in_threads.thread_count", lambda: (3, "a test"))


def test_results_come_in_order_from_several_threads(threads):
    met = threading.Barrier(3, timeout=20)
    seen = set()

    def work(block, scratch):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            met.wait()  # passes only if three threads are at work
        assert [row.shape for row in scratch] == [(block.n,)] * 4
        return block.index

    assert for_each_block(_some_blocks(), work) == list(range(8))
    assert len(seen) == 3


def test_an_error_in_a_thread_is_raised(threads):
    def work(block, scratch):
        raise ZeroDivisionError(block.index)

    with pytest.raises(ZeroDivisionError):
        for_each_block(_some_blocks(), work)


def _in_child(connection):
    connection.send(for_each_block(_some_blocks(), lambda block, scratch: block.index))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(threads):
    for_each_block(_some_blocks(), lambda block, scratch: None)
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    child = context.Process(target=_in_child, args=(theirs,))
    child.start()
    try:
        assert mine.poll(20)
        assert mine.recv() == list(range(8))
    finally:
        child.join(5)
        child.kill()
