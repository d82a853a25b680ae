import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.fpn import mask_to_segm, segm_to_mask

pytest.importorskip("cv2")
BBOX = np.array([[2, 4, 16, 18], [-3, -3, 6, 8], [30, 30, 40, 40]], np.float32)


def masks():
    mask = np.zeros((3, 24, 32), np.bool_)
    mask[0, 2:16, 4:18] = True
    mask[1, 0:6, 0:8] = True
    return mask


def test_a_mask_that_fills_its_box_is_a_full_square():
    segm = mask_to_segm(masks(), BBOX, 14)
    assert segm.shape == (3, 14, 14)
    assert segm.dtype == np.float32
    assert segm[0].min() == 1
    assert not segm[2].any()


def test_squares_of_masks_give_the_masks_again():
    assert np.array_equal(segm_to_mask(mask_to_segm(masks(), BBOX, 14), BBOX, (24, 32))[0], masks()[0])


def test_boxes_may_take_the_same_mask_or_none():
    segm = mask_to_segm(masks(), BBOX[[0, 0]], 7, np.array([0, 2]))
    assert segm[0].all()
    assert not segm[1].any()
    assert segm_to_mask(np.ones((1, 7, 7)), np.zeros((1, 4)), (8, 8)).sum() == 0


def test_as_many_squares_as_boxes():
    with pytest.raises(ShapeError, match="one square per box"):
        segm_to_mask(np.zeros((1, 7, 7), np.float32), BBOX, (8, 8))
    with pytest.raises(ShapeError, match="one index per box"):
        mask_to_segm(masks(), BBOX, 7, np.array([0]))
