"""What is sampled of a photo, and that a step of training makes the loss smaller."""

import numpy as np
import pytest
from few_steps import losses_of_steps

from cvzoo import optimizers
from cvzoo.autodiff.variable import as_array
from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss, RegionSampling
from cvzoo.links.model.faster_rcnn_fpn.sampling import Truth, sample_anchors, sample_regions, truths
from cvzoo.links.model.mask_rcnn.augmentation import MaskRCNNTransform
from cvzoo.links.model.mask_rcnn.loss import MaskRCNNFPNLoss, mask_targets
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.links.model.retinanet.augmentation import collate_images
from cvzoo.links.model.retinanet.targets import AnchorRows
from cvzoo.reporting.reporter import Reporter

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)
SAMPLING = RegionSampling(n_anchor=32, n_region=16, n_proposal=50)
BBOX = np.array([[8, 8, 40, 40], [0, 40, 30, 60]], np.float32)
LABEL = np.array([1, 0], np.int32)
NO = np.zeros(2, bool)


def batch():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 64, 96)).astype(np.float32)
    mask = np.zeros((2, 64, 90), bool)
    mask[0, 8:40, 8:40], mask[1, :30, 40:60] = True, True
    return x, [BBOX, BBOX[:1]], [LABEL, LABEL[:1]], [mask, RLEs.from_masks(mask[:1])]


def grid(side, step, limit):
    corner = np.stack(np.meshgrid(*[np.arange(0, limit, step)] * 2, indexing="ij"), -1).reshape(-1, 2)
    return np.concatenate([corner, corner + side], axis=1).astype(np.float32)


def test_anchors_are_sampled_half_and_half_and_none_in_a_crowd():
    rows = AnchorRows(grid(32, 4, 64))
    truth = Truth(BBOX, LABEL, np.array([False, True]))
    found = sample_anchors(rows, truth, n=20)
    assert len(found.anchor_index) == 20
    assert 1 <= found.positive.sum() <= 10
    np.testing.assert_array_equal(found.bbox, np.tile(BBOX[:1], (found.positive.sum(), 1)))
    covered = rows.covered(BBOX[1:], 0.5)
    assert not covered[found.anchor_index[~found.positive]].any()
    nothing = sample_anchors(rows, Truth(BBOX[:0], LABEL[:0], NO[:0]), n=20)
    assert len(nothing.anchor_index) == 20
    assert not nothing.positive.any()


def test_regions_are_labelled_by_the_object_that_they_overlap_most():
    proposals = np.array([[8, 8, 40, 38], [50, 50, 60, 60], [0, 41, 28, 60], [8, 8, 20, 20]], np.float32)
    found = sample_regions(proposals, Truth(BBOX, LABEL, NO), n=8, share=0.5)
    assert found.label.tolist() == [2, 1, 2, 1, 0, 0]  # the objects themselves are regions, too
    assert found.match.tolist() == [0, 1, 0, 1, -1, -1]
    few = sample_regions(proposals, Truth(BBOX, LABEL, NO), n=4, share=0.25)
    assert (few.label > 0).sum() == 1
    crowd = sample_regions(proposals, Truth(BBOX, LABEL, np.array([True, False])), n=8, share=0.5)
    assert crowd.match.tolist() == [1, 1, -1]  # what lies in the crowd is no background
    empty = sample_regions(proposals, Truth(BBOX[:0], LABEL[:0], NO[:0]))
    assert empty.label.tolist() == [0] * 4
    assert len(sample_regions(proposals[:0], Truth(BBOX[:0], LABEL[:0], NO[:0])).label) == 0


def test_boxes_without_an_area_are_ignored_and_bad_lists_refused():
    flat = np.array([[1, 1, 1, 5]], np.float32)
    assert truths([flat], [LABEL[:1]], None)[0].ignored.tolist() == [True]
    with pytest.raises(ShapeError, match="image 0"):
        truths([BBOX], [LABEL[:1]], None)
    with pytest.raises(ShapeError, match="one element per image"):
        truths([BBOX], [], None)


