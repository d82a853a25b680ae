"""An example for the training of FCIS."""

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.mask_to_bbox import mask_to_bbox
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcis.transform import FCISTransform


@pytest.fixture(scope="module")
def model():
    sizes = {"n_layer": 10, "base_channels": 4, "rpn_channels": 4, "mid_channels": 4}
    return FCISResNet101(1, min_size=40, max_size=80, roi_size=4, group_size=2, anchor_scales=(1,), **sizes)


@pytest.fixture
def example():
    """A bright object at the left, a crowd, and an object of a single pixel that resizing loses."""
    img, mask = np.zeros((3, 80, 120), np.float32), np.zeros((3, 80, 120), bool)
    mask[0, 20:60, 10:50] = True
    mask[1, :, 60:] = True
    mask[2, 0, 0] = True
    img[:, mask[0]] = 200
    return img, mask, np.array([0, 0, 0], np.int32), np.array([False, True, False])


def test_masks_are_resized_with_the_image_and_crowds_are_left_out(model, example):
    img, mask, label, scale, size = FCISTransform(model, x_flip=False)(example)
    assert (img.shape, mask.shape, label.tolist(), scale, size) == ((3, 40, 60), (1, 40, 60), [0], 0.5, (40, 60))
    np.testing.assert_array_equal(mask_to_bbox(mask), [[10, 5, 30, 25]])


def test_one_of_several_short_sides_is_drawn(model, example):
    transform, seen = FCISTransform(model, x_flip=False, scales=(0.5, 1)), set()
    set_seed(0)
    for _ in range(20):
        img, mask, _, scale, size = transform(example)
        assert img.shape[1:] == mask.shape[1:] == size
        seen.add((scale, size))
    assert seen == {(0.5, (40, 60)), (0.25, (20, 30))}


def test_masks_are_flipped_with_the_image(model, example):
    transform, lefts = FCISTransform(model), set()
    set_seed(0)
    for _ in range(20):
        img, mask, *_ = transform(example)
        inside = img[0] > img[0].mean()
        assert (inside == mask[0]).mean() > 0.97
        lefts.add(int(mask_to_bbox(mask)[0, 1]))
    assert lefts == {5, 35}


def test_an_image_without_objects_and_one_of_a_line_are_examples(model, example):
    img, mask, label, crowded = example
    _, none, *_ = FCISTransform(model)((img, mask[:0], label[:0], crowded[:0]))
    assert none.shape == (0, 40, 60)
    line = np.zeros((3, 2, 400), np.float32), np.ones((1, 2, 400), bool), label[:1]
    padded, mask, _, _, size = FCISTransform(model, x_flip=False)(line)
    assert padded.shape[1:] == mask.shape[1:] == size
    assert size[0] == 8


def test_flags_of_another_length_are_refused(model, example):
    with pytest.raises(ShapeError, match="instances not to be learned"):
        FCISTransform(model)((*example[:3], np.zeros(2, bool)))
