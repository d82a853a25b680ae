"""Batches of examples as arrays."""

import numpy as np
import pytest

from cvzoo.errors import BackendError, ShapeError
from cvzoo.training import concat_examples

PHOTO = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_tuples_become_a_tuple_of_arrays():
    x, t = concat_examples([(PHOTO, np.int32(1)), (PHOTO + 1, np.int32(2))])
    np.testing.assert_array_equal(x, np.stack([PHOTO, PHOTO + 1]))
    assert x.dtype == np.float32
    np.testing.assert_array_equal(t, np.int32([1, 2]))
    assert t.dtype == np.int32


def test_dictionaries_become_a_dictionary_of_arrays():
    batch = concat_examples([{"x": PHOTO, "t": 1}, {"t": 2, "x": PHOTO}])
    assert set(batch) == {"x", "t"}
    assert batch["x"].shape == (2, 2, 3)
    np.testing.assert_array_equal(batch["t"], [1, 2])


def test_single_values_become_one_array():
    np.testing.assert_array_equal(concat_examples([PHOTO, PHOTO]), np.stack([PHOTO, PHOTO]))


@pytest.mark.parametrize(
    ("value", "dtype"), [(1, np.int32), (0.5, np.float32), (True, np.bool_), (np.float64(1), "f8")]
)
def test_pythons_numbers_become_the_networks(value, dtype):
    assert concat_examples([value, value]).dtype == dtype


def test_padding_fills_up_at_the_ends():
    small, large = np.float32([[1]]), np.float32([[2, 3], [4, 5]])
    joined = concat_examples([small, large], padding=-1)
    np.testing.assert_array_equal(joined, [[[1, -1], [-1, -1]], [[2, 3], [4, 5]]])
    assert joined.dtype == np.float32


def test_each_place_has_its_padding():
    x, t = concat_examples([(np.ones(1, np.float32), 1), (np.ones(2, np.float32), 2)], padding=(9, None))
    np.testing.assert_array_equal(x, [[1, 9], [1, 1]])
    np.testing.assert_array_equal(t, [1, 2])
    batch = concat_examples([{"x": np.ones(1)}, {"x": np.ones(2)}], padding={"x": 0})
    np.testing.assert_array_equal(batch["x"], [[1, 0], [1, 1]])


def test_the_examples_are_copied():
    x = concat_examples([PHOTO])
    x[...] = 7
    assert PHOTO[0, 0] == 0


@pytest.mark.parametrize(
    ("batch", "padding", "says"),
    [
        ([], None, "the batch is empty"),
        ([(1, 2), (1,)], None, "differ in length"),
        ([(1, 2), 3], None, "differ in length"),
        ([{"a": 1}, {"b": 1}], None, "different keys"),
        ([np.zeros(1), np.zeros(2)], None, r"differ in shape[^$]*padding=0"),
        ([(1, np.zeros(1)), (1, np.zeros(2))], None, "value 1 differ in shape"),
        ([np.zeros(1), np.zeros((2, 2))], 0, "differ in shape"),  # also with padding: other axes
    ],
)
def test_what_does_not_fit_is_told(batch, padding, says):
    with pytest.raises(ShapeError, match=says):
        concat_examples(batch, padding=padding)


def test_a_device_that_is_not_there_is_told():
    with pytest.raises(BackendError):
        concat_examples([PHOTO], "gpu:99")
