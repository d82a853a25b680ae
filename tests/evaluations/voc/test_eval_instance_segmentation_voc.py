"""Pascal VOC's scoring of instance masks."""

import numpy as np
import pytest

from cvzoo.errors import ConfigError, DtypeError, ShapeError
from cvzoo.evaluations.voc import (
    DetectionVOCAccumulator,
    InstanceSegmentationVOCAccumulator,
    calc_instance_segmentation_voc_prec_rec,
    eval_instance_segmentation_voc,
)
from cvzoo.geometry import RLEs


def square(y, x, side, size=(12, 10)):
    mask = np.zeros(size, bool)
    mask[y : y + side, x : x + side] = True
    return mask


def photo():
    pred = np.stack([square(0, 0, 4), square(6, 5, 4), square(0, 0, 3)])
    gt = np.stack([square(0, 0, 4), square(5, 5, 4)])
    return [pred], [np.array([0, 0, 0])], [np.array([0.9, 0.8, 0.7])], [gt], [np.array([0, 0])]


def test_masks_by_hand():
    # the second detection overlaps by 12 of 20 pixels, the third is a double
    result = eval_instance_segmentation_voc(*photo())
    np.testing.assert_array_equal(result["ap"], [1])
    result = eval_instance_segmentation_voc(*photo(), iou_thresh=0.61)
    np.testing.assert_array_equal(result["ap"], [0.5])
    result = eval_instance_segmentation_voc(*photo(), iou_thresh=0.61, use_07_metric=True)
    np.testing.assert_allclose(result["ap"], [6 / 11])
    prec, rec = calc_instance_segmentation_voc_prec_rec(*photo())
    np.testing.assert_array_equal(prec[0], [1, 1, 2 / 3])
    np.testing.assert_array_equal(rec[0], [0.5, 1, 1])


def test_run_lengths_are_masks_too():
    args = photo()
    for which in (0, 3):
        args[which][0] = RLEs.from_masks(args[which][0])
    assert eval_instance_segmentation_voc(*args)["map"] == 1


def test_no_instances_may_come_as_any_empty_array():
    args = photo()
    for empty in (np.zeros((0, 12, 10), bool), [], np.zeros((0, 3, 3), bool)):
        result = eval_instance_segmentation_voc([empty], [[]], [[]], args[3], args[4])
        np.testing.assert_array_equal(result["ap"], [0])


@pytest.mark.parametrize(
    ("masks", "error"),
    [
        (np.zeros((3, 12, 10)), DtypeError),
        (np.zeros((3, 12), bool), ShapeError),
        (np.zeros((3, 12, 11), bool), ShapeError),
        (np.zeros((2, 12, 10), bool), ShapeError),
    ],
)
def test_masks_that_do_not_fit_are_named_with_their_photo(masks, error):
    args = [each * 2 for each in photo()]
    args[0][1] = masks
    with pytest.raises(error, match="image 1"):
        InstanceSegmentationVOCAccumulator().update(*args)
    with pytest.raises(error, match="image 1"):
        eval_instance_segmentation_voc(*args)


def test_boxes_and_masks_do_not_merge():
    with pytest.raises(ConfigError):
        InstanceSegmentationVOCAccumulator().merge(DetectionVOCAccumulator())


@pytest.mark.parametrize("name", ["voc_masks", "voc_masks_ties"])
def test_stored_references_are_met(shared, name):
    folder = shared / "eval_cases" / "open"
    case, expected = np.load(folder / f"{name}.npz"), np.load(folder / f"{name}.expected.npz")
    height, width, n_photo = (int(case[key]) for key in ("h", "w", "n_img"))
    columns = []
    for kind in ("dt", "gt"):
        bits = np.unpackbits(case[f"{kind}_mask"], axis=1)[:, : height * width]
        keys = {"mask": bits.reshape(-1, height, width).astype(bool), "label": case[f"{kind}_label"]}
        if kind == "dt":
            keys["score"] = case["dt_score"]
        columns += [[array[case[f"{kind}_img"] == n] for n in range(n_photo)] for array in keys.values()]
    for rule in sorted({key.split("/", 1)[1] for key in expected.files}):
        thresh = float(rule.split("iou")[1])
        settings = {"iou_thresh": thresh, "n_fg_class": int(case["n_class"])}
        for grid, metric in (("area", False), ("11", True)):
            result = eval_instance_segmentation_voc(*columns, use_07_metric=metric, **settings)
            np.testing.assert_allclose(result["ap"], expected[f"ap_{grid}/{rule}"], rtol=0, atol=1e-12)
            np.testing.assert_allclose(result["map"], expected[f"map_{grid}/{rule}"], rtol=0, atol=1e-12)
