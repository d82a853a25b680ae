import numpy as np
import pytest

from cvzoo.experimental.links.model.pspnet import convolution_crop


@pytest.mark.parametrize("size", [(5, 7), (4, 4), (3, 9)])
def test_the_windows_of_an_image_put_back_are_the_image(size):
    img = np.random.default_rng(0).normal(size=(2, *size)).astype(np.float32)
    windows, where = convolution_crop(img, (4, 4), (2, 3), return_param=True)
    total, count = np.zeros_like(img), np.zeros(size)
    for window, y, x, crop_y, crop_x in zip(windows, *where.values()):
        total[:, y, x] += window[:, crop_y, crop_x]
        count[y, x] += 1
    assert list(where) == ["y_slices", "x_slices", "crop_y_slices", "crop_x_slices"]
    np.testing.assert_allclose(total / count, img, rtol=1e-6)
    assert np.array_equal(convolution_crop(img, (4, 4), (2, 3)), windows)
