"""COCO's scores from arrays: ChainerCV's keys, accumulators that merge, errors that name the photo."""

import pickle

import numpy as np
import pytest

from cvzoo.errors.exceptions import ConfigError, CvzooError, ShapeError, ValueRangeError
from cvzoo.evaluations import (
    COCOParameters,
    DetectionCOCOAccumulator,
    InstanceSegmentationCOCOAccumulator,
    KeypointCOCOAccumulator,
    eval_detection_coco,
    eval_instance_segmentation_coco,
    eval_keypoint_coco,
    evaluate_coco,
)
from cvzoo.geometry.rle import RLEs

ALL = "iou=0.50:0.95/area=all/max_dets=100"
PRED = ([np.float32([[0, 0, 10, 10], [0, 0, 20, 20]])], [np.int32([0, 0])], [np.float32([0.8, 0.9])])


@pytest.mark.parametrize(
    ("objects", "areas", "crowds", "want"),
    [
        # the surer box misses at every threshold, the other one has an overlap of 0.9: 9 of 10 thresholds, half
        ([[0, 0, 10, 9]], None, None, 0.45),
        ([[0, 0, 10, 9]], None, [False], 0.45),
        ([[0, 0, 10, 9]], [90.0], None, 0.45),
        # both are within the crowd and not counted; the crowd is not to be found
        ([[0, 0, 10, 9]], None, [True], np.nan),
    ],
)
def test_one_class_of_one_photo(objects, areas, crowds, want):
    result = eval_detection_coco(
        *PRED,
        [np.float32(objects)],
        [np.int32([0])],
        None if areas is None else [np.float32(areas)],
        None if crowds is None else [np.array(crowds)],
    )
    np.testing.assert_allclose(result[f"map/{ALL}"], want)
    np.testing.assert_allclose(result[f"ap/{ALL}"], [want])
    assert ("map/iou=0.50:0.95/area=small/max_dets=100" in result) is (areas is not None)
    assert result["existent_labels"].tolist() == [0]


def test_keys_are_chainercvs():
    result = eval_detection_coco(*PRED, [np.float32([[0, 0, 10, 9]])], [np.int32([2])], [np.float32([90])])
    rows = {
        "ap": ["0.50:0.95/area=all/max_dets=100", "0.50/area=all/max_dets=100", "0.75/area=all/max_dets=100"],
        "ar": [f"0.50:0.95/area=all/max_dets={n}" for n in (1, 10, 100)],
    }
    for kind in rows:
        rows[kind] += [f"0.50:0.95/area={area}/max_dets=100" for area in ("small", "medium", "large")]
    keys = {f"{mean}{kind}/iou={row}" for kind in rows for row in rows[kind] for mean in ("", "m")}
    assert set(result) == keys | {"coco_eval", "existent_labels"}
    # the label 1 was never seen, and the label 0 has no object
    assert np.isnan(result[f"ap/{ALL}"][:2]).all()
    assert result[f"ap/{ALL}"].shape == (3,)
    assert result["existent_labels"].tolist() == [0, 2]


@pytest.mark.parametrize("photos", [0, 2])
def test_nothing_at_all_gives_nan(photos):
    empty = ([np.zeros((0, 4))] * photos, [np.zeros(0)] * photos, [np.zeros(0)] * photos)
    result = eval_detection_coco(*empty, *empty[:2])
    assert np.isnan(result[f"map/{ALL}"])
    assert result[f"ap/{ALL}"].shape == (0,)


def scene(seed, n_photo=40, n_class=4):
    """Photos with objects, and detections near them; scores come in twentieths, so that many are equal."""
    rng = np.random.default_rng(seed)
    columns = [[] for _ in range(7)]
    for _ in range(n_photo):
        n = rng.integers(0, 6)
        corner, side = rng.integers(0, 60, (n, 2)), rng.integers(4, 40, (n, 2))
        objects = np.concatenate((corner, corner + side), axis=1)
        near = rng.integers(0, n, rng.integers(0, 12)) if n else np.zeros(0, int)
        found = objects[near] + rng.integers(-3, 4, (len(near), 4))
        found[:, 2:] = np.maximum(found[:, 2:], found[:, :2] + 1)
        label = rng.integers(0, n_class, n)
        for column, value in zip(
            columns,
            (
                np.clip(found, 0, 100).astype(np.float32),
                label[near].astype(np.int32),
                (rng.integers(0, 20, len(near)) / 20).astype(np.float32),
                np.clip(objects, 0, 100).astype(np.float32),
                label.astype(np.int32),
                (side[:, 0] * side[:, 1]).astype(np.float32),
                rng.random(n) < 0.1,
            ),
            strict=True,
        ):
            column.append(value)
    return columns


def as_masks(bboxes):
    y, x = np.mgrid[:100, :100]
    masks = []
    for bbox in bboxes:
        y0, x0, y1, x1 = bbox.T[:, :, None, None]
        masks.append((y >= y0) & (y < y1) & (x >= x0) & (x < x1))
    return masks


