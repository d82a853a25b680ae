"""The pieces that propose regions and say what should be learned, against plain loops."""

import math

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.geometry.nms import nms
from cvzoo.links.model.faster_rcnn.region_proposal_network import (
    ProposalCreator,
    RegionProposalNetwork,
    generate_anchor_base,
)
from cvzoo.links.model.faster_rcnn.targets import AnchorTargetCreator, ProposalTargetCreator, bbox2loc, loc2bbox


def boxes(n, seed=0, size=(96, 128)):
    rng = np.random.default_rng(seed)
    corner = rng.uniform(0, 0.7, (n, 2)) * size
    side = rng.uniform(0.1, 0.3, (n, 2)) * size
    return np.concatenate([corner, corner + side], axis=1).astype(np.float32)


def test_loc_turns_a_box_into_another_and_back():
    src, dst = boxes(20), boxes(20, 1)
    np.testing.assert_allclose(loc2bbox(src, bbox2loc(src, dst)), dst, atol=1e-3)
    loc = bbox2loc(np.array([[0, 0, 10, 20]], "f"), np.array([[5, 10, 15, 50]], "f"))
    np.testing.assert_allclose(loc, [[0.5, 1, 0, math.log(2)]], rtol=1e-6)


def test_anchors_have_the_area_and_ratio_asked_for_around_the_middle_of_the_cell():
    anchor = generate_anchor_base(16, (0.5, 2), (8, 16))
    side = anchor[:, 2:] - anchor[:, :2]
    np.testing.assert_allclose(side[:, 0] / side[:, 1], [0.5, 0.5, 2, 2], rtol=1e-5)
    np.testing.assert_allclose(side.prod(axis=1), np.array([128, 256, 128, 256]) ** 2, rtol=1e-5)
    np.testing.assert_allclose((anchor[:, :2] + anchor[:, 2:]) / 2, 8, atol=1e-4)
    with pytest.raises(ValueRangeError, match="anchor_scales"):
        generate_anchor_base(anchor_scales=())
    with pytest.raises(ValueRangeError, match="ratios"):
        generate_anchor_base(ratios=(-1,))


@pytest.mark.parametrize(("train", "n_pre", "n_post"), [(True, 40, 12), (False, 25, 5)])
def test_proposals_are_what_the_steps_give_one_by_one(train, n_pre, n_post):
    anchor, rng = boxes(80, 2), np.random.default_rng(3)
    loc, score = rng.normal(0, 0.3, (80, 4)).astype("f"), rng.integers(0, 40, 80).astype("f")
    creator = ProposalCreator(0.5, 40, 12, 25, 5, min_size=10)
    with using_config("train", train):
        roi = creator(loc, score, anchor, (96, 128), 1.5)
    wanted = np.clip(loc2bbox(anchor, loc), 0, [96, 128, 96, 128])
    keep = [i for i in range(80) if (wanted[i, 2:] - wanted[i, :2]).min() >= 15]
    keep = sorted(keep, key=lambda i: (-score[i], i))[:n_pre]
    wanted = wanted[keep][nms(wanted[keep], iou_thresh=0.5)][:n_post]
    assert len(roi)
    np.testing.assert_array_equal(roi, wanted)


def test_a_region_that_is_clipped_to_nothing_is_no_proposal():
    anchor = np.array([[-20, 0, -10, 30], [10, 10, 30, 30]], "f")
    roi = ProposalCreator(min_size=0)(np.zeros((2, 4), "f"), np.array([2, 1], "f"), anchor, (96, 128))
    np.testing.assert_array_equal(roi, anchor[1:])


