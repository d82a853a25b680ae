import numpy as np
import pytest
from PIL import Image

from cvzoo.backends.numpy.resize import resize_2d, resize_2d_grad
from cvzoo.errors.exceptions import ValueRangeError

PLAIN = {"mode": "bilinear", "align_corners": False, "antialias": False}
SIZES = [(5, 9), (14, 3), (7, 6), (1, 1), (21, 18), (3, 17)]


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_nearest_takes_the_pixel_at_the_cut_off_place(size):
    x = draw(2, 3, 7, 6)
    y = resize_2d(x, size, mode="nearest", align_corners=False, antialias=False)
    for i in range(size[0]):
        for j in range(size[1]):
            np.testing.assert_array_equal(y[:, :, i, j], x[:, :, i * 7 // size[0], j * 6 // size[1]])


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("align_corners", [False, True])
def test_bilinear_interpolates_between_four_pixels(size, align_corners):
    x = draw(1, 1, 7, 6)
    y = resize_2d(x, size, mode="bilinear", align_corners=align_corners, antialias=False)[0, 0]

    def place(k, n_in, n_out):
        if align_corners:
            at = k * (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
        else:
            at = (k + 0.5) * n_in / n_out - 0.5
        at = min(max(at, 0), n_in - 1)
        return int(at), min(int(at) + 1, n_in - 1), at - int(at)

    for i in range(size[0]):
        for j in range(size[1]):
            (top, bottom, v), (left, right, h) = place(i, 7, size[0]), place(j, 6, size[1])
            upper = x[0, 0, top, left] * (1 - h) + x[0, 0, top, right] * h
            lower = x[0, 0, bottom, left] * (1 - h) + x[0, 0, bottom, right] * h
            np.testing.assert_allclose(y[i, j], upper * (1 - v) + lower * v, atol=1e-12)


@pytest.mark.parametrize("size", [(11, 20), (37, 20), (5, 90), (60, 70)], ids=str)
def test_antialiasing_is_pillow_s(size):
    photo = np.random.default_rng(0).uniform(0, 255, (37, 53)).astype(np.float32)
    expected = np.asarray(Image.fromarray(photo).resize(size[::-1], Image.Resampling.BILINEAR))
    got = resize_2d(photo[None, None], size, mode="bilinear", align_corners=False, antialias=True)[0, 0]
    np.testing.assert_allclose(got, expected, atol=1e-3)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("rules", [(False, False), (False, True), (True, False), (True, True)], ids=str)
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_the_gradient_is_the_adjoint(mode, rules, size):
    settings = {"mode": mode, "align_corners": rules[0], "antialias": rules[1]}
    x, gy = draw(2, 3, 7, 6), draw(2, 3, *size, seed=1)
    y, gx = resize_2d(x, size, **settings), resize_2d_grad(gy, (7, 6), **settings)
    np.testing.assert_allclose(np.vdot(y, gy), np.vdot(x, gx), atol=1e-10)


def test_the_same_size_gives_a_copy():
    x = np.ones((1, 2, 3, 4), np.float32).transpose(0, 3, 1, 2)
    y = resize_2d(x, (2, 3), **PLAIN)
    y[...] = 0
    assert x.all()


def test_a_flat_photo_stays_flat():
    x = np.full((1, 3, 9, 13), 7.0)
    for antialias in (False, True):
        y = resize_2d(x, (4, 40), mode="bilinear", align_corners=False, antialias=antialias)
        np.testing.assert_allclose(y, 7)


def test_an_unknown_mode_is_refused_by_name():
    with pytest.raises(ValueRangeError, match="cubic"):
        resize_2d(np.ones((1, 1, 4, 4)), (2, 2), mode="cubic", align_corners=False, antialias=False)
