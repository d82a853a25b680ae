"""Which anchor is whose: against the plain matrix of all pairs, and by hand."""

import hypothesis
import hypothesis.extra.numpy
import hypothesis.strategies as st
import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.anchors import cell_anchors, grid_anchors
from cvzoo.geometry.bbox_iou import bbox_iou
from cvzoo.links.model.retinanet import targets as anchor_rows
from cvzoo.links.model.retinanet.targets import AnchorRows, assign_targets, match_anchors

ANCHORS = np.concatenate(
    [
        grid_anchors(cell_anchors((4 * s, 6 * s), (0.125, 0.5, 1.0, 2.0)), (96 // s, 128 // s), (s, s))
        for s in (4, 8, 16, 32)
    ]
)
ROWS = AnchorRows(ANCHORS)


def _boxes(n, seed=0):
    random = np.random.default_rng(seed)
    size = np.exp(random.uniform(np.log(3), np.log(120), (n, 2)))
    middle = random.uniform(-5, 130, (n, 2))
    return np.concatenate([middle - size / 2, middle + size / 2], axis=1).astype("f")


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [1, 700, 1 << 20])
@pytest.mark.parametrize("thresh", [0.05, 0.4, 0.5, 1.0])
def test_the_pairs_found_are_all_and_have_the_same_bits(thresh, pairs, monkeypatch):
    monkeypatch.setattr(anchor_rows, "_PAIRS", pairs)
    bbox = np.concatenate([_boxes(20), ANCHORS[[0, 999]]])
    iou = bbox_iou(bbox, ANCHORS)
    box, anchor = np.nonzero(iou >= thresh)
    found = ROWS.overlaps(bbox, thresh)
    order = np.lexsort((found.anchor, found.box))
    assert len(box) > 0
    np.testing.assert_array_equal(found.box[order], box)
    np.testing.assert_array_equal(found.anchor[order], anchor)
    np.testing.assert_array_equal(found.iou[order], iou[box, anchor])


COORDINATES = hypothesis.extra.numpy.arrays(
    "f", st.tuples(st.integers(0, 8), st.just(4)), elements=st.integers(-6, 18).map(float)
)


@hypothesis.given(anchors=COORDINATES, bbox=COORDINATES, thresh=st.sampled_from([0.2, 0.5, 0.75]))
def test_any_boxes_may_be_anchors(anchors, bbox, thresh):
    # sides upwards: an inverted box has no meaning
    anchors, bbox = (np.concatenate([np.minimum(b[:, :2], b[:, 2:]), b[:, 2:]], axis=1) for b in (anchors, bbox))
    box, anchor = np.nonzero(bbox_iou(bbox, anchors) >= thresh)
    found = AnchorRows(anchors).overlaps(bbox, thresh)
    assert sorted(zip(found.box, found.anchor)) == list(zip(box, anchor))


def test_thresholds_decide_and_of_equals_the_first_object():
    bbox = np.concatenate([_boxes(30), _boxes(30)])
    iou = bbox_iou(bbox, ANCHORS)
    best = iou.max(axis=0)
    wanted = np.where(best >= 0.5, iou.argmax(axis=0), np.where(best < 0.4, -1, -2))
    match = match_anchors(ROWS, bbox, keep_best=False)
    np.testing.assert_array_equal(match, wanted)
    assert {-2, -1} < set(match)
    assert match.max() < 30


def test_a_lonely_object_gets_its_best_anchor():
    bbox = np.array([[20, 30, 21, 90], [40, 40, 41.5, 41.5]], "f")  # nothing overlaps either by 0.4
    iou = bbox_iou(bbox, ANCHORS)
    assert (iou.max(axis=1) < 0.4).all()
    assert (match_anchors(ROWS, bbox, keep_best=False) == -1).all()
    match = match_anchors(ROWS, bbox)
    places = np.flatnonzero(match >= 0)
    assert len(places) == 2
    for place in places:
        assert iou[match[place], place] == iou[match[place]].max()
    # all anchors around the small box overlap it equally: the one around its middle is taken
    mine = ANCHORS[places[match[places] == 1]][0]
    np.testing.assert_allclose((mine[:2] + mine[2:]) / 2, 40.75, atol=2)


def test_an_object_between_the_thresholds_gets_its_best_anchor():
    bbox = (ANCHORS[600:601] + np.array([0, 0, 0, 1.2 * (ANCHORS[600, 3] - ANCHORS[600, 1])])).astype("f")
    iou = bbox_iou(bbox, ANCHORS)[0]
    assert 0.4 < iou.max() < 0.9
    match = match_anchors(ROWS, bbox, positive=0.9)
    np.testing.assert_array_equal(iou[match == 0], iou.max())
    assert (match == 0).sum() == 1
    assert (match == -2).sum() > 0


def test_of_two_that_want_an_anchor_the_nearer_has_it():
    anchors = np.array([[0, 0, 10, 10]], "f")
    match = match_anchors(AnchorRows(anchors), np.array([[0, 0, 3, 3], [0, 0, 5, 5], [0, 0, 1, 1]], "f"))
    np.testing.assert_array_equal(match, [1])


def test_an_owned_anchor_is_not_taken_away():
    anchors = np.array([[0, 0, 10, 10]], "f")
    match = match_anchors(AnchorRows(anchors), np.array([[0, 0, 3, 3], [0, 0, 10, 8]], "f"))
    np.testing.assert_array_equal(match, [1])


def test_empty_boxes_and_no_boxes_match_nothing():
    for bbox in (np.zeros((0, 4), "f"), np.array([[5, 5, 5, 20], [9, 9, 9, 9]], "f")):
        assert (match_anchors(ROWS, bbox) == -1).all()
    assert match_anchors(AnchorRows(np.zeros((0, 4), "f")), _boxes(2)).shape == (0,)


def test_a_batch_with_a_photo_without_objects():
    bboxes = [_boxes(5), np.zeros((0, 4), "f"), _boxes(3, seed=1)]
    labels = [np.array([4, 3, 2, 1, 0], "i"), np.zeros(0, "i"), np.array([7, 8, 9], "i")]
    label, positive, bbox, anchor = assign_targets(ROWS, bboxes, labels)
    assert label.shape == (3, len(ANCHORS))
    assert label.dtype == np.int32
    assert (label[1] == -1).all()
    np.testing.assert_array_equal(positive, np.flatnonzero(label.ravel() >= 0))
    np.testing.assert_array_equal(anchor, ANCHORS[positive % len(ANCHORS)])
    photo = positive // len(ANCHORS)
    for i in (0, 2):
        match = match_anchors(ROWS, bboxes[i])
        np.testing.assert_array_equal(bbox[photo == i], bboxes[i][match[match >= 0]])
        np.testing.assert_array_equal(label[i][match >= 0], labels[i][match[match >= 0]])
        np.testing.assert_array_equal(label[i][match < 0], match[match < 0])


def test_ignored_objects_are_neither_learned_nor_background():
    bbox = np.array([[10, 10, 40, 40], [60, 10, 90, 120]], "f")
    label = np.array([0, 1], "i")
    targets = assign_targets(ROWS, [bbox], [label], [np.array([False, True])])
    assert set(targets.label.ravel()) == {-2, -1, 0}
    np.testing.assert_array_equal(targets.bbox, np.tile(bbox[0], (len(targets.bbox), 1)))
    side = np.minimum(ANCHORS[:, 2:], bbox[1, 2:]) - np.maximum(ANCHORS[:, :2], bbox[1, :2])
    inside = np.maximum(side, 0).prod(1) >= 0.5 * (ANCHORS[:, 2:] - ANCHORS[:, :2]).prod(1)
    assert (targets.label[0, inside] != -1).all()
    plain = assign_targets(ROWS, [bbox[:1]], [label[:1]])
    np.testing.assert_array_equal(targets.label[0, ~inside], plain.label[0, ~inside])
    np.testing.assert_array_equal(targets.positive, plain.positive)


def test_bad_calls_teach():
    with pytest.raises(ValueRangeError, match="negative <= positive"):
        match_anchors(ROWS, _boxes(1), positive=0.3)
    with pytest.raises(ShapeError, match="one element per image"):
        assign_targets(ROWS, [_boxes(1)], [])
    with pytest.raises(ShapeError, match="image 0"):
        assign_targets(ROWS, [_boxes(2)], [np.zeros(1, "i")])
    with pytest.raises(ShapeError):
        AnchorRows(np.zeros((3, 5), "f"))
