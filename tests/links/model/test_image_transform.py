"""Photos changed for the training of classifiers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.image_transform import ImageTransform
from cvzoo.links.model.preparation.center_crop import PhotoPreparation

SMALL = PhotoPreparation(short=9, crop=8)
PLAIN = {"x_flip": False, "jitter": 0.0, "lighting": 0.0}
MEAN, STD = (255 * np.array(three, np.float32)[:, None, None] for three in (SMALL.mean, SMALL.std))


def squares(height, width):
    """A photo whose red says the row, green the column, and blue is 100."""
    img = np.full((3, height, width), 100, np.float32)
    img[0], img[1] = np.arange(height)[:, None] * 4, np.arange(width) * 4
    return img


@given(height=st.integers(1, 40), width=st.integers(1, 40), n_channel=st.sampled_from([1, 3]), seed=st.integers(0, 9))
def test_every_photo_becomes_a_square_of_the_networks_size(height, width, n_channel, seed):
    rng = np.random.default_rng(seed)
    img = rng.uniform(0, 255, (n_channel, height, width)).astype(np.float32)
    before = img.copy()
    x, label = ImageTransform(SMALL)((img, np.int32(5)), rng)
    assert x.shape == (3, 8, 8)
    assert x.dtype == np.float32
    assert x.flags.c_contiguous
    assert np.isfinite(x).all()
    assert label == 5
    np.testing.assert_array_equal(img, before)


def test_without_changes_it_is_a_part_of_the_photo_normalized():
    transform = ImageTransform(SMALL, scale_ratio_range=(0.3, 0.6), **PLAIN)
    shares = []
    for seed in range(40):
        x, _ = transform((squares(40, 40), 0), np.random.default_rng(seed))
        img = x * STD + MEAN
        np.testing.assert_allclose(img[2], 100, atol=1e-3)
        rows, columns = img[0, :, 0], img[1, 0]
        assert (np.diff(rows) > 0).all()
        assert (np.diff(columns) > 0).all()
        # the middles of the first and the last pixel lie 7/8 of the part's sides apart
        shares.append((rows[-1] - rows[0]) * (columns[-1] - columns[0]) / (4 * 40 * 7 / 8) ** 2)
    assert 0.25 < min(shares) < 0.36
    assert 0.5 < max(shares) < 0.65


def test_half_of_the_photos_are_mirrored():
    transform = ImageTransform(SMALL, **{**PLAIN, "x_flip": True})
    turned = []
    for seed in range(60):
        x, _ = transform((squares(40, 40), 0), np.random.default_rng(seed))
        turned.append(x[1, 0, 0] > x[1, 0, -1])
    assert 20 <= sum(turned) <= 40


def test_colours_are_changed_as_much_as_is_asked():
    grey = np.full((3, 10, 10), 100, np.float32)
    for change, least in (({"jitter": 0.4}, 10), ({"lighting": 25.5}, 1)):
        transform = ImageTransform(SMALL, **{**PLAIN, **change})
        imgs = [transform((grey, 0), np.random.default_rng(seed))[0] * STD + MEAN for seed in range(50)]
        values = np.stack([img[:, 0, 0] for img in imgs])
        assert (values.std(axis=0) > least).all()
        np.testing.assert_allclose(values.mean(axis=0), 100, atol=10)
        if "jitter" in change:  # at most 0.4 from either brightness and contrast, of one colour everywhere
            assert (np.abs(values - 100) <= 41).all()


def test_the_same_generator_gives_the_same_photo():
    transform = ImageTransform(SMALL)
    one, other, third = (transform((squares(20, 30), 0), np.random.default_rng(seed))[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert (one != third).any()


def test_what_makes_no_sense_is_refused():
    for wrong in ({"jitter": -0.1}, {"lighting": -1.0}, {"lighting": float("nan")}):
        with pytest.raises(ValueRangeError, match="jitter and lighting"):
            ImageTransform(SMALL, **wrong)
    with pytest.raises(ValueRangeError, match="scale_ratio_range"):
        ImageTransform(SMALL, scale_ratio_range=(0.0, 1.0))((squares(4, 4), 0))
    with pytest.raises(ShapeError):
        ImageTransform(SMALL)((np.zeros((4, 4), np.float32), 0))
