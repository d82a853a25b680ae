"""Examples changed for training: sizes, boxes that stay on their objects, and what is cut away."""

import numpy as np
import pytest

from cvzoo.config import set_seed
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.model.preparation.abstract import MEAN_OF_255 as MEAN
from cvzoo.links.model.preparation.abstract import STD_OF_255 as STD
from cvzoo.links.model.retinanet.augmentation import RandomFit, RandomPart, RetinaNetTransform
from cvzoo.transforms.sample.sample import Sample


def _example(size=(120, 200), n=6, seed=0):
    """A black photo whose objects are white, each alone in its row and column."""
    random = np.random.default_rng(seed)
    img = np.zeros((3, *size), "f")
    low = np.stack([np.arange(n) * (size[0] // n) + 2, random.permutation(n) * (size[1] // n) + 3], axis=1)
    bbox = np.concatenate([low, low + random.integers(8, 15, (n, 2))], axis=1)
    for top, left, bottom, right in bbox:
        img[:, top:bottom, left:right] = 255
    return img, bbox.astype("f"), np.arange(n, dtype="i")


def test_without_chance_it_is_resized_and_normalized():
    img, bbox, label = _example()
    new, new_bbox, new_label, ignored = RetinaNetTransform((60,), 100, flip=False)((img, bbox, label))
    assert new.shape == (3, 60, 100)
    assert new.dtype == np.float32
    np.testing.assert_allclose(new_bbox, bbox / 2)
    np.testing.assert_array_equal(new_label, label)
    assert not ignored.any()
    same = RetinaNetTransform((120,), 999, flip=False)((img, bbox, label))[0]
    np.testing.assert_allclose(same, (img - MEAN[:, None, None]) / STD[:, None, None], atol=1e-5)


@pytest.mark.parametrize(("size", "wanted"), [((120, 200), {(60, 100), (72, 120)}), ((100, 400), {(30, 120)})])
def test_the_short_side_is_drawn_and_the_long_one_is_limited(size, wanted):
    set_seed(0)
    transform = RetinaNetTransform((60, 72), 120)
    shapes = {transform(_example(size))[0].shape[1:] for _ in range(20)}
    assert shapes == wanted


@pytest.mark.parametrize("seed", range(8))
def test_boxes_stay_on_their_objects(seed):
    set_seed(seed)
    transform = RetinaNetTransform((90, 120), 300, part=RandomPart((0.4, 1.0)), jitter=0.2)
    img, bbox, label, ignored = transform(_example())
    bright = img.mean(axis=0)
    middle = (bright.max() + bright.min()) / 2
    assert len(bbox) == len(label) == len(ignored) > 0
    covered = np.zeros(bright.shape, bool)
    for top, left, bottom, right in bbox:
        y, x = slice(round(float(top)), round(float(bottom))), slice(round(float(left)), round(float(right)))
        covered[y, x] = True
        inner = bright[y, x][1:-1, 1:-1]
        assert inner.size == 0 or (inner > middle).mean() > 0.9
    assert ((bright > middle) & ~covered).mean() < 0.02


def test_the_same_random_state_gives_the_same_example_and_another_one_does_not():
    transform = RetinaNetTransform((60, 80, 100), 300, part=RandomPart(), jitter=0.3)
    results = []
    for seed in (1, 1, 2):
        set_seed(seed)
        results.append(transform(_example())[0])
    np.testing.assert_array_equal(results[0], results[1])
    assert results[0].shape != results[2].shape or not np.array_equal(results[0], results[2])


def test_what_is_mostly_cut_away_is_ignored():
    part = RandomPart((0.5, 0.5), min_visible=0.5)
    sample = Sample(
        img=np.zeros((3, 100, 100), "f"),
        bbox=np.array([[10, 0, 20, 40], [10, 40, 20, 90], [10, 20, 20, 70], [60, 0, 70, 10]], "f"),
        label=np.arange(4, dtype="i"),
    )
    cut = part.apply(sample, {"y_slice": slice(0, 50), "x_slice": slice(0, 50)})
    np.testing.assert_array_equal(cut.label, [0, 1, 2])
    np.testing.assert_array_equal(cut.crowded, [False, True, False])
    np.testing.assert_array_equal(cut.bbox, [[10, 0, 20, 40], [10, 40, 20, 50], [10, 20, 20, 50]])


@pytest.mark.parametrize("seed", range(20))
def test_a_part_holds_the_middle_of_an_object(seed):
    sample = Sample(img=np.zeros((3, 50, 300), "f"), bbox=np.array([[44, 290, 50, 300]], "f"))
    window = RandomPart((0.1, 0.4)).draw(sample, np.random.default_rng(seed))
    assert window["y_slice"].start <= 47 < window["y_slice"].stop <= 50
    assert 0 <= window["x_slice"].start <= 295 < window["x_slice"].stop <= 300


def test_flags_and_tiny_boxes_are_ignored():
    img, bbox, label = _example()
    difficult = np.array([True, False, False, False, False, False])
    bbox[3, 2] = bbox[3, 0] + 1
    ignored = RetinaNetTransform((60,), 999, flip=False)((img, bbox, label, difficult))[3]
    np.testing.assert_array_equal(ignored, [True, False, False, True, False, False])


def test_a_photo_without_objects_passes():
    empty = np.zeros((3, 50, 60), "f"), np.zeros((0, 4), "f"), np.zeros(0, "i")
    img, bbox, label, ignored = RetinaNetTransform((25,), 90, part=RandomPart(), jitter=0.1)(empty)
    assert img.shape[0] == 3
    assert bbox.shape == (0, 4)
    assert label.shape == ignored.shape == (0,)


def test_bad_settings_teach():
    for make in (
        lambda: RandomFit((), 100),
        lambda: RandomFit((0,), 100),
        lambda: RandomPart((0.0, 1.0)),
        lambda: RandomPart((0.5, 1.0), min_visible=2),
    ):
        with pytest.raises(ValueRangeError):
            make()


@pytest.mark.parametrize("fourth", ["a name", np.zeros(3, bool), np.zeros(2, np.float32)])
def test_a_fourth_value_that_is_no_flag_a_box_is_refused(fourth):
    bbox = np.array([[1, 1, 9, 9], [5, 5, 20, 30]], np.float32)
    example = (np.zeros((3, 40, 60), np.float32), bbox, np.zeros(2, int))
    with pytest.raises(ShapeError, match="mask of ignored boxes"):
        RetinaNetTransform((32,), 64)((*example, fourth))
