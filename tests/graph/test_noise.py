"""Arbitrary values for tests of kernels: positive, finite, unlike their neighbours, in any memory format."""

import ml_dtypes
import numpy as np
import pytest

from cvzoo.graph.noise import checksum_of, fill_with_noise


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.uint8, np.int8, np.int32])
def test_values_are_positive_and_finite_in_every_dtype(dtype):
    array = np.zeros((3, 50, 700), dtype)
    assert fill_with_noise(array)
    values = array.astype(np.float64)
    assert values.min() > 0
    assert np.isfinite(values).all()
    assert len(np.unique(values)) > 90


def test_bits_of_bfloat16_are_values_below_one():
    array = np.zeros((100,), np.uint16)
    assert fill_with_noise(array)
    values = array.view(ml_dtypes.bfloat16).astype(np.float32)
    assert 0.05 < values.min() < values.max() <= 1


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 1, 0, 2)])
def test_the_memory_format_does_not_matter(order):
    array = np.zeros((4, 64, 32, 48), np.float32).transpose(order)
    assert fill_with_noise(array)
    assert (array > 0).all()
    assert (array[:1] != array[1:2]).mean() > 0.9


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (65521,), (2 * 65521 + 1,)])
def test_any_size_is_filled(shape):
    array = np.zeros(shape, np.float32)
    assert fill_with_noise(array)
    assert (array > 0).all()


def test_parts_of_arrays_and_constants_stay_as_they_are():
    whole = np.zeros((4, 8), np.float32)
    assert not fill_with_noise(whole[:, ::2])
    whole.flags.writeable = False
    assert not fill_with_noise(whole)
    assert not whole.any()


def test_another_seed_gives_other_values():
    arrays = [np.zeros((3, 7), np.float32) for _ in range(4)]
    for array, seed in zip(arrays, (0, 1, 2, 1)):
        assert fill_with_noise(array, seed)
        assert (array > 0).all()
    assert [np.array_equal(arrays[1], array) for array in arrays] == [False, True, False, True]


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7, 11), (40, 1021)])
def test_a_checksum_tells_a_changed_value_and_values_that_move(shape, dtype):
    array = np.random.default_rng(0).integers(1, 100, shape).astype(dtype)
    checksum = checksum_of([array])
    assert checksum == checksum_of([array.copy()])
    flat = array.reshape(-1)
    for k in {0, flat.size // 2, flat.size - 1} if flat.size else ():
        changed = flat.copy()
        changed[k] = 101
        assert checksum_of([changed.reshape(shape)]) != checksum
    if flat.size > 1:
        flat[[0, 1]] = 103, 102
        assert checksum_of([array]) != checksum_of([flat[[1, 0, *range(2, flat.size)]].reshape(shape)])


def test_a_checksum_is_of_memory_in_its_order_and_of_parts_without_the_rest():
    array = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    assert checksum_of([array]) == checksum_of([array.transpose(2, 0, 1)])
    part = array[:, 1:3]
    before = checksum_of([part])
    array[:, 0] = 7
    assert checksum_of([part]) == before
    assert checksum_of([part, array]) != checksum_of([array, part])
