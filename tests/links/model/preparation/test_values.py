"""One description of an image's preparation, and what its readers make of it."""

import dataclasses
import json

import numpy as np
import pytest

from cvzoo.backends.image_plan import Resampling
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.preparation.resize_shortest_edge import ResizeShortestEdge
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.transforms.letterbox import letterbox
from cvzoo.transforms.resize import resize

HALF = (127.5, 127.5, 127.5)
VALUES = {
    "Stretch": Stretch((20, 30), mean=(1, 2, 3)),
    "ShortSide": ShortSide(24),
    "ResizeShortestEdge": ResizeShortestEdge(24, 40, multiple=8),
    "Letterbox": Letterbox((32, 32)),
    "CenterCrop": CenterCrop(24, 16),
    "AsIs": AsIs(mean=HALF, std=HALF, arithmetic="x / std - mean / std"),
}


def photo(size=(20, 50)):
    return np.random.default_rng(0).integers(0, 256, (3, *size)).astype(np.float32)


@pytest.mark.parametrize("name", VALUES)
def test_a_preparation_gives_a_new_array_of_the_size_that_it_foretells(name):
    how, img = VALUES[name], photo()
    before = img.copy()
    x = how(img)
    assert x.shape == (3, *how.placement(img.shape[1:]).input_size)
    assert x.dtype == np.float32
    assert x.transpose(1, 2, 0).flags.c_contiguous
    np.testing.assert_array_equal(img, before)
    assert not np.shares_memory(x, img)


@pytest.mark.parametrize("name", VALUES)
def test_a_preparation_is_a_value(name):
    how = VALUES[name]
    assert hash(how) == hash(dataclasses.replace(how))
    assert how == dataclasses.replace(how)
    with pytest.raises(dataclasses.FrozenInstanceError):
        how.mean = (0, 0, 0)


@pytest.mark.parametrize("name", VALUES)
def test_what_programs_and_people_are_told_survives_json(name):
    how = VALUES[name]
    for told in (how.to_program(), how.to_header()):
        assert json.loads(json.dumps(told)) == told
    assert how.channels in how.describe()


def test_an_image_is_stretched_and_lessened_by_the_mean():
    img = photo()
    np.testing.assert_array_equal(VALUES["Stretch"](img), resize(img, (20, 30)) - np.float32([1, 2, 3])[:, None, None])


def test_a_letterbox_is_darknets():
    img = photo()
    how = Letterbox((32, 48), arithmetic="x * (1 / std) - mean / std")
    np.testing.assert_array_equal(how(img), letterbox(img, (32, 48)) * np.float32(1 / 255))
    assert how.placement((20, 50)) == ((19, 48), (32, 48), (6, 0))
    assert how.part((20, 50)) == (6, 0, 19, 48)


def test_arithmetic_is_as_it_is_written():
    img = photo()
    half = {"mean": HALF, "std": HALF}
    divided = AsIs(**half, arithmetic="x / std - mean / std")(img)
    np.testing.assert_array_equal(divided, img / np.float32(127.5) - np.float32(1))
    multiplied = AsIs(**half, arithmetic="x * (1 / std) - mean / std")(img)
    np.testing.assert_array_equal(multiplied, img * np.float32(1 / 127.5) - np.float32(1))
    np.testing.assert_array_equal(AsIs(**half)(img), (img - np.float32(127.5)) / np.float32(127.5))


def test_blue_may_come_first():
    img = photo()
    np.testing.assert_array_equal(Stretch((20, 50), channels="BGR")(img), img[::-1])


def test_the_short_side_is_long_enough_unless_the_long_one_is_too_long():
    chainercv = ResizeShortestEdge(600, 1000, sides="chainercv", at_least=8)
    assert chainercv.placement((480, 640)) == ((600, 800), (600, 800), (0, 0))
    assert chainercv.placement((300, 1500)).resized == (200, 1000)
    assert chainercv.placement((1, 5000)) == ((1, 1000), (8, 1000), (0, 0))
    torchvision = ResizeShortestEdge(800, 1333, multiple=32)
    assert torchvision.placement((97, 97)) == ((799, 799), (800, 800), (0, 0))
    detectron2 = ResizeShortestEdge(800, 1333, sides="detectron2")
    assert detectron2.placement((97, 97)).resized == (800, 800)


def test_boxes_of_one_scale_are_scaled_by_the_widths():
    how = ResizeShortestEdge(60, 100, sides="chainercv", one_scale=True)
    (height, width), _, _ = how.placement((47, 61))
    assert how.part((47, 61)) == (0, 0, 47 * width / 61, width)
    assert dataclasses.replace(how, one_scale=False).part((47, 61)) == (0, 0, height, width)


def test_values_are_normalized_before_or_after_the_resizing():
    img, numbers = photo(), {"mean": (10, 20, 30), "std": (4, 5, 6)}
    mean, std = (np.float32(three)[:, None, None] for three in numbers.values())
    how = {"resampling": Resampling.PILLOW_FLOATS, **numbers}
    first = ResizeShortestEdge(24, 60, normalize_first=True, **how)(img)
    np.testing.assert_array_equal(first, resize((img - mean) / std, (24, 60)))
    last = ResizeShortestEdge(24, 60, **how)(img)
    np.testing.assert_array_equal(last, (resize(img, (24, 60)) - mean) / std)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Stretch((0, 3)), "Stretch: size"),
        (lambda: Stretch(300), "Stretch: size"),
        (lambda: Stretch((3, 3), mean=(1, 2)), "Stretch: mean"),
        (lambda: Letterbox((32, 32), std=(1, 0, 1)), "Letterbox: std"),
        (lambda: ShortSide(True), "short"),
        (lambda: ResizeShortestEdge(0, 5), "min_size"),
        (lambda: ResizeShortestEdge(3, 5, multiple=0), "multiple"),
        (lambda: AsIs(value_range=100.0), "value_range"),
        (lambda: AsIs(arithmetic="x + mean"), "arithmetic"),
        (lambda: AsIs(mean=(1, 2, 3), arithmetic="x / std - mean / std"), "one number"),
    ],
)
def test_wrong_fields_are_named(make, named):
    with pytest.raises(ValueRangeError, match=named):
        make()
