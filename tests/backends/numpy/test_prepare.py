"""Images prepared on the host have the bits of Pillow, of darknet and of the backend's resizing."""

import numpy as np
import pytest

from cvzoo.backends.image_plan import ImagePlan, Resampling
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.errors.exceptions import ShapeError
from cvzoo.transforms.normalize import normalize
from cvzoo.transforms.resize import resize
from cvzoo.transforms.resize_align_corners import resize_align_corners

BACKENDS = pytest.mark.parametrize("backend", [numpy_backend, onednn_backend], ids=lambda each: each.name)
SIZES = [((40, 61), (20, 17)), ((13, 8), (31, 40)), ((1, 9), (5, 3)), ((33, 33), (33, 7)), ((6, 6), (1, 1))]
MEAN, STD = (100.0, 110.0, 120.0), (50.0, 60.0, 70.0)


def draw(size, dtype=np.float32):
    return np.random.default_rng([*size]).integers(0, 256, (3, *size)).astype(dtype)


def reference(backend, image, size, how):
    if how in (Resampling.PILLOW, Resampling.PILLOW_CUBIC):
        cubic = how is Resampling.PILLOW_CUBIC
        return resize(image.astype(np.uint8), size, interpolation="bicubic" if cubic else "bilinear")
    if how is Resampling.PILLOW_FLOATS:
        return resize(image, size)
    if how is Resampling.CORNERS:
        return resize_align_corners(image, size)
    antialias = how is Resampling.ANTIALIASED
    return backend.resize_2d(image[None], size, mode="bilinear", align_corners=False, antialias=antialias)[0]


@BACKENDS
@pytest.mark.parametrize("how", Resampling)
@pytest.mark.parametrize(("old", "new"), SIZES)
def test_every_resizing_has_the_bits_of_what_it_is_named_after(backend, old, new, how):
    image = draw(old)
    plan = ImagePlan(new, new, how, mean=MEAN, std=STD)
    want = normalize(reference(backend, image, new, how), mean=MEAN, std=STD)
    x = backend.prepare_images([image, image], [plan, plan])
    np.testing.assert_array_equal(x, np.stack([want, want]))
    assert x.transpose(0, 2, 3, 1).flags.c_contiguous


def test_bytes_and_floats_of_the_same_values_give_the_same():
    for how in Resampling:
        plan = ImagePlan((7, 9), (7, 9), how)
        images = draw((12, 15), np.uint8), draw((12, 15))
        one, two = numpy_backend.prepare_images(images, [plan, plan])
        np.testing.assert_array_equal(one, two)


def test_an_image_is_cut_or_framed_and_its_margins_are_filled():
    image = draw((10, 30))
    plan = ImagePlan(
        (10, 30), (16, 12), Resampling.CORNERS, offset=(3, -5), factor=0.5, shift=2.0, fill=(7.0, 8.0, 9.0)
    )
    (x,) = numpy_backend.prepare_images([image], [plan])
    want = np.empty((3, 16, 12), np.float32)
    want[...] = np.float32([7, 8, 9])[:, None, None]
    want[:, 3:13] = image[:, :, 5:17] * np.float32(0.5) - np.float32(2)
    np.testing.assert_array_equal(x, want)


def test_channels_past_the_third_are_zeros_and_types_are_what_is_asked():
    plan = ImagePlan((5, 5), (5, 5), Resampling.BILINEAR)
    x = numpy_backend.prepare_images([draw((5, 5))], [plan], dtype=np.float16, channels=8)
    assert (x.shape, x.dtype) == ((1, 8, 5, 5), np.float16)
    assert not x[:, 3:].any()


def test_what_was_given_stays_as_it_was():
    image = draw((9, 9))
    before = image.copy()
    for plan in (ImagePlan((9, 9), (9, 9), Resampling.BILINEAR), ImagePlan((9, 9), (12, 12), Resampling.PILLOW_FLOATS)):
        x = numpy_backend.prepare_images([image], [plan])
        assert not np.shares_memory(x, image)
        np.testing.assert_array_equal(image, before)


def test_images_of_other_shapes_and_frames_that_differ_are_refused():
    plan, other = (ImagePlan((5, 5), (5, side), Resampling.CORNERS) for side in (5, 6))
    for image in (np.zeros((1, 9, 9), np.uint8), np.zeros((9, 9), np.uint8), np.zeros((3, 9, 9), np.float64)):
        with pytest.raises(ShapeError, match="an image"):
            numpy_backend.prepare_images([image], [plan])
    with pytest.raises(ShapeError, match="one frame"):
        numpy_backend.prepare_images([draw((9, 9))] * 2, [plan, other])