def as_points(bboxes):
    """17 points on a box' diagonal."""
    along = np.linspace(0, 1, 17)[:, None]
    return [bbox[:, None, :2] * along + bbox[:, None, 2:] * (1 - along) for bbox in bboxes]


def problems():
    boxes = scene(0)
    pred, label, score, objects, gt_label, areas, crowds = boxes
    masks = [as_masks(pred), label, score, as_masks(objects), *boxes[4:]]
    visible = [np.arange(17) < (i * 5) % 18 * np.ones((len(each), 1)) for i, each in enumerate(objects)]
    points = [as_points(pred), label, score, as_points(objects), visible, objects, gt_label, areas, crowds]
    return {
        "boxes": (DetectionCOCOAccumulator, eval_detection_coco, boxes),
        "masks": (InstanceSegmentationCOCOAccumulator, eval_instance_segmentation_coco, masks),
        "points": (KeypointCOCOAccumulator, eval_keypoint_coco, points),
    }


PROBLEMS = problems()


def arrays_of(result):
    return [getattr(result, name).tobytes() for name in ("precision", "recall", "scores")]


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("seed", range(4))
def test_workers_give_the_same_bits_however_photos_are_dealt_out(kind, seed):
    make, evaluate, columns = PROBLEMS[kind]
    want = evaluate(*columns)["coco_eval"]
    assert 0.05 < want.summary["AP"] < 0.9
    rng = np.random.default_rng(seed)
    worker = rng.integers(0, 3, 40)
    states = []
    for w in range(3):
        state = make()
        mine = rng.permutation(np.flatnonzero(worker == w))
        for start in range(0, len(mine), 5):
            rows = mine[start : start + 5]
            state.update(*([column[i] for i in rows] for column in columns), img_ids=rows + 1)
        states.append(pickle.loads(pickle.dumps(state)))
    rng.shuffle(states)
    total = make()
    for state in states:
        total.merge(state)
    got = total.result()
    assert arrays_of(got) == arrays_of(want)
    assert got.cat_ids.tolist() == want.cat_ids.tolist()
    assert got.n_images == 40


@pytest.mark.parametrize("block", [1, 7, 40])
def test_updates_of_any_size_give_the_same_bits(block):
    _, evaluate, columns = PROBLEMS["boxes"]
    state = DetectionCOCOAccumulator()
    for start in range(0, 40, block):
        state.update(*(column[start : start + block] for column in columns))
    assert arrays_of(state.result()) == arrays_of(evaluate(*columns)["coco_eval"])


def test_the_order_of_photos_decides_between_equal_scores():
    box, away = np.float32([[0, 0, 10, 10]]), np.float32([[50, 50, 60, 60]])
    columns = [[box, away], [np.int32([0])] * 2, [np.float32([0.5])] * 2, [box, box], [np.int32([0])] * 2]
    turned = [column[::-1] for column in columns]
    assert eval_detection_coco(*columns)[f"map/{ALL}"] > eval_detection_coco(*turned)[f"map/{ALL}"]


def test_boxes_equal_records_of_the_same_boxes():
    pred, label, score, objects, gt_label, areas, crowds = scene(1)

    def records(bboxes, labels):
        rows = [
            (i, *map(float, bb), int(lb))
            for i, (bbox, lbs) in enumerate(zip(bboxes, labels))
            for bb, lb in zip(bbox, lbs)
        ]
        return [
            {"image_id": i + 1, "category_id": lb, "bbox": [x0, y0, x1 - x0, y1 - y0]} for i, y0, x0, y1, x1, lb in rows
        ]

    annotations = records(objects, gt_label)
    for i, (each, area, crowd) in enumerate(
        zip(annotations, np.concatenate(areas), np.concatenate(crowds), strict=True)
    ):
        each.update(id=i + 1, area=float(area), iscrowd=int(crowd))
    results = [each | {"score": float(s)} for each, s in zip(records(pred, label), np.concatenate(score), strict=True)]
    gt = {"images": [{"id": i + 1} for i in range(40)], "categories": [{"id": k} for k in range(4)]}
    want = evaluate_coco(gt | {"annotations": annotations}, results)
    got = eval_detection_coco(pred, label, score, objects, gt_label, areas, crowds)["coco_eval"]
    assert arrays_of(got) == arrays_of(want)


def test_masks_may_be_run_lengths():
    _, evaluate, columns = PROBLEMS["masks"]
    runs = [[RLEs.from_masks(masks) for masks in columns[i]] for i in (0, 3)]
    got = evaluate(runs[0], *columns[1:3], runs[1], *columns[4:])["coco_eval"]
    assert arrays_of(got) == arrays_of(evaluate(*columns)["coco_eval"])


