"""Overlaps and boxes of dense masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cvzoo.errors import ShapeError
from cvzoo.geometry import mask_iou, mask_to_bbox


def test_overlaps_worked_by_hand():
    mask = np.zeros((3, 4, 4), bool)
    mask[0, :2, :2] = True
    mask[1, :, :2] = True  # mask 2 is empty
    np.testing.assert_array_equal(mask_iou(mask, mask), [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 0]])
    assert mask_iou(mask[:0], mask).shape == (0, 3)


@pytest.mark.parametrize(("a", "b"), [((4, 4), (1, 4, 4)), ((1, 4, 4), (1, 4, 5))])
def test_masks_that_do_not_fit_are_refused(a, b):
    with pytest.raises(ShapeError):
        mask_iou(np.zeros(a, bool), np.zeros(b, bool))


@given(hnp.arrays(bool, st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 6))))
def test_a_box_is_the_smallest_that_holds_the_mask(masks):
    bbox = mask_to_bbox(masks)
    assert bbox.shape == (len(masks), 4)
    assert bbox.dtype == np.float32
    for mask, bb in zip(masks, bbox):
        y, x = np.nonzero(mask)
        expected = [y.min(), x.min(), y.max() + 1, x.max() + 1] if len(y) else [0, 0, 0, 0]
        assert bb.tolist() == expected


def test_a_mask_without_its_axis_is_refused():
    with pytest.raises(ShapeError, match=r"mask\[None\]"):
        mask_to_bbox(np.zeros((4, 4), bool))
