"""Boxes of a stretched photo come back in its own pixels."""

import numpy as np

from cvzoo.links.model.ssd.finish import boxes_of_photo

FOUND = (
    np.array([[10, 20, 30, 40], [-10, 50, 20, 200], [200, 200, 300, 300], [0, np.nan, 5, 5]], np.float32),
    np.arange(4, dtype=np.int32),
    np.linspace(0.9, 0.5, 4).astype(np.float32),
)


def test_boxes_are_stretched_back_and_what_is_no_number_is_dropped():
    bbox, label, score = boxes_of_photo(FOUND, (100, 100), (200, 50), clip=False)
    np.testing.assert_allclose(bbox, [[20, 10, 60, 20], [-20, 25, 40, 100], [400, 100, 600, 150]])
    assert (label.tolist(), len(score)) == ([0, 1, 2], 3)


def test_cut_boxes_of_which_nothing_is_left_stay_and_count_against_the_limit():
    bbox, label, _ = boxes_of_photo(FOUND, (100, 100), (200, 50), clip=True)
    np.testing.assert_allclose(bbox, [[20, 10, 60, 20], [0, 25, 40, 50], [200, 50, 200, 50]])
    assert label.tolist() == [0, 1, 2]
