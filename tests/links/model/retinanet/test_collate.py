"""Photos of different sizes as one batch."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError, ShapeError
from cvzoo.links.model.retinanet.augmentation import collate_images


def _photo(height, width, seed=0):
    return np.random.default_rng(seed).normal(size=(3, height, width)).astype("f")


def test_photos_lie_in_the_upper_left_corner():
    first, second = _photo(40, 64), _photo(65, 20, seed=1)
    x, bboxes, labels = collate_images([(first, "a", 1), (second, "b", 2)])
    assert x.shape == (2, 3, 96, 64)
    assert x.dtype == np.float32
    assert x.strides[1] == 4  # channels-last
    np.testing.assert_array_equal(x[0, :, :40], first)
    np.testing.assert_array_equal(x[1, :, :65, :20], second)
    assert not x[0, :, 40:].any()
    assert not x[1, :, 65:].any()
    assert not x[1, :, :, 20:].any()
    assert (bboxes, labels) == (["a", "b"], [1, 2])
    np.testing.assert_array_equal(collate_images([(first,), (second,)], "cpu")[0], x)


@pytest.mark.parametrize(("multiple", "wanted"), [(1, (33, 50)), (32, (64, 64)), (50, (50, 50))])
def test_sides_are_multiples(multiple, wanted):
    (x,) = collate_images([(_photo(33, 50),)], None, multiple=multiple)
    assert x.shape[2:] == wanted


def test_bad_batches_teach():
    with pytest.raises(ShapeError, match="empty"):
        collate_images([])
    with pytest.raises(ShapeError, match=r"\(C, H, W\)"):
        collate_images([(_photo(4, 4), 0), (_photo(4, 4)[:1], 0)])
    with pytest.raises(CvzooError):
        collate_images([(_photo(4, 4), 0)], "gpu:99")
