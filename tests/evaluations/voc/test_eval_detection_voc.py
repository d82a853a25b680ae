"""Pascal VOC's scoring of boxes: rules by hand, a slow text of the rules, and stored references."""

import gzip
import json
import math

import numpy as np
import pytest

from cvzoo.errors import ConfigError, DtypeError, ShapeError, ValueRangeError
from cvzoo.evaluations import pairs
from cvzoo.evaluations.voc import (
    VOC07_RECALLS,
    DetectionVOCAccumulator,
    VOCResult,
    calc_detection_voc_ap,
    calc_detection_voc_prec_rec,
    eval_detection_voc,
)
from cvzoo.evaluations.voc.matches import match_voc_bboxes

KEYS = ("pred_bboxes", "pred_labels", "pred_scores", "gt_bboxes", "gt_labels", "gt_difficults")
GRIDS = {"area": {}, "11": {"use_07_metric": True}}
GRIDS["11_decimal"] = {"use_07_metric": True, "recalls": np.arange(11) / 10}
BOX = [0, 0, 9, 9]
NEAR = [0, 0, 9, 8]
FAR = [50, 50, 60, 60]


def columns(*photos):
    """Arguments of eval_detection_voc from photos of (detections (box, score), objects (box, difficult)), class 0."""
    rows = []
    for detections, objects in photos:
        rows.append(
            (
                np.array([box for box, _ in detections], np.float32).reshape(-1, 4),
                np.zeros(len(detections), np.int32),
                np.array([score for _, score in detections], np.float32),
                np.array([box for box, _ in objects], np.float32).reshape(-1, 4),
                np.zeros(len(objects), np.int32),
                np.array([difficult for _, difficult in objects], bool),
            )
        )
    return [list(column) for column in zip(*rows)]


@pytest.mark.parametrize(
    ("photo", "ap"),
    [
        (([(BOX, 0.9)], [(BOX, False)]), 1),
        (([(FAR, 0.9)], [(BOX, False)]), 0),
        (([], [(BOX, False)]), 0),
        (([(FAR, 0.9), (BOX, 0.8)], [(BOX, False)]), 1 / 2),
        (([(BOX, 0.9), (NEAR, 0.8)], [(BOX, False)]), 1),  # the double comes too late to harm
        (([(BOX, 0.9), (NEAR, 0.8), (FAR, 0.7)], [(BOX, False), (FAR, False)]), 1 / 2 + 1 / 3),  # here it harms
        (([(BOX, 0.9), (FAR, 0.8)], [(BOX, True), (FAR, False)]), 1),  # a difficult object is neither
        (([(BOX, 0.9), (BOX, 0.8), (FAR, 0.7)], [(BOX, True), (FAR, False)]), 1),  # nor when hit twice
        (([(BOX, 0.9)], [(BOX, True)]), math.nan),  # nothing to find
        (([(BOX, 0.9)], []), math.nan),
        # the best object counts though it is taken; the other one, which overlaps enough, is not tried
        (([(BOX, 0.9), (BOX, 0.8)], [(BOX, False), (NEAR, False)]), 1 / 2),
    ],
)
def test_rules_by_hand(photo, ap):
    result = eval_detection_voc(*columns(photo))
    np.testing.assert_allclose(result["ap"], [ap], rtol=0, atol=1e-15)
    np.testing.assert_allclose(result["map"], ap, rtol=0, atol=1e-15)


def test_an_overlap_of_exactly_the_threshold_counts():
    half = [0, 0, 9, 4]  # with the far borders 50 of 100 pixels, without 36 of 81
    photo = ([(half, 0.9)], [(BOX, False)])
    assert eval_detection_voc(*columns(photo))["map"] == 1
    assert eval_detection_voc(*columns(photo), plus=0)["map"] == 0
    assert eval_detection_voc(*columns(photo), iou_thresh=0.51)["map"] == 0


