"""The heads' numbers become boxes as the papers' formulas say, written here once more with loops."""

import math

import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.decoding.grid_cells import GridCells, RegionHead, YoloHead
from cvzoo.links.model.preparation.abstract import Placement
from cvzoo.links.model.yolo.preparation import darknet_letterbox, darknet_stretch

ANCHORS = ((13.0, 10.0), (30.0, 16.0))


def decoded(head, raw, size, thresh):
    return GridCells(heads=(head,)).decode((raw,), size, Placement(size, size), thresh)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def plain(raw, anchors, n_class, size, thresh, kind, scale_xy=1.0):
    """(box, label, score) of every class of every anchor of every cell above the threshold."""
    grid_h, grid_w = raw.shape[1:]
    found = []
    for y in range(grid_h):
        for x in range(grid_w):
            for a, (anchor_h, anchor_w) in enumerate(anchors):
                t = raw[a * (5 + n_class) : (a + 1) * (5 + n_class), y, x].astype(float)
                if kind == "new_coords":
                    dx, dy, objectness, prob = t[0], t[1], t[4], t[5:]
                    w, h = (2 * t[2]) ** 2 * anchor_w, (2 * t[3]) ** 2 * anchor_h
                else:
                    dx, dy, objectness = sigmoid(t[0]), sigmoid(t[1]), sigmoid(t[4])
                    w, h = math.exp(t[2]) * anchor_w, math.exp(t[3]) * anchor_h
                    prob = np.array([sigmoid(each) for each in t[5:]])
                if kind == "softmax":
                    prob = np.exp(t[5:]) / np.exp(t[5:]).sum()
                if kind in ("softmax", "region"):
                    w, h = w * size[1] / grid_w, h * size[0] / grid_h
                cx = (x + dx * scale_xy - (scale_xy - 1) / 2) * size[1] / grid_w
                cy = (y + dy * scale_xy - (scale_xy - 1) / 2) * size[0] / grid_h
                for label, each in enumerate(prob):
                    if objectness * each > thresh:
                        box = (cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2)
                        found.append((box, label, objectness * each))
    return found


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("yolo", YoloHead(ANCHORS, 3)),
        ("yolo", YoloHead(ANCHORS, 3, scale_xy=1.2)),
        ("yolo", YoloHead(ANCHORS, 1)),
        ("new_coords", YoloHead(ANCHORS, 3, scale_xy=2.0, new_coords=True)),
        ("softmax", RegionHead(ANCHORS, 3)),
        ("region", RegionHead(ANCHORS, 3, softmax=False)),
    ],
)
def test_a_head_equals_the_formulas(kind, head, channels_last):
    raw = np.random.default_rng(0).normal(size=(head.n_channel, 3, 5)).astype(np.float32)
    if kind == "new_coords":
        raw = np.abs(raw) / 3
    expected = plain(raw, ANCHORS, head.n_class, (96, 160), 0.2, kind, vars(head).get("scale_xy", 1.0))
    if channels_last:
        raw = np.ascontiguousarray(raw.transpose(1, 2, 0)).transpose(2, 0, 1)
    bbox, label, score = decoded(head, raw, (96, 160), 0.2)
    assert len(expected) > 5
    np.testing.assert_allclose(bbox, [each[0] for each in expected], rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(label, [each[1] for each in expected])
    np.testing.assert_allclose(score, [each[2] for each in expected], rtol=1e-5)
    assert (bbox.dtype, label.dtype, score.dtype) == (np.float32, np.int32, np.float32)


@pytest.mark.parametrize("head", [YoloHead(ANCHORS, 3), RegionHead(ANCHORS, 3)])
def test_nan_and_infinity_give_no_box_and_no_warning(head):
    for value in (np.nan, np.inf, -np.inf):
        raw = np.full((head.n_channel, 2, 2), value, np.float32)
        bbox, _, score = decoded(head, raw, (64, 64), 0.1)
        assert np.isfinite(bbox).all()
        assert np.isfinite(score).all()
    raw = np.zeros((head.n_channel, 2, 2), np.float32)
    raw[2, 0, 0] = np.nan  # the width of one box
    raw[4, 0, 1] = np.nan  # the objectness of another
    raw[5, 1, 0] = np.nan  # one class: with a softmax all of them
    bbox, _, _ = decoded(head, raw, (64, 64), 0.05)
    assert np.isfinite(bbox).all()
    assert 0 < len(bbox) < 24


@pytest.mark.parametrize("head", [YoloHead(ANCHORS, 3), RegionHead(ANCHORS, 3)])
def test_a_huge_width_stays_finite(head):
    raw = np.full((head.n_channel, 1, 1), 1000, np.float32)
    bbox, _, score = decoded(head, raw, (64, 64), 0.1)
    assert len(bbox)
    assert np.isfinite(bbox).all()
    assert (score <= 1).all()


def test_a_threshold_that_nothing_passes_gives_empty_arrays():
    bbox, label, score = decoded(YoloHead(ANCHORS, 3), np.zeros((16, 2, 2), np.float32), (64, 64), 1.0)
    assert (bbox.shape, label.shape, score.shape) == ((0, 4), (0,), (0,))


def test_other_channels_are_refused():
    with pytest.raises(ShapeError, match="2 anchors and 3 classes"):
        decoded(YoloHead(ANCHORS, 3), np.zeros((17, 2, 2), np.float32), (64, 64), 0.5)


@pytest.mark.parametrize("fit", ["stretch", "letterbox"])
def test_boxes_come_back_in_the_pixels_of_the_photo(fit):
    head = YoloHead(((8.0, 8.0),), 1)
    size, input_size = (100, 300), (64, 64)
    raw = np.full((6, 8, 8), -20, np.float32)
    raw[:, 3, 2] = [0, 0, 0, 0, 20, 20]  # one box around the centre of cell (3, 2)
    preparation = {"letterbox": darknet_letterbox, "stretch": darknet_stretch}[fit](input_size)
    decoding = GridCells(heads=(head,), letterbox=fit == "letterbox")
    bbox, _, _ = decoding.decode((raw,), size, preparation.placement(size), 0.5)
    if fit == "stretch":
        expected = [(28 - 4) * 100 / 64, (20 - 4) * 300 / 64, (28 + 4) * 100 / 64, (20 + 4) * 300 / 64]
    else:  # the photo is 21 x 64 in its letterbox, 21 pixels below the upper edge
        expected = [(24 - 21) * 100 / 21, 16 * 300 / 64, (32 - 21) * 100 / 21, 24 * 300 / 64]
    np.testing.assert_allclose(bbox, [expected], rtol=1e-5)
    img = np.full((3, *size), 255, np.float32)
    x = preparation(img)
    assert (x.shape, x.dtype) == ((3, 64, 64), np.float32)
    assert (x[:, 0].max(), x[:, 32].max()) == ((1, 1) if fit == "stretch" else (0.5, 1))
