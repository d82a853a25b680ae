"""Default boxes are the published ones, and coding there and back changes nothing."""

import math

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD300_TORCHVISION, SSD512_SETTINGS
from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder, default_boxes

GRIDS, RATIOS, STEPS, SIZES = (4, 2), ((2,), (2, 3)), (16, 32), (20, 40, 60)


@pytest.fixture(scope="module")
def coder():
    return MultiboxCoder(GRIDS, RATIOS, STEPS, SIZES)


def random_boxes(n, seed=0, size=64):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, size / 2, (n, 2))
    return np.concatenate([low, low + rng.uniform(8, size / 2, (n, 2))], axis=1).astype(np.float32)


def test_default_boxes_are_torchvisions(shared, seeds):
    want = seeds.golden(shared, "anchors", "ssd300")
    s = SSD300_TORCHVISION
    boxes = default_boxes(s.grids, s.aspect_ratios, s.steps, s.sizes, largest=300)[:, [1, 0, 3, 2]]
    assert len(boxes) == want["total"]
    start = 0
    for level, grid in zip(want["levels"], s.grids):
        assert level["grid"] == grid
        count = grid * grid * level["n"]
        np.testing.assert_allclose(boxes[start : start + level["n"]], level["first"], atol=1e-4)
        np.testing.assert_allclose(boxes[start + count - 1], level["last"], atol=1e-4)
        start += count


def test_default_boxes_by_a_plain_loop():
    want = []
    for k, (grid, step) in enumerate(zip(GRIDS, STEPS)):
        for v in range(grid):
            for u in range(grid):
                y, x = (v + 0.5) * step, (u + 0.5) * step
                sides = [(SIZES[k], SIZES[k]), (math.sqrt(SIZES[k] * SIZES[k + 1]),) * 2]
                for r in RATIOS[k]:
                    sides += [(SIZES[k] / math.sqrt(r), SIZES[k] * math.sqrt(r))]
                    sides += [(SIZES[k] * math.sqrt(r), SIZES[k] / math.sqrt(r))]
                want += [(y - h / 2, x - w / 2, y + h / 2, x + w / 2) for h, w in sides]
    np.testing.assert_allclose(default_boxes(GRIDS, RATIOS, STEPS, SIZES), want, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(("settings", "n"), [(SSD300_SETTINGS, 8732), (SSD512_SETTINGS, 24564)])
def test_the_papers_numbers_of_boxes(settings, n):
    assert len(default_boxes(settings.grids, settings.aspect_ratios, settings.steps, settings.sizes)) == n


def test_levels_must_agree():
    with pytest.raises(ValueRangeError, match="one element per level"):
        default_boxes(GRIDS, RATIOS, STEPS, (1, 2))


def test_every_object_has_its_own_default_box(coder):
    bbox = random_boxes(6)
    mb_loc, mb_label = coder.encode(bbox, np.arange(6, dtype=np.int32))
    assert (mb_loc.shape, mb_loc.dtype) == ((len(coder.default), 4), np.float32)
    assert mb_label.dtype == np.int32
    assert set(range(1, 7)) <= set(mb_label.tolist()) <= set(range(7))
    iou = bbox_iou(coder.default, bbox)
    assert mb_label[np.unravel_index(iou.argmax(), iou.shape)[0]] == iou.argmax() % 6 + 1
    sure = iou.max(axis=1) >= 0.5
    assert (mb_label[sure] > 0).all()
    assert not mb_loc[mb_label == 0].any()


def test_what_is_encoded_is_found_again(coder):
    bbox = random_boxes(4, seed=3)
    label = np.array([2, 0, 1, 2], np.int32)
    mb_loc, mb_label = coder.encode(bbox, label)
    conf = np.full((len(mb_label), 4), -20, np.float32)
    conf[np.arange(len(mb_label)), mb_label] = 20
    found, labels, scores = coder.decode(mb_loc, conf, score_thresh=0.5)
    assert (labels.dtype, len(found)) == (np.int32, (mb_label > 0).sum())
    np.testing.assert_allclose(scores, 1, atol=1e-6)
    for each, which in zip(found, labels):
        far = np.abs(bbox - each).max(axis=1)
        assert far.min() < 1e-3
        assert label[far.argmin()] == which


@pytest.mark.parametrize("thresh", [0.0, 0.01, 0.3, 0.6, 1.0])
@pytest.mark.parametrize("n_candidate", [None, 3])
def test_decode_is_the_plain_softmax(coder, thresh, n_candidate):
    rng = np.random.default_rng(5)
    loc = rng.standard_normal((len(coder.default), 4)).astype(np.float32)
    conf = (2 * rng.standard_normal((len(coder.default), 5))).astype(np.float32)
    prob = np.exp(conf.astype(np.float64))
    prob /= prob.sum(axis=1, keepdims=True)
    want = []
    for label in range(4):
        rows = np.flatnonzero(prob[:, label + 1] > thresh)
        rows = rows[np.argsort(-prob[rows, label + 1], kind="stable")][:n_candidate]
        want += [(label, row) for row in rows]
    bbox, label, score = coder.decode(loc, conf, score_thresh=thresh, n_candidate=n_candidate)
    assert len(bbox) == len(want)
    order = np.lexsort((-score, label))
    np.testing.assert_array_equal(label[order], [each[0] for each in want])
    np.testing.assert_allclose(score[order], [prob[row, 1 + which] for which, row in want], atol=1e-6)
    default = coder.default[[row for _, row in want]].reshape(-1, 4)
    code = loc[[row for _, row in want]].reshape(-1, 4)
    side = (default[:, 2:] - default[:, :2]) * np.exp(0.2 * code[:, 2:])
    center = (default[:, 2:] + default[:, :2]) / 2 + 0.1 * code[:, :2] * (default[:, 2:] - default[:, :2])
    np.testing.assert_allclose(bbox[order], np.hstack([center - side / 2, center + side / 2]), atol=1e-3)


def test_nothing_to_encode_and_nothing_to_ignore(coder):
    loc, label = coder.encode(np.empty((0, 4), np.float32), np.empty(0, np.int32))
    assert not loc.any()
    assert not label.any()


def test_boxes_in_a_crowd_are_ignored_unless_they_have_an_object(coder):
    bbox = np.array([[0, 0, 32, 64], [8, 8, 28, 28]], np.float32)
    _, label = coder.encode(bbox, np.array([0, 1], np.int32), np.array([True, False]))
    assert set(label.tolist()) == {-1, 0, 2}
    inside = (coder.default[:, :2] >= 0).all(axis=1) & (coder.default[:, 2:] <= [32, 64]).all(axis=1)
    assert (label[inside] != 0).all()


def test_what_does_not_belong_together_is_refused(coder):
    with pytest.raises(ShapeError, match="differ in number"):
        coder.encode(random_boxes(2), np.zeros(3, np.int32))
    with pytest.raises(ShapeError, match="bbox"):
        coder.encode(np.zeros((2, 5), np.float32), np.zeros(2, np.int32))