def test_equal_scores_keep_their_order():
    right, wrong = ([(BOX, 0.5)], [(BOX, False)]), ([(FAR, 0.5)], [(BOX, False)])
    assert eval_detection_voc(*columns(right, wrong))["map"] == 0.5
    assert eval_detection_voc(*columns(wrong, right))["map"] == 0.25
    assert "order of photos" in VOCResult.of(match_voc_bboxes(*columns(wrong, right))).notes[0]


def test_classes_are_apart_and_unknown_ones_have_no_number():
    args = columns(([(BOX, 0.9), (FAR, 0.8)], [(BOX, False), (FAR, False)]))
    args[1][0][:] = [0, 3]
    args[4][0][:] = [3, 0]
    result = eval_detection_voc(*args, n_fg_class=6)
    np.testing.assert_array_equal(result["ap"], [0, np.nan, np.nan, 0, np.nan, np.nan])
    assert result["map"] == 0
    prec, rec = calc_detection_voc_prec_rec(*args)
    assert [p is None for p in prec] == [r is None for r in rec] == [False, True, True, False]


def test_precision_has_no_value_until_something_counts():
    args = columns(([(BOX, 0.9), (FAR, 0.8)], [(BOX, True), (FAR, False)]))
    prec, rec = calc_detection_voc_prec_rec(*args)
    np.testing.assert_array_equal(prec[0], [np.nan, 1])
    np.testing.assert_array_equal(rec[0], [0, 1])
    prec, rec = calc_detection_voc_prec_rec(*columns(([(BOX, 0.9)], [(BOX, True)])))
    assert np.isnan(prec[0]).all()
    assert rec == [None]


def test_nothing_at_all_is_no_number_and_no_crash():
    for args in (columns(([], [])), [[]] * 5):
        result = eval_detection_voc(*args)
        assert result["ap"].shape == (0,)
        assert math.isnan(result["map"])


def test_eleven_recalls_are_those_of_the_ports_unless_others_are_given():
    # recall 3 / 10 is below 3 * 0.1
    prec, rec = [np.ones(3)], [np.array([0.1, 0.2, 3 / 10])]
    assert calc_detection_voc_ap(prec, rec, use_07_metric=True)[0] == pytest.approx(3 / 11)
    assert calc_detection_voc_ap(prec, rec, use_07_metric=True, recalls=np.arange(11) / 10)[0] == pytest.approx(4 / 11)
    assert calc_detection_voc_ap(prec, rec)[0] == pytest.approx(0.3)
    np.testing.assert_array_equal(VOC07_RECALLS, np.arange(0.0, 1.1, 0.1))


def random_photos(rng, n, *, n_class=3):
    photos = [[] for _ in KEYS]
    for _ in range(n):
        n_gt, n_pred = rng.integers(0, 6, 2)
        corner, size = rng.integers(0, 30, (n_gt, 2)), rng.integers(0, 20, (n_gt, 2))
        gt = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
        pred = gt[rng.integers(0, n_gt, n_pred)] + rng.integers(-2, 3, (n_pred, 1)) if n_gt else np.zeros((n_pred, 4))
        row = (
            pred.astype(np.float32),
            rng.integers(0, n_class, n_pred).astype(np.int32),
            rng.integers(0, 5, n_pred).astype(np.float32) / 5,  # many ties
            gt,
            rng.integers(0, n_class, n_gt).astype(np.int32),
            rng.random(n_gt) < 0.3,
        )
        for column, value in zip(photos, row):
            column.append(value)
    return photos


