"""Matching and overlaps, against the rules written as loops over detections and objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvzoo.evaluations.coco import COCODetections, COCOGroundTruth, COCOParameters, match_coco
from cvzoo.evaluations.coco.groups import group_by_class_and_image, pairs_of_groups
from cvzoo.evaluations.coco.mask_overlaps import MaskOverlaps
from cvzoo.geometry.rle import RLEs
from cvzoo.geometry.rle_iou import rle_iou

THRS = (0.0, 0.25, 0.5, 1.0)
AREAS = ((0.0, 1e10), (0.0, 12.0), (12.0, 1e10))


def overlap(a, b, crowd):
    width = min(a[2] + a[0], b[2] + b[0]) - max(a[0], b[0])
    height = min(a[3] + a[1], b[3] + b[1]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    inter = width * height
    return inter / (a[2] * a[3] if crowd else a[2] * a[3] + b[2] * b[3] - inter)


def slowly(gt, dt, thr, area, max_det):
    """The verdict on each detection, by row: 0, 1, 2, or None beyond max_det; the text of pycocotools, by loops."""
    verdict = {}
    for image, cat in {(i, c) for i, c in zip(dt.image_id, dt.category_id)}:
        objects = [g for g in range(len(gt)) if (gt.image_id[g], gt.category_id[g]) == (image, cat)]
        found = [d for d in range(len(dt)) if (dt.image_id[d], dt.category_id[d]) == (image, cat)]
        found = sorted(found, key=lambda d: -dt.score[d])
        aside = {g: bool(gt.crowd[g]) or not area[0] <= gt.area[g] <= area[1] for g in objects}
        objects = sorted(objects, key=lambda g: aside[g])
        taken = set()
        for d in found[max_det:]:
            verdict[d] = None
        for d in found[:max_det]:
            best, match = min(thr, 1 - 1e-10), None
            for g in objects:
                if g in taken and not gt.crowd[g]:
                    continue
                if match is not None and not aside[match] and aside[g]:
                    break
                iou = overlap(dt.bbox[d], gt.bbox[g], gt.crowd[g])
                if iou < best:
                    continue
                best, match = iou, g
            if match is not None:
                taken.add(match)
            # a match with the object whose id is 0 counts as none
            hit = match is not None and (aside[match] or gt.ids[match] != 0)
            verdict[d] = (2 if aside[match] else 1) if hit else 0
    return [verdict[d] for d in range(len(dt))]


@st.composite
def scenes(draw):
    """Small boxes on a small grid: many overlaps, scores and areas are equal."""
    side, place = st.integers(1, 4), st.integers(0, 3)
    box = st.tuples(place, place, side, side)
    where = st.tuples(st.integers(1, 2), st.integers(1, 2))
    objects = draw(st.lists(st.tuples(where, box, st.booleans()), max_size=8))
    found = draw(st.lists(st.tuples(where, box, st.integers(0, 3)), max_size=12))
    gt = COCOGroundTruth(
        img_ids=[2, 1],
        cat_ids=[1, 2],
        image_id=[each[0][0] for each in objects],
        category_id=[each[0][1] for each in objects],
        bbox=np.array([each[1] for each in objects], float).reshape(-1, 4),
        area=[float(each[1][2] * each[1][3]) for each in objects],
        crowd=[each[2] for each in objects],
        ids=np.arange(len(objects)) + draw(st.integers(0, 1)),
    )
    dt = COCODetections(
        image_id=[each[0][0] for each in found],
        category_id=[each[0][1] for each in found],
        score=[each[2] / 4 for each in found],
        bbox=np.array([each[1] for each in found], float).reshape(-1, 4),
    )
    return gt, dt


@pytest.mark.slow
@given(scenes(), st.sampled_from([1, 3, 100]))
@settings(max_examples=300, deadline=None)
def test_verdicts_are_those_of_the_loops(scene, max_det):
    gt, dt = scene
    parameters = COCOParameters(iou_thrs=THRS, area_rng=AREAS, area_rng_lbl=("a", "b", "c"), max_dets=(max_det,))
    matches = match_coco(gt, dt, parameters)
    groups = group_by_class_and_image(
        (gt.image_id, gt.category_id),
        (dt.image_id, dt.category_id, dt.score),
        img_ids=np.array([1, 2]),
        cat_ids=np.array([1, 2]),
        use_cats=True,
        max_det=max_det,
    )
    for t, thr in enumerate(THRS):
        for a, area in enumerate(AREAS):
            want = slowly(gt, dt, thr, area, max_det)
            got = np.zeros(len(groups.dt), int)
            got[matches.candidate] = matches.verdict[t, a]
            assert got.tolist() == [want[d] for d in groups.dt]
            assert sorted(groups.dt.tolist()) == [d for d, each in enumerate(want) if each is not None]


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_blocks_of_pairs_hold_each_pair_once(block):
    rng = np.random.default_rng(0)
    gt, dt = rng.integers(0, 3, (2, 30)), rng.integers(0, 3, (2, 40))
    groups = group_by_class_and_image(
        (gt[0], gt[1]), (*dt, rng.random(40)), img_ids=np.arange(3), cat_ids=np.arange(2), use_cats=True, max_det=4
    )
    found = [(d, g) for part in pairs_of_groups(groups, block=block) for d, g in zip(*(each.tolist() for each in part))]
    want = [
        (d, g) for d in range(len(groups.dt)) for g in range(len(groups.gt)) if groups.dt_group[d] == groups.gt_group[g]
    ]
    assert found == want
    assert want


@pytest.mark.parametrize("lowest", [-2.0, 0.0, 0.3, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_masks_are_left_out_only_if_they_overlap_too_little(seed, lowest):
    rng = np.random.default_rng(seed)
    masks = rng.random((14, 6, 7)) < rng.random((14, 1, 1))
    masks[0], masks[1] = True, False
    dt, gt, crowd = RLEs.from_masks(masks[:8]), RLEs.from_masks(masks[4:]), rng.random(10) < 0.4
    a, b = (each.ravel() for each in np.indices((8, 10)))
    which, iou = MaskOverlaps(dt, gt, crowd, lowest)(a, b)
    dense = rle_iou(dt, gt, crowd)
    assert which.tolist() == np.flatnonzero(dense.ravel() >= lowest).tolist()
    np.testing.assert_array_equal(iou, dense.ravel()[which])


def test_masks_of_photos_of_different_sizes_do_not_match():
    dt, gt = RLEs.from_masks(np.ones((1, 4, 6), bool)), RLEs.from_masks(np.ones((1, 6, 4), bool))
    zero = np.zeros(1, np.int64)
    assert MaskOverlaps(dt, gt, np.zeros(1, bool), 0.5)(zero, zero)[0].tolist() == []
    assert MaskOverlaps(dt, gt, np.zeros(1, bool), -1.0)(zero, zero)[1].tolist() == [-1.0]
