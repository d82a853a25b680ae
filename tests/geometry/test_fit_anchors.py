"""Anchors fitted to boxes."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.geometry.fit_anchors import best_anchor_iou, fit_anchors

STRIDES = (8, 16, 32)
USUAL = ((32, 40, 51), (64, 81, 102), (128, 161, 203)), (0.5, 1.0, 2.0)


def _lines(n=400, seed=0):
    """Boxes as lines of text are: 12 to 30 pixels high, 1 to 12 times as wide."""
    random = np.random.default_rng(seed)
    height = random.uniform(12, 30, n)
    side = np.stack([height, height * np.exp(random.uniform(0, np.log(12), n))], axis=1)
    low = random.uniform(0, 600, (n, 2))
    return np.concatenate([low, low + side], axis=1).astype("f")


def test_wide_boxes_get_wide_anchors():
    bbox = _lines()
    fit = fit_anchors(bbox, STRIDES, n_size=2, n_ratio=4)
    assert [len(row) for row in fit.sizes] == [2, 2, 2]
    assert len(fit.ratios) == 4
    assert min(fit.ratios) < 0.2
    iou, usual = best_anchor_iou(bbox, *fit, STRIDES), best_anchor_iou(bbox, *USUAL, STRIDES)
    assert (usual >= 0.5).mean() < 0.6
    assert (iou >= 0.5).mean() > 0.95


def test_sizes_double_from_level_to_level_and_grow_within_one():
    fit = fit_anchors(_lines(50), STRIDES, n_size=3, n_ratio=1)
    sizes = np.array(fit.sizes)
    np.testing.assert_allclose(sizes[1:], 2 * sizes[:-1], rtol=1e-3)
    np.testing.assert_allclose(sizes[:, 1:], 2 ** (1 / 3) * sizes[:, :-1], rtol=1e-3)


def test_the_same_seed_gives_the_same_anchors_and_bad_boxes_do_not_count():
    bbox = _lines(4000)
    assert fit_anchors(bbox, STRIDES, n_ratio=1, seed=1) == fit_anchors(bbox, STRIDES, n_ratio=1, seed=1)
    few = _lines(20)
    bad = np.array([[5, 5, 5, 9], [0, 0, np.nan, 3], [9, 9, 1, 1]], "f")
    assert fit_anchors(np.concatenate([few, bad]), STRIDES) == fit_anchors(few, STRIDES)


def test_bad_calls_teach():
    for bbox, settings in ((np.zeros((3, 4), "f"), {}), (_lines(5), {"n_ratio": 0}), (_lines(5), {"n_size": 0})):
        with pytest.raises(ValueRangeError):
            fit_anchors(bbox, STRIDES, **settings)
