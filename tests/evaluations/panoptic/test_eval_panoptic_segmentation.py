"""Panoptic quality: rules by hand, ways to split, and stored references."""

import json

import numpy as np
import pytest

from cvzoo.errors import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations.panoptic import PanopticAccumulator, eval_panoptic_segmentation

CATEGORIES = [
    {"id": 1, "isthing": 1, "name": "cat"},
    {"id": 2, "isthing": 1, "name": "dog"},
    {"id": 9, "isthing": 0, "name": "sky"},
]


def strip(*parts):
    """A map one pixel high from (id, pixels) parts."""
    return np.concatenate([np.full((1, n), number) for number, n in parts], axis=1)


def score(pred_map, pred, gt_map, gt):
    """Quality of one photo; segments are id: category, crowds have their category negative."""
    pred = [{"id": number, "category_id": category} for number, category in pred.items()]
    gt = [{"id": number, "category_id": abs(c), "iscrowd": int(c < 0)} for number, c in gt.items()]
    accumulator = PanopticAccumulator(CATEGORIES)
    accumulator.update([pred_map], [pred], [gt_map], [gt])
    result = accumulator.compute()
    return [tuple(row) for row in np.stack([result.iou, result.tp, result.fp, result.fn], axis=1).tolist()]


NONE = (0, 0, 0, 0)


def test_a_segment_is_found_above_half_only():
    found = score(strip((5, 6), (0, 4)), {5: 1}, strip((7, 4), (8, 6)), {7: 1, 8: 9})
    assert found == [(4 / 6, 1, 0, 0), NONE, (0, 0, 0, 1)]
    half = score(strip((5, 8)), {5: 1}, strip((7, 4), (8, 4)), {7: 1, 8: 9})
    assert half == [(0, 0, 1, 1), NONE, (0, 0, 0, 1)]


def test_a_segment_of_another_class_is_wrong_and_missed():
    assert score(strip((5, 6)), {5: 2}, strip((7, 6)), {7: 1}) == [(0, 0, 0, 1), (0, 0, 1, 0), NONE]


def test_the_true_void_is_left_out_of_the_union_and_excuses():
    assert score(strip((5, 10)), {5: 1}, strip((7, 6), (0, 4)), {7: 1}) == [(1, 1, 0, 0), NONE, NONE]
    assert score(strip((5, 5)), {5: 2}, strip((0, 3), (7, 2)), {7: 1})[1] == NONE  # three of five on the void
    assert score(strip((5, 4)), {5: 2}, strip((0, 2), (7, 2)), {7: 1})[1] == (0, 0, 1, 0)  # half is not enough


def test_a_crowd_is_neither_missed_nor_found_but_excuses_its_class():
    crowd = strip((7, 6), (8, 4))
    assert score(strip((5, 6), (0, 4)), {5: 1}, crowd, {7: -1, 8: 9})[0] == NONE
    assert score(strip((5, 6), (0, 4)), {5: 2}, crowd, {7: -1, 8: 9})[1] == (0, 0, 1, 0)


def test_a_given_area_counts_instead_of_the_pixels():
    gt = [{"id": 7, "category_id": 1, "area": 8}]
    accumulator = PanopticAccumulator(CATEGORIES)
    accumulator.update([strip((5, 6))], [[{"id": 5, "category_id": 1}]], [strip((7, 6))], [gt])
    assert accumulator.compute().iou[0] == 6 / 8


def test_keys_and_means():
    maps, pred, gt = strip((5, 6), (6, 4)), [(5, 1), (6, 9)], [(5, 1), (6, 2)]
    segments = [[{"id": i, "category_id": c} for i, c in each] for each in (pred, gt)]
    result = eval_panoptic_segmentation([maps], [segments[0]], [maps], [segments[1]], categories=CATEGORIES)
    assert result["pq/cat"] == result["sq/cat"] == result["rq/cat"] == 1
    assert result["pq/dog"] == result["pq/sky"] == result["pq/stuff"] == 0
    assert result["pq"] == pytest.approx(1 / 3)
    assert result["pq/things"] == 0.5
    empty = eval_panoptic_segmentation([], [], [], [], categories=CATEGORIES)
    assert all(np.isnan(value) for value in empty.values())
    assert set(empty) == set(result)