def slow_curve(photos, label, plus):
    """The rules as text: tp and fp flags of one class in rank order, and how many objects there are."""
    ranked, taken, n_positive = [], set(), 0
    for photo, (boxes, labels, scores, _, gt_label, difficult) in enumerate(zip(*photos)):
        n_positive += int(((gt_label == label) & ~difficult).sum())
        ranked += [(-float(s), photo, b) for b, l, s in zip(boxes.astype(float), labels, scores) if l == label]
    flags = []
    for _, photo, box in sorted(ranked, key=lambda each: each[0]):
        best, chosen = 0, None
        for g, other in enumerate(photos[3][photo].astype(float)):
            if photos[4][photo][g] != label:
                continue
            high, wide = (min(box[k + 2], other[k + 2]) - max(box[k], other[k]) + plus for k in (0, 1))
            if high > 0 and wide > 0:
                areas = [(b[2] - b[0] + plus) * (b[3] - b[1] + plus) for b in (box, other)]
                overlap = high * wide / (sum(areas) - high * wide)
                if overlap > best:
                    best, chosen = overlap, g
        if best >= 0.5 and photos[5][photo][chosen]:
            flags.append(-1)
        else:
            flags.append(int(best >= 0.5 and (photo, chosen) not in taken))
            taken |= {(photo, chosen)} if best >= 0.5 else set()
    return flags, n_positive


@pytest.mark.parametrize("plus", [0, 1])
def test_matches_are_those_of_the_rules_read_slowly(plus):
    photos = random_photos(np.random.default_rng(plus), 60)
    matches = match_voc_bboxes(*photos, plus=plus)
    order = np.lexsort((matches.image, -matches.score, matches.label))
    for label in range(3):
        flags, n_positive = slow_curve(photos, label, plus)
        mine = order[matches.label[order] == label]
        assert matches.match[mine].tolist() == flags
        assert matches.n_positive[label] == n_positive


def test_blocks_of_pairs_do_not_change_the_matches(monkeypatch):
    photos = random_photos(np.random.default_rng(3), 30)
    whole = match_voc_bboxes(*photos)
    for block in (1, 7):
        monkeypatch.setattr(pairs, "_BLOCK", block)
        np.testing.assert_array_equal(match_voc_bboxes(*photos).match, whole.match)


def split(photos, index):
    return [[column[i] for i in index] for column in photos]


def test_any_split_over_workers_gives_the_same_bits():
    rng = np.random.default_rng(7)
    photos = random_photos(rng, 40)
    expected = eval_detection_voc(*photos)
    for n_worker in (1, 2, 5):
        owner = rng.integers(0, n_worker, 40)
        workers = []
        for worker in range(n_worker):
            accumulator = DetectionVOCAccumulator()
            mine = rng.permutation(np.flatnonzero(owner == worker))
            for batch in np.array_split(mine, 3):
                accumulator.update(*split(photos, batch), indices=batch)
            workers.append(accumulator)
        for other in workers[1:]:
            workers[0].merge(other)
        result = workers[0].compute()
        np.testing.assert_array_equal(result.ap, expected["ap"])
        assert len(workers[0]) == result.n_photo == 40


def test_without_indices_photos_are_numbered_as_they_come():
    photos = random_photos(np.random.default_rng(8), 20)
    first, second = DetectionVOCAccumulator(), DetectionVOCAccumulator()
    first.update(*split(photos, range(9)))
    assert first.compute().n_photo == 9  # asking early does no harm
    second.update(*split(photos, range(9, 15)))
    second.update(*split(photos, range(15, 20)))
    first.merge(second)
    np.testing.assert_array_equal(first.compute().ap, eval_detection_voc(*photos)["ap"])


def test_accumulators_that_do_not_fit_are_not_merged():
    photos = random_photos(np.random.default_rng(9), 2)
    for other in (DetectionVOCAccumulator(plus=0), DetectionVOCAccumulator(iou_thresh=0.7)):
        with pytest.raises(ConfigError, match="different settings"):
            DetectionVOCAccumulator().merge(other)
    a, b = DetectionVOCAccumulator(), DetectionVOCAccumulator()
    a.update(*photos, indices=[3, 5])
    b.update(*split(photos, [0]), indices=[5])
    with pytest.raises(ValueRangeError, match="image 5 was counted already"):
        a.merge(b)
    with pytest.raises(ValueRangeError, match="repeat"):
        b.update(*photos, indices=[8, 8])
    with pytest.raises(ShapeError, match="indices"):
        b.update(*photos, indices=[8])
    with pytest.raises(ConfigError, match="every update or with none"):
        a.update(*photos)