def test_targets_of_masks_are_cells_of_which_half_is_covered():
    mask = np.zeros((2, 20, 20), bool)
    mask[1, 4:12, 4:8] = True
    bbox = np.array([[4, 4, 12, 12], [0, 0, 8, 8]], np.float32)
    for masks in (mask, RLEs.from_masks(mask)):
        target = mask_targets(masks, bbox, np.array([1, 0]), 4)
        np.testing.assert_array_equal(target[0], [[1, 1, 0, 0]] * 4)
        assert not target[1].any()
        assert target.dtype == np.int32


@pytest.mark.parametrize("kind", ["boxes", "masks"])
def test_a_few_steps_make_the_loss_smaller_and_reach_every_parameter(kind):
    set_seed(0)
    x, bboxes, labels, masks = batch()
    if kind == "boxes":
        link = FasterRCNNFPNLoss(FasterRCNNFPN(2, settings=TINY), sampling=SAMPLING)
        arguments = (x, bboxes, labels)
    else:
        head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
        link = MaskRCNNFPNLoss(MaskRCNNFPN(2, settings=TINY, mask_settings=head), sampling=SAMPLING)
        arguments = (x, bboxes, labels, masks)
    losses = losses_of_steps(lambda: link(*arguments), optimizers.Adam(1e-3).setup(link), 8)
    assert np.isfinite(losses).all()
    assert losses[-1] < 0.8 * losses[0]


def test_the_parts_of_the_loss_are_reported():
    set_seed(0)
    x, bboxes, labels, masks = batch()
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
    link = MaskRCNNFPNLoss(MaskRCNNFPN(2, settings=TINY, mask_settings=head), sampling=SAMPLING)
    reporter = Reporter()
    reporter.add_observer("main", link)
    with reporter:
        loss = link(x, bboxes, labels, masks)
    parts = {name: float(as_array(value)) for name, value in reporter.observation.items()}
    assert parts.keys() == {"main/loss"} | {f"main/loss/{k}" for k in ("rpn_loc", "rpn_conf", "loc", "conf", "mask")}
    np.testing.assert_allclose(sum(v for k, v in parts.items() if k != "main/loss"), float(loss.array), rtol=1e-5)


def test_photos_without_objects_are_background():
    set_seed(0)
    x, _, _, _ = batch()
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
    link = MaskRCNNFPNLoss(MaskRCNNFPN(2, settings=TINY, mask_settings=head), sampling=SAMPLING)
    nothing = [BBOX[:0]] * 2, [LABEL[:0]] * 2, [np.zeros((0, 64, 90), bool)] * 2
    loss = link(x, *nothing)
    loss.backward()
    assert np.isfinite(float(loss.array))


def test_masks_must_be_one_a_box():
    x, bboxes, labels, masks = batch()
    link = MaskRCNNFPNLoss(MaskRCNNFPN(2, settings=TINY, mask_settings=MaskHeadSettings(depth=1, channels=8)))
    with pytest.raises(ShapeError, match="one element per box"):
        link(x, bboxes, labels, [masks[0], masks[0]])


@pytest.mark.parametrize("wrong", [{"n_anchor": 0}, {"region_share": 2}, {"beta": 0}, {"n_proposal": 0}])
def test_a_sampling_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueRangeError):
        FasterRCNNFPNLoss(FasterRCNNFPN(2, settings=TINY), sampling=RegionSampling(**wrong))


def test_a_transformed_example_is_what_the_loss_takes():
    rng = np.random.default_rng(0)
    img = rng.integers(0, 256, (3, 40, 60)).astype(np.float32)
    mask = np.zeros((2, 40, 60), bool)
    mask[0, 10:30, 10:20], mask[1, 5, 5] = True, True
    bbox = np.array([[10, 10, 30, 20], [5, 5, 5.4, 6]], np.float32)
    transform = MaskRCNNTransform((80,), 200, flip=False)
    x, boxes, label, masks, ignored = transform((img, bbox, LABEL, mask, np.array([False, False])))
    assert x.shape == (3, 80, 120)
    np.testing.assert_allclose(boxes[0], [20, 20, 60, 40])
    np.testing.assert_allclose(masks.to_bbox()[0], [20, 20, 60, 40])
    assert ignored.tolist() == [False, True]  # the second is less than a pixel high
    x, *_ = collate_images([(x, boxes, label, masks, ignored)])
    assert x.shape == (1, 3, 96, 128)
    with pytest.raises(ShapeError, match="fifth value"):
        transform((img, bbox, LABEL, mask, np.array([1, 0])))