def random_photos(rng, n):
    columns = [[], [], [], []]
    for _ in range(n):
        for which in (0, 2):
            ids = np.arange(1, 6) * rng.integers(1, 9)
            image = np.repeat(rng.choice(np.append(ids, 0), 8), 5).reshape(1, -1)
            there = [int(i) for i in ids if (image == i).any()]
            columns[which].append(image)
            columns[which + 1].append([{"id": i, "category_id": int(rng.choice([1, 2, 9]))} for i in there])
    return columns


def test_any_split_gives_the_same_bits():
    rng = np.random.default_rng(0)
    photos = random_photos(rng, 60)
    expected = eval_panoptic_segmentation(*photos, categories=CATEGORIES)
    assert expected["pq"] > 0
    parts = [PanopticAccumulator(CATEGORIES) for _ in range(3)]
    for part, index in zip(parts, np.array_split(rng.permutation(60), 3)):
        part.update(*([column[i] for i in index] for column in photos))
    for other in parts[1:]:
        parts[0].merge(other)
    np.testing.assert_equal(parts[0].compute().to_dict(), expected)
    with pytest.raises(ConfigError):
        parts[0].merge(PanopticAccumulator(CATEGORIES[:2]))


GOOD = (strip((5, 6)), [{"id": 5, "category_id": 1}], strip((7, 6)), [{"id": 7, "category_id": 1}])


@pytest.mark.parametrize(
    ("which", "value", "error", "words"),
    [
        (0, strip((5, 7)), ShapeError, "maps of image 1"),
        (0, strip((5, 6))[0], ShapeError, "maps of image 1"),
        (0, strip((5, 6)).astype(float), DtypeError, "pred_map of image 1"),
        (0, strip((5, 5), (6, 1)), ValueRangeError, "pred_map of image 1 has a segment that is not listed"),
        (2, strip((7, 5), (9, 1)), ValueRangeError, "gt_map of image 1 has a segment that is not listed"),
        (1, [{"id": 5}], ValueRangeError, "pred_segments of image 1: segment 0"),
        (1, [{"id": 5, "category_id": 3}], ValueRangeError, "pred_segments of image 1: segment 0 .* unknown"),
        (1, GOOD[1] * 2, ValueRangeError, "pred_segments of image 1: an id occurs twice"),
        (1, GOOD[1] + [{"id": 6, "category_id": 1}], ValueRangeError, "pred_map of image 1 has no pixel"),
        (3, GOOD[3] + [{"id": 6, "category_id": 1}], ValueRangeError, "gt_map of image 1 has no pixel"),
        (3, [{"id": 0, "category_id": 1}], ValueRangeError, "gt_segments of image 1: segment 0 has an id of 0"),
        (3, [{"id": 7, "category_id": 1, "area": -1}], ValueRangeError, "negative area"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_photo(which, value, error, words):
    photos = [[each, each] for each in GOOD]
    photos[which][1] = value
    with pytest.raises(error, match=words):
        eval_panoptic_segmentation(*photos, categories=CATEGORIES)


@pytest.mark.parametrize("categories", [[{"id": 1}], [CATEGORIES[0]] * 2, [1]])
def test_categories_must_be_apart_and_whole(categories):
    with pytest.raises(ValueRangeError):
        PanopticAccumulator(categories)


def test_the_stored_reference_is_met(shared):
    folder = shared / "eval_cases" / "open"
    case, expected = np.load(folder / "panoptic.npz"), np.load(folder / "panoptic.expected.npz")
    meta = json.loads(bytes(case["meta"]).decode())
    accumulator = PanopticAccumulator(meta["categories"])
    for n, photo in enumerate(meta["images"]):
        accumulator.update([case[f"pred_{n}"]], [photo["pred"]], [case[f"gt_{n}"]], [photo["gt"]])
    result = accumulator.compute()
    for key, of in (("all", None), ("things", result.is_thing), ("stuff", ~result.is_thing)):
        np.testing.assert_allclose(list(result.mean(of).values()), expected[key], rtol=0, atol=1e-12)
    counts = np.stack([result.iou, result.tp, result.fp, result.fn], axis=1)
    np.testing.assert_allclose(counts, expected["class_iou_tp_fp_fn"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("number", [2**63, -(2**70), float("inf")])
def test_ids_of_more_than_63_bits_are_refused(number):
    with pytest.raises(ValueRangeError, match="segment 0"):
        score(strip((5, 2)), {5: 1}, strip((7, 2)), {number: 1})
    with pytest.raises(ValueRangeError, match="id"):
        PanopticAccumulator([{"id": number, "isthing": 1, "name": "cat"}])
