"""Boxes of offsets from anchors, in the pixels of a stretched image."""

import dataclasses

import numpy as np

from cvzoo.links.model.decoding.anchor_levels import AnchorLevels
from cvzoo.links.model.preparation.abstract import Placement

BOXES = np.array([[10, 20, 30, 40], [-10, 50, 20, 200], [200, 200, 300, 300], [0, 0, 5, 5]], np.float32)
LOC = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, np.nan, 0, 0]], np.float32)
CONF = np.stack([np.zeros(4), [4, 3, 2, 1]], axis=1).astype(np.float32)
STRETCHED = Placement((100, 100), (100, 100))


@dataclasses.dataclass(frozen=True)
class Anchors:
    """Four boxes."""

    def boxes(self, size):
        return BOXES

    def counts(self, size):
        return (4,)


def found(**options):
    decoding = AnchorLevels(anchors=Anchors(), n_class=1, scores="softmax", **options)
    return decoding.decode((LOC, CONF), (200, 50), STRETCHED, 0.5)


def test_boxes_are_stretched_back_and_what_is_no_number_is_dropped():
    bbox, label, score = found()
    np.testing.assert_allclose(bbox, [[20, 10, 60, 20], [-20, 25, 40, 100], [400, 100, 600, 150]])
    assert label.tolist() == [0, 0, 0]
    np.testing.assert_allclose(score, 1 / (1 + np.exp(-CONF[:3, 1])), rtol=1e-6)


def test_cut_boxes_of_which_nothing_is_left_stay_and_count_against_the_limit():
    np.testing.assert_allclose(found(clip=True).bbox, [[20, 10, 60, 20], [0, 25, 40, 50], [200, 50, 200, 50]])


def test_offsets_may_come_after_the_scores_and_with_x_first():
    loc, conf = np.zeros((4, 4), np.float32), 1 / (1 + np.exp(CONF[:, ::-1] - CONF))
    loc[0] = 0.5, 0, np.log(2), 0  # half a width to the right, twice as wide
    decoding = AnchorLevels(anchors=Anchors(), n_class=1, scores="probability", order="xy", scores_first=True)
    bbox = decoding.decode((conf, loc), (100, 100), STRETCHED, 0.5).bbox
    np.testing.assert_allclose(bbox[0], [10, 20, 30, 60], rtol=1e-5)
