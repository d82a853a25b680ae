"""Images as classifiers of ImageNet see them."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.abstract import IMAGENET_MEAN, IMAGENET_STD
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.preparation.short_side import short_side_size

BICUBIC = CenterCrop(40, 36, "bicubic", (0.5, 0.4, 0.3), (0.5, 0.25, 0.2))


def photo(height, width):
    rng = np.random.default_rng(3)
    return rng.integers(0, 256, (3, height, width)).astype(np.float32)


@pytest.mark.parametrize("size", [(50, 91), (91, 50), (20, 20), (36, 300)])
def test_a_photo_is_prepared_as_pillow_and_the_definition_do_it(size):
    img = photo(*size)
    pil = Image.fromarray(img.transpose(1, 2, 0).astype(np.uint8))
    h, w = short_side_size(size, 40)
    pixels = np.asarray(pil.resize((w, h), Image.Resampling.BICUBIC), np.float64).transpose(2, 0, 1)
    y, x = round((h - 36) / 2), round((w - 36) / 2)
    want = pixels[:, y : y + 36, x : x + 36] / 255
    want = (want - np.array(BICUBIC.mean)[:, None, None]) / np.array(BICUBIC.std)[:, None, None]
    got = BICUBIC(img)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_a_crop_larger_than_the_photo_has_black_around():
    how = CenterCrop(3, 6, mean=(0, 0, 0), std=(1, 1, 1))
    x = how(np.full((3, 3, 6), 255, np.float32))
    np.testing.assert_array_equal(x[0].sum(axis=1), [0, 6, 6, 6, 0, 0])
    black = CenterCrop(3, 6)(np.full((3, 3, 6), 255, np.float32))[:, 0, 0]
    np.testing.assert_allclose(black, -np.array(IMAGENET_MEAN) / IMAGENET_STD, rtol=1e-6)


def test_it_survives_json():
    assert CenterCrop.from_json(json.loads(json.dumps(BICUBIC.to_json()))) == BICUBIC
    assert "bicubic" in BICUBIC.describe()


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"short": 0}, "short"),
        ({"crop": True}, "crop"),
        ({"interpolation": "nearest"}, "interpolation"),
        ({"mean": (1, 2)}, "mean"),
        ({"std": (1, 0, 1)}, "std"),
        ({"std": (1, float("nan"), 1)}, "std"),
    ],
)
def test_wrong_fields_are_named(fields, named):
    with pytest.raises(ValueRangeError, match=named):
        CenterCrop(**fields)
