"""An example for the training of Keypoint R-CNN."""

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ShapeError
from cvzoo.links.model.keypoint_rcnn.augmentation import KeypointRCNNTransform
from cvzoo.transforms.sample.flips_and_rotations import RandomFlip
from cvzoo.transforms.sample.sample import Sample

MIRRORED = (0, 2, 1)  # nose, left eye, right eye


@pytest.fixture
def example():
    """An object with a nose, a left eye on the image's right, a right eye that is not labeled; and a crowd."""
    img = np.zeros((3, 40, 60), np.float32)
    bbox = np.array([[5, 10, 25, 40], [0, 0, 30, 30]], np.float32)
    point = np.array([[[15, 20], [10, 30], [0, 0]]] * 2, np.float32)
    visible = np.array([[True, True, False], [False] * 3])
    return img, bbox, np.zeros(2, np.int32), point, visible, np.array([False, True])


def test_keypoints_are_resized_with_the_image(example):
    img, bbox, _, point, visible, ignored = KeypointRCNNTransform([80], 200, mirrored=None)(example)
    assert img.shape == (3, 80, 120)
    np.testing.assert_allclose(bbox[0], [10, 20, 50, 80])
    np.testing.assert_allclose(point[0, :2], [[30, 40], [20, 60]])
    assert (visible.tolist(), ignored.tolist()) == ([[True, True, False], [False] * 3], [False, True])


def test_half_of_the_images_are_flipped_with_left_and_right_exchanged(example):
    transform, seen = KeypointRCNNTransform([40], 200, mirrored=MIRRORED), set()
    set_seed(0)
    for _ in range(20):
        _, bbox, _, point, visible, _ = transform(example)
        is_flipped = bbox[0, 1] == 20
        seen.add(bool(is_flipped))
        nose, left, right = point[0].tolist()
        if is_flipped:
            # the eye at the other side is now the right one
            assert (nose, right, visible[0].tolist()) == ([15, 40], [10, 30], [True, False, True])
        else:
            assert (nose, left, visible[0].tolist()) == ([15, 20], [10, 30], [True, True, False])
    assert seen == {False, True}


def test_keypoints_of_an_image_flipped_along_both_axes_are_not_exchanged(example):
    img, _, _, point, visible, _ = example
    sample = Sample(img=img, point=point, visible=visible)
    turned = RandomFlip(mirrored=MIRRORED).apply(sample, {"y_flip": True, "x_flip": True})
    np.testing.assert_array_equal(turned.point, np.array([40, 60]) - point)
    np.testing.assert_array_equal(turned.visible, visible)
    flipped = RandomFlip(mirrored=MIRRORED).apply(sample, {"y_flip": True, "x_flip": False})
    np.testing.assert_array_equal(flipped.visible, visible[:, MIRRORED])


def test_flags_of_another_length_are_refused(example):
    with pytest.raises(ShapeError, match="mask of ignored instances"):
        KeypointRCNNTransform([40], 200, mirrored=None)((*example[:5], np.zeros(3, bool)))
