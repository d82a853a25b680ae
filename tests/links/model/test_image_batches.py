"""Batches of prepared photos: how they lie in memory."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import DtypeError
from cvzoo.links.model.image_batches import check_images, prepared_batches

PREPARE = {
    "channels first": np.ascontiguousarray,
    "channels last": lambda img: np.ascontiguousarray(img.transpose(1, 2, 0)).transpose(2, 0, 1),
    "with gaps": lambda img: img[:, ::2, 1:],
    "of one row": lambda img: img[:, :1],
}


@pytest.mark.parametrize("name", PREPARE)
def test_a_photo_alone_lies_as_it_does_among_others(name):
    photos = np.random.default_rng(0).integers(0, 256, (2, 3, 6, 8)).astype(np.float32)
    (alone,) = prepared_batches(photos[:1], PREPARE[name], batch_size=4)
    (together,) = prepared_batches(photos, PREPARE[name], batch_size=4)
    np.testing.assert_array_equal(alone.x[0], together.x[0])
    assert alone.x.strides == together.x[:1].copy(order="K").strides
    assert (len(alone.x), len(together.x)) == (1, 2)


@pytest.mark.parametrize(
    ("imgs", "first_line"),
    [
        (3, "predict takes several images, not the number 3"),
        (None, "predict takes several images, not an object of type NoneType"),
        ("dog.jpg", "predict takes several images, not one"),
    ],
)
def test_what_is_no_list_of_photos_is_refused_in_the_first_line(imgs, first_line):
    with pytest.raises(DtypeError) as caught:
        check_images(imgs, 1)
    assert str(caught.value).splitlines()[0] == first_line
