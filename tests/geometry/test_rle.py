"""Run-length encoded masks against dense ones and strings that COCO's tool wrote."""

import concurrent.futures
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import DtypeError, ShapeError, ValueRangeError
from cvzoo.geometry import RLEs, mask_to_bbox
from cvzoo.geometry import rle_string as module

MASKS = hnp.arrays(bool, st.tuples(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9)))


def dense(rows):
    return np.array([[pixel == "1" for pixel in row] for row in rows])


def big_mask():
    mask = np.zeros((1, 500, 600), bool)
    mask[0, 100:300, 50:400] = True
    mask[0, 0, 0] = mask[0, -1, -1] = True
    return mask


@given(MASKS)
def test_there_and_back_is_the_same_mask(masks):
    rles = RLEs.from_masks(masks)
    np.testing.assert_array_equal(rles.to_masks(), masks)
    assert RLEs.from_strings(rles.to_strings(), rles.sizes) == rles
    assert RLEs.from_coco(rles.to_coco()) == rles
    assert RLEs.from_counts(np.split(rles.counts, rles.offsets[1:-1]), rles.sizes) == rles


@given(MASKS)
def test_area_and_box_are_those_of_the_dense_mask(masks):
    rles = RLEs.from_masks(masks)
    np.testing.assert_array_equal(rles.area(), masks.sum(axis=(1, 2)))
    np.testing.assert_array_equal(rles.to_bbox(), mask_to_bbox(masks))


@given(MASKS)
def test_what_is_done_in_blocks_is_what_is_done_at_once(masks):
    rles = RLEs.from_masks(masks)
    texts, area, bbox, ends = rles.to_strings(), rles.area(), rles.to_bbox(), rles.run_ends()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 3)
        again = RLEs.from_strings(texts, rles.sizes)
        assert again == rles
        assert again.to_strings() == texts
        np.testing.assert_array_equal(again.area(), area)
        np.testing.assert_array_equal(again.to_bbox(), bbox)
        np.testing.assert_array_equal(again.run_ends(), ends)


def test_runs_go_down_the_columns_and_begin_with_background():
    rles = RLEs.from_masks([dense(["100", "110"]), dense(["000", "000"]), dense(["011", "111"])])
    assert np.split(rles.counts.tolist(), rles.offsets[1:-1])[0].tolist() == [0, 2, 1, 1, 2]
    assert rles[1].counts.tolist() == [6]
    assert rles[2].counts.tolist() == [1, 5]
    assert rles.sizes.tolist() == [[2, 3]] * 3


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["0000", "0000"], "8"),  # empty
        (["1111", "1111"], "08"),  # full
        (["0110", "0110"], "242"),
        (["10", "01"], "0120"),
        (["1010", "0101", "1010"], "0110000000000"),
    ],
)
def test_strings_are_those_of_pycocotools(rows, text):
    # written by its version 2.0.11
    mask = dense(rows)
    assert RLEs.from_masks(mask[None]).to_strings() == [text]
    np.testing.assert_array_equal(RLEs.from_strings([text.encode()], [mask.shape]).to_masks()[0], mask)


def test_masks_of_many_sizes_live_together():
    masks = [np.eye(3, 5, dtype=bool), np.ones((1, 1), bool), np.zeros((4, 2), bool)]
    rles = RLEs.concatenate([RLEs.from_masks(mask[None]) for mask in masks])
    for r, mask in enumerate(masks):
        np.testing.assert_array_equal(rles[r].to_masks()[0], mask)
    assert rles[np.array([2, 0])] == RLEs.concatenate([rles[2], rles[0]])
    assert rles[np.array([False, True, False])] == rles[1]
    assert rles[-2:] == rles[1:]
    with pytest.raises(ShapeError, match="different sizes"):
        rles.to_masks()


def test_strings_and_lists_may_be_mixed():
    rles = RLEs.from_masks(np.stack([np.eye(4, dtype=bool), ~np.eye(4, dtype=bool), np.ones((4, 4), bool)]))
    records = rles.to_coco()
    records[1] = {"size": (4, 4), "counts": rles[1].counts.tolist()}
    records[2]["counts"] = records[2]["counts"].encode()
    assert RLEs.from_coco(records) == rles


def test_no_masks_at_all():
    for empty in (RLEs.from_coco([]), RLEs.from_masks(np.zeros((0, 4, 5), bool)), RLEs.concatenate([])):
        assert len(empty) == 0
        assert empty.area().shape == (0,)
        assert empty.to_bbox().shape == (0, 4)
        assert empty.to_strings() == []
        assert empty.to_masks().shape == (0, 0, 0)
        assert len(empty[[]]) == 0
    np.testing.assert_array_equal(RLEs.from_masks(np.zeros((2, 0, 5), bool)).area(), [0, 0])


