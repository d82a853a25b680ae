"""Rows of torchvision's last layers, of which COCO's classes are some."""

import numpy as np
import pytest

from cvzoo.links.model.pretrained.names import COCO_ROWS, foreground_rows, picked, sigmoid_rows, yx_rows


@pytest.mark.parametrize(
    ("n_class", "asked", "want"),
    [(91, None, COCO_ROWS), (91, 80, COCO_ROWS), (91, 7, COCO_ROWS), (91, 90, range(1, 91)), (91, 91, range(91))],
)
def test_rows_without_a_background(n_class, asked, want):
    assert sigmoid_rows(n_class, asked).tolist() == list(want)
    assert sigmoid_rows(21, asked).tolist() == list(range(21))


@pytest.mark.parametrize(("asked", "want"), [(None, COCO_ROWS), (80, COCO_ROWS), (90, range(1, 91))])
def test_rows_behind_a_background(asked, want):
    assert foreground_rows(91, asked).tolist() == list(want)
    assert foreground_rows(21, asked).tolist() == list(range(1, 21))


def test_some_of_each_n_rows_are_picked_and_offsets_are_turned():
    assert picked(np.arange(6), 3, [2, 0]).tolist() == [2, 0, 5, 3]
    assert yx_rows(np.arange(8)).tolist() == [1, 0, 3, 2, 5, 4, 7, 6]
