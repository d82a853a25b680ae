import numpy as np
import pytest

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry import mask_to_bbox
from cvzoo.transforms import resize_mask, scale_mask


@pytest.mark.parametrize(("size", "scaled"), [((8, 12), (4, 6)), ((12, 8), (6, 4))])
def test_the_shorter_side_becomes_the_size(size, scaled):
    mask = np.ones((2, *size), np.bool_)
    result = scale_mask(mask, mask_to_bbox(mask), 4)
    assert result.shape == (2, *scaled)
    assert result.all()


def test_a_mask_is_resized_within_its_box_only():
    mask = np.zeros((1, 8, 8), np.bool_)
    mask[0, 2:6, 4:8] = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    result = scale_mask(mask, mask_to_bbox(mask), 4)
    assert np.array_equal(result, resize_mask(mask, (4, 4)))
    assert result[0, 1, 2]
    assert not result[0, 1, 3]


def test_boxes_are_one_a_mask():
    with pytest.raises(ShapeError, match="one box per mask"):
        scale_mask(np.zeros((2, 4, 4), np.bool_), np.zeros((1, 4), np.float32), 2)
