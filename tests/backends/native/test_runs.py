"""Run-length encoded masks by our own kernels, against NumPy's."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.backends.native import runs
from cvzoo.backends.native.library import why_no_native
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_difference
from cvzoo.geometry.rle_string import decode_rle_strings, encode_rle_strings

pytestmark = pytest.mark.skipif(why_no_native() is not None, reason=str(why_no_native()))


def by_numpy(function, *arguments):
    with mock.patch.object(runs, "native", return_value=None):
        return function(*arguments)


def masks(seed, n, height, width, empty_runs):
    rng = np.random.default_rng(seed)
    counts = []
    for _ in range(n):
        ends = np.sort(rng.integers(0, height * width + 1, rng.integers(0, 40)))
        ends = ends if empty_runs else np.unique(ends[(ends > 0) & (ends < height * width)])
        counts.append(np.diff(ends, prepend=0, append=height * width).tolist())
    return RLEs.from_counts(counts, np.full((n, 2), (height, width)))


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 6),
    size=st.tuples(st.integers(1, 30), st.integers(1, 30)),
    empty_runs=st.booleans(),
    n_pair=st.integers(0, 200),
    threads=st.integers(1, 3),
)
def test_the_pixels_in_which_masks_differ_are_those_of_dense_masks(seed, n, size, empty_runs, n_pair, threads):
    a, b = masks(seed, n, *size, empty_runs), masks(seed + 1, n + 1, *size, empty_runs)
    rng = np.random.default_rng(seed)
    index_a, index_b = rng.integers(0, n, n_pair), rng.integers(0, n + 1, n_pair)
    with mock.patch.object(runs, "threads_now", return_value=(threads, "")):
        got = rle_difference(a, b, index_a, index_b)
    np.testing.assert_array_equal(got, (a.to_masks()[index_a] ^ b.to_masks()[index_b]).sum((1, 2)))
    np.testing.assert_array_equal(got, by_numpy(rle_difference, a, b, index_a, index_b))


def test_masks_without_pixels_do_not_differ():
    empty = RLEs(np.empty(0, np.int32), np.zeros(2, np.int64), np.zeros((1, 2), np.int32))
    np.testing.assert_array_equal(rle_difference(empty, empty, np.zeros(1, np.int64), np.zeros(1, np.int64)), [0])


@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 40), max_size=9), max_size=6))
def test_strings_are_decoded_to_the_counts_that_were_encoded(lists):
    counts = np.array([count for each in lists for count in each], np.int64).astype(np.int32)
    offsets = np.cumsum([0, *map(len, lists)])
    strings = by_numpy(encode_rle_strings, counts, offsets)
    for got, want in zip(decode_rle_strings(strings), by_numpy(decode_rle_strings, strings)):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@given(st.lists(st.text(st.characters(min_codepoint=40, max_codepoint=115), max_size=12), max_size=5))
def test_a_malformed_string_has_the_same_error_and_a_sound_one_the_same_counts(strings):
    def outcome(decode):
        try:
            return [each.tolist() for each in decode(decode_rle_strings, strings)]
        except ValueRangeError as error:
            return str(error)

    assert outcome(lambda function, *arguments: function(*arguments)) == outcome(by_numpy)


coordinates = st.floats(-20, 70) | st.sampled_from([-1e8, 1e8, 0.0, 2.5, 12.1, 30.0]) | st.integers(-5, 50)


@given(
    rings=st.lists(st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=12), min_size=1, max_size=5),
    size=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_polygons_have_numpys_masks(rings, size):
    polygons = [[[float(value) for point in ring for value in point]] for ring in rings]
    assert polygons_to_rle(polygons, size) == by_numpy(polygons_to_rle, polygons, size)


def test_outlines_of_usual_images_have_numpys_masks():
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    reach = rng.uniform(1, 400, (200, 1, 2)) * rng.uniform(0.7, 1.3, (200, 40, 1))
    points = rng.uniform(0, 640, (200, 1, 2)) + reach * np.stack([np.cos(angle), np.sin(angle)], 1)
    polygons = [[each.ravel().tolist()] for each in np.round(points, 2)]
    assert polygons_to_rle(polygons, (480, 640)) == by_numpy(polygons_to_rle, polygons, (480, 640))


def test_a_polygon_that_crosses_a_column_a_thousand_times_has_numpys_mask():
    x, y = np.tile([3.0, 9.0], 1000), np.linspace(0, 50, 2000)
    polygon = [[np.stack([x, y], 1).ravel().tolist()]]
    assert polygons_to_rle(polygon, (60, 12)) == by_numpy(polygons_to_rle, polygon, (60, 12))