def test_float32_boxes_are_rounded_to_the_decimals_of_files():
    # as float32, 0.9 is a little less and 1.2 a little more than written
    pred, objects = np.float32([[0, 0, 1, 0.9]]), np.float32([[0, 0, 1, 1.2]])
    labels, score = [np.int32([0])], [np.float32([1])]
    nearly = COCOParameters(iou_thrs=(0.75 - 1e-9,))
    for decimals, want in ((2, 1), (None, 0)):
        result = eval_detection_coco([pred], labels, score, [objects], labels, parameters=nearly, decimals=decimals)
        assert result["coco_eval"].average_precision()[0] == pytest.approx(want)


def test_the_state_stays_small():
    make, _, columns = PROBLEMS["masks"]
    state = make()
    state.update(*columns)
    n = sum(map(len, columns[0]))
    assert state.nbytes < 100 * n + 10000


def test_any_iterables_do():
    _, evaluate, columns = PROBLEMS["boxes"]
    got = evaluate(*(iter(column) for column in columns))["coco_eval"]
    assert arrays_of(got) == arrays_of(evaluate(*columns)["coco_eval"])


def test_accumulators_of_other_parameters_do_not_merge():
    one, other = DetectionCOCOAccumulator(), DetectionCOCOAccumulator(parameters=COCOParameters(iou_thrs=(0.5,)))
    with pytest.raises(ConfigError):
        one.merge(other)
    with pytest.raises(ConfigError):
        one.merge(InstanceSegmentationCOCOAccumulator())
    with pytest.raises(ConfigError):
        InstanceSegmentationCOCOAccumulator(parameters=COCOParameters())
    with pytest.raises(ConfigError):
        DetectionCOCOAccumulator(parameters=COCOParameters(img_ids=[1]))


def test_a_photo_counts_once():
    _, _, columns = PROBLEMS["boxes"]
    one, other = DetectionCOCOAccumulator(), DetectionCOCOAccumulator()
    one.update(*columns)
    other.update(*columns)
    with pytest.raises(ValueRangeError, match="evaluated twice"):
        one.merge(other)
    with pytest.raises(ShapeError, match="img_ids"):
        one.update(*columns, img_ids=[1, 2])


GOOD = [[np.float32([[0, 0, 1, 1]])] * 3, [np.int32([0])] * 3, [np.float32([0.5])] * 3]


@pytest.mark.parametrize(
    ("column", "value", "match"),
    [
        (0, np.float32([[0, 0, 1]]), "pred_bboxes of image 2"),
        (0, np.float32([[0, 0, 1, np.nan]]), "pred_bboxes of image 2, row 0"),
        (0, np.float32([[0, 2, 1, 1]]), "pred_bboxes of image 2, row 0"),
        (0, np.zeros((2, 4)), "of image 2"),
        (1, np.int32([-1]), "pred_labels of image 2"),
        (1, np.int32([0, 1]), "pred_labels of image 2"),
        (2, np.float32([np.nan]), "pred_scores of image 2"),
        (2, np.float32([[0.5]]), "pred_scores of image 2"),
        (3, np.float32([[1, 0, 0, 1]]), "gt_bboxes of image 2"),
        (4, np.zeros(0, np.int32), "gt_labels of image 2"),
        (5, np.float32([np.inf]), "gt_areas of image 2"),
        (6, np.zeros(2, bool), "gt_crowdeds of image 2"),
    ],
)
def test_what_cannot_be_names_its_photo(column, value, match):
    columns = [*GOOD, *GOOD[:2], [np.float32([1])] * 3, [np.array([False])] * 3]
    columns[column] = [*columns[column][:2], value]
    with pytest.raises(CvzooError, match=match):
        eval_detection_coco(*columns)


@pytest.mark.parametrize("column", range(5))
def test_lists_of_different_lengths_are_refused(column):
    columns = [*GOOD, *GOOD[:2]]
    columns[column] = columns[column][:2]
    with pytest.raises(ValueRangeError, match="end after 2 images"):
        eval_detection_coco(*columns)
    with pytest.raises(ShapeError, match="numbers of images"):
        DetectionCOCOAccumulator().update(*columns)


def test_masks_have_three_axes():
    with pytest.raises(ShapeError, match="pred_masks of image 0"):
        eval_instance_segmentation_coco([np.zeros((5, 5))] * 3, *GOOD[1:], [np.zeros((1, 5, 5))] * 3, GOOD[1])


def test_masks_of_one_photo_have_one_size():
    masks = [[np.ones((1, 9, 9), bool)] * 2, [np.ones((1, 9, 9), bool), np.ones((1, 8, 9), bool)]]
    labels, scores = [np.zeros(1, np.int32)] * 2, [np.ones(1, np.float32)] * 2
    with pytest.raises(ShapeError, match="image 1"):
        eval_instance_segmentation_coco(masks[0], labels, scores, masks[1], labels)
    # photos may differ
    eval_instance_segmentation_coco(masks[1], labels, scores, masks[1], labels)