def test_the_region_proposal_network_names_anchors_in_the_order_of_its_outputs():
    set_seed(0)
    rpn = RegionProposalNetwork(6, 7, anchor_scales=(1, 2), proposal_creator=ProposalCreator(min_size=0))
    x = np.random.default_rng(0).normal(size=(2, 6, 3, 4)).astype("f")
    with using_config("train", False):
        locs, scores, rois, indices, anchor = rpn(x, (48, 64), [1.0, 2.0])
        one = rpn(x[1:], (48, 64), 2.0)
    assert (locs.shape, scores.shape, anchor.shape) == ((2, 72, 4), (2, 72, 2), (72, 4))
    h = np.maximum(rpn.conv1(x).array, 0)
    for place, k in (((0, 0), 0), ((2, 3), 5), ((1, 2), 3)):
        row = (place[0] * 4 + place[1]) * 6 + k
        at = h[1, :, place[0], place[1]]
        np.testing.assert_allclose(
            locs.array[1, row], rpn.loc.W.array[4 * k : 4 * k + 4, :, 0, 0] @ at, rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(
            scores.array[1, row], rpn.score.W.array[2 * k : 2 * k + 2, :, 0, 0] @ at, rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(anchor[row], rpn.anchor_base[k] + np.array([*place, *place]) * 16)
    assert rois.dtype == np.float32
    np.testing.assert_array_equal(np.unique(indices), [0, 1])
    np.testing.assert_allclose(rois[indices == 1], one[2], atol=1e-4)


def test_anchor_targets_are_what_the_paper_says():
    set_seed(3)
    anchor, bbox = boxes(300, 4), boxes(5, 5)
    anchor[:10] -= 40  # some that stick out
    anchor[20] = bbox[2]
    loc, label = AnchorTargetCreator(60, 0.5, 0.3, 0.4)(bbox, anchor, (96, 128))
    inside = (anchor[:, :2] >= 0).all(1) & (anchor[:, 2] <= 96) & (anchor[:, 3] <= 128)
    iou = np.where(inside[:, None], bbox_iou(anchor, bbox), -1)
    best = iou.max(axis=1)
    may = (best >= 0.5) | (iou == iou.max(axis=0)).any(axis=1)
    assert (label[~inside] == -1).all()
    assert may[label == 1].all()
    assert 0 < (label == 1).sum() <= 24
    assert ((best < 0.3) & ~may)[label == 0].all()
    assert (label >= 0).sum() == 60
    np.testing.assert_allclose(loc2bbox(anchor, loc)[label == 1], bbox[iou.argmax(axis=1)][label == 1], atol=1e-3)


def test_a_photo_without_objects_has_background_only():
    empty = np.zeros((0, 4), "f")
    _, label = AnchorTargetCreator(20)(empty, boxes(100), (96, 128))
    assert sorted(set(label.tolist())) == [-1, 0]
    assert (label == 0).sum() == 20
    roi, loc, label = ProposalTargetCreator(16)(boxes(30), empty, np.zeros(0, "i"))
    assert (roi.shape, loc.shape) == ((16, 4), (16, 4))
    assert (label == 0).all()
    assert not loc.any()


def test_no_anchor_inside_of_the_photo_means_nothing_to_learn():
    _, label = AnchorTargetCreator()(boxes(1), boxes(5) + 500, (96, 128))
    assert (label == -1).all()


def test_proposal_targets_are_what_the_paper_says():
    set_seed(3)
    bbox, label = boxes(4, 6), np.array([2, 0, 1, 2], "i")
    roi = np.concatenate([boxes(200, 7), bbox + 2, bbox - 2])
    std = (0.1, 0.1, 0.2, 0.2)
    sample, loc, classes = ProposalTargetCreator(32, 0.25, 0.5, 0.4, 0.1)(roi, bbox, label, loc_normalize_std=std)
    iou = bbox_iou(sample, bbox)
    positive = classes > 0
    assert len(sample) == 32
    assert positive.sum() == 8
    assert positive[:8].all()
    assert (iou.max(axis=1)[positive] >= 0.5).all()
    assert ((iou.max(axis=1)[~positive] < 0.4) & (iou.max(axis=1)[~positive] >= 0.1)).all()
    np.testing.assert_array_equal(classes[positive], label[iou.argmax(axis=1)][positive] + 1)
    back = loc2bbox(sample, loc * np.array(std, "f"))
    np.testing.assert_allclose(back[positive], bbox[iou.argmax(axis=1)][positive], atol=1e-3)
    assert len(ProposalTargetCreator(None)(roi, bbox, label)[0]) == len(roi) + 4


def test_boxes_and_offsets_that_do_not_match_are_refused():
    with pytest.raises(ShapeError):
        loc2bbox(boxes(3), np.zeros((2, 4), "f"))