@pytest.mark.parametrize(
    ("which", "value", "error", "words"),
    [
        (0, [[0, 0, np.nan, 1]], ValueRangeError, "pred_bboxes: instance 0 of image 1"),
        (0, [[0, 5, 3, 1]], ValueRangeError, "pred_bboxes: instance 0 of image 1"),
        (0, [[0, 5, 3]], ShapeError, "pred_bboxes of image 1"),
        (0, [["a", "b", "c", "d"]], DtypeError, "pred_bboxes of image 1"),
        (1, [0, 0], ShapeError, "pred_labels of image 1"),
        (1, [0.5], DtypeError, "pred_labels of image 1"),
        (1, [-1], ValueRangeError, "pred_labels: instance 0 of image 1"),
        (1, [20], ValueRangeError, "image 1 has a label out of range"),
        (2, [np.nan], ValueRangeError, "pred_scores: instance 0 of image 1 is NaN"),
        (2, [], ShapeError, "pred_scores of image 1"),
        (3, [[0, 0, np.inf, 1]], ValueRangeError, "gt_bboxes: instance 0 of image 1"),
        (4, [20], ValueRangeError, "an object has a label out of range"),
        (4, [-1], ValueRangeError, "gt_labels: instance 0 of image 1"),
        (5, [0.5], DtypeError, "gt_difficults of image 1"),
    ],
)
def test_what_makes_no_sense_is_named_with_its_photo(which, value, error, words):
    args = columns(([(BOX, 0.9)], [(BOX, False)]), ([(BOX, 0.9)], [(BOX, False)]))
    args[which][1] = np.array(value)
    with pytest.raises(error, match=words):
        eval_detection_voc(*args, n_fg_class=20)


def test_iterables_of_unequal_length_are_refused():
    args = columns(([(BOX, 0.9)], [(BOX, False)]), ([(BOX, 0.9)], [(BOX, False)]))
    args[2] = iter(args[2][:1])
    with pytest.raises(ShapeError, match="pred_scores ended after 1 image,"):
        eval_detection_voc(*args)


@pytest.mark.parametrize("settings", [{"iou_thresh": 0}, {"iou_thresh": 1.1}, {"iou_thresh": np.nan}, {"plus": 2}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises((ValueRangeError, ConfigError)):
        eval_detection_voc(*columns(([(BOX, 0.9)], [(BOX, False)])), **settings)


@pytest.mark.parametrize(
    "name",
    [
        "real_cartucho",
        "real_padilla_sample2",
        "voc_difficult",
        "voc_float",
        "voc_half",
        "voc_int",
        "voc_medium",
        "voc_recall_grid",
        "voc_ties",
    ],
)
def test_stored_references_are_met(shared, name):
    folder = shared / "eval_cases" / "open"
    with gzip.open(folder / f"{name}.json.gz") as file:
        case = json.load(file)
    expected = np.load(folder / f"{name}.expected.npz")
    names = ("dt_bbox", "dt_label", "dt_score", "gt_bbox", "gt_label", "gt_difficult")
    photos = [[photo[key] for photo in case["images"]] for key in names]
    for rule in sorted({key.split("/", 1)[1] for key in expected.files}):  # as in plus1/iou0.5
        plus, thresh = rule.removeprefix("plus").split("/iou")
        accumulator = DetectionVOCAccumulator(iou_thresh=float(thresh), plus=int(plus), n_fg_class=case["n_class"])
        accumulator.update(*photos)
        for grid, settings in GRIDS.items():
            result = accumulator.compute(**settings)
            np.testing.assert_allclose(result.ap, expected[f"ap_{grid}/{rule}"], rtol=0, atol=1e-12)
            np.testing.assert_allclose(result.map, expected[f"map_{grid}/{rule}"], rtol=0, atol=1e-12)
        counts = {"npos": result.n_positive, "tp": result.tp, "fp": result.fp, "nd": result.n_detection}
        for key, count in counts.items():
            np.testing.assert_array_equal(count, expected[f"{key}/{rule}"])