def test_long_runs_take_many_characters():
    rles = RLEs.from_masks(big_mask())
    assert RLEs.from_strings(rles.to_strings(), rles.sizes) == rles
    wide = RLEs.from_counts([[2**30, 1, 2**30 - 2]], [(2**31 - 1, 1)])
    assert RLEs.from_strings(wide.to_strings(), wide.sizes) == wide
    assert wide.area().tolist() == [1]


def test_the_box_of_a_run_over_two_columns_is_as_high_as_the_photo():
    mask = np.zeros((1, 5, 4), bool)
    mask[0, 4, 1] = mask[0, 0, 2] = True
    assert RLEs.from_masks(mask).to_bbox().tolist() == [[0, 1, 5, 3]]


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: RLEs.from_strings(["8", "7"], [(2, 4)] * 2), ValueRangeError, "runs of RLE 1 do not add up"),
        (lambda: RLEs.from_strings(["8", "8", "\t"], [(2, 4)] * 3), ValueRangeError, "string 2 has an invalid"),
        (lambda: RLEs.from_strings(["8", "é"], [(2, 4)] * 2), ValueRangeError, "string 1 has a character"),
        (lambda: RLEs.from_strings(["8", "8", "8P"], [(2, 4)] * 3), ValueRangeError, "string 2 is truncated"),
        (lambda: RLEs.from_strings(["8", "P" * 9 + "1"], [(2, 4)] * 2), ValueRangeError, "string 1 .* too long"),
        (lambda: RLEs.from_strings(["8", ""], [(2, 4)] * 2), ValueRangeError, "RLE 1 do not add up"),
        (lambda: RLEs.from_strings(["8", "8"], [(2, 4)]), ShapeError, "offsets"),
        (lambda: RLEs.from_strings([8], [(2, 4)]), DtypeError, "string 0 must be str"),
        (lambda: RLEs.from_strings([None], [(2, 4)]), DtypeError, "string 0 must be str"),
        (lambda: RLEs.from_strings(["N:"], [(2, 4)]), ValueRangeError, "RLE 0 has a negative run"),
        (lambda: RLEs.from_counts([[8], [-1, 9]], [(2, 4)] * 2), ValueRangeError, "RLE 1 has a negative run"),
        (lambda: RLEs.from_counts([[8.0]], [(2, 4)]), DtypeError, "integers"),
        (lambda: RLEs.from_counts([[2**40]], [(2, 4)]), ValueRangeError, "does not fit"),
        (lambda: RLEs.from_counts([[8]], [(-2, -4)]), ValueRangeError, "RLE 0 has a negative size"),
        (lambda: RLEs.from_counts([[8]], [(2**20, 2**20)]), ValueRangeError, "RLE 0 has too many pixels"),
        (lambda: RLEs.from_coco([{"size": [2, 4], "counts": "8"}, {"size": [2, 4]}]), ValueRangeError, "RLE 1 is no"),
        (lambda: RLEs.from_coco([{"size": [2], "counts": "8"}]), ValueRangeError, "RLE 0 is no"),
        (lambda: RLEs.from_coco([None]), ValueRangeError, "RLE 0 is no"),
        (lambda: RLEs.from_masks(np.zeros((2, 3), bool)), ShapeError, "masks must be"),
        (lambda: RLEs.from_masks(np.zeros((1, 2, 3))), DtypeError, "bool or integers"),
        (lambda: RLEs([8], [0, 2], [(2, 4)]), ShapeError, "offsets"),
    ],
)
def test_what_is_malformed_is_named_with_its_index(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_the_strings_of_real_masks_decode_to_themselves(shared):
    with gzip.open(shared / "eval_cases" / "open" / "real_coco100_segm.json.gz") as file:
        records = [each["segmentation"] for each in json.load(file)["dt"]]
    rles = RLEs.from_coco(records)
    assert rles.to_coco() == [{"size": record["size"], "counts": record["counts"]} for record in records]


def test_masks_of_several_threads_do_not_meet():
    rng = np.random.default_rng(0)
    masks = rng.random((8, 6, 30, 40)) < 0.5

    def work(k):
        for _ in range(100):
            rles = RLEs.from_masks(masks[k])
            again = RLEs.from_strings(rles.to_strings(), rles.sizes)
            np.testing.assert_array_equal(again.area(), masks[k].sum((1, 2)))
        return k

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))
