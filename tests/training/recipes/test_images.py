"""What is drawn while a network is trained."""

import itertools
import types

import numpy as np
import pytest

from cvzoo.images import read_image
from cvzoo.training.recipes.detection_recipe import draw_boxes
from cvzoo.training.recipes.images import FirstBatchImage, PredictionImages
from cvzoo.training.recipes.listing import named_recipe

MEAN, STD = np.float32([10, 20, 30]), np.float32([50, 60, 70])
LABEL = np.float32([0.25, 0.75, 0])
BOX = np.float32([[8, 8, 24, 24], [30, 30, 34, 34]])


def batch(n=2, value=1.0):
    ignored = np.array([False, True])
    return [(np.full((3, 40, 60), value, np.float32), BOX, np.int32([0, 1]), ignored) for _ in range(n)]


def converter(path, seen):
    def convert(batch, device):
        seen.append((len(batch), device))
        return "converted"

    return FirstBatchImage(convert, path, lambda example: draw_boxes(example, ("a", "b"), mean=MEAN, std=STD))


def test_the_first_batch_is_drawn_once_as_it_is_trained_on(tmp_path):
    path, seen = tmp_path / "images/first_batch.jpg", []
    convert = converter(path, seen)
    assert convert(batch(9), "cpu") == "converted"
    sheet = read_image(path)
    data = path.read_bytes()
    assert convert(batch(9, 3.0)) == "converted"
    assert path.read_bytes() == data
    assert seen == [(9, "cpu"), (9, None)]
    # eight images of nine in rows of four, and the pixels are those of before the normalization
    assert sheet.shape[2] > 4 * 320 > 2 * sheet.shape[1] * 0.9
    left, top = 8 + (320 - 300) // 2, 8 + (320 - 200) // 2  # each pixel of 60 x 40 is shown as 5 x 5
    np.testing.assert_allclose(sheet[:, top + 10, left + 10], MEAN + STD, atol=12)
    inside, beside = sheet[:, top + 42, left + 80], sheet[:, top + 150, left + 160]
    assert np.abs(inside - (MEAN + STD)).max() > 40  # a box
    np.testing.assert_allclose(beside, MEAN + STD, atol=25)  # and none around what is ignored


def test_a_resumed_run_keeps_the_first_batch_of_its_beginning(tmp_path):
    path = tmp_path / "first_batch.jpg"
    path.write_bytes(b"as it was")
    converter(path, [])(batch())
    assert path.read_bytes() == b"as it was"


class Data:
    def __init__(self, n=3):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return (np.full((3, 40, 60), i, np.float32),)

    def name(self, i):
        return f"folder/{i}.png"


def test_what_a_model_finds_is_drawn_anew_each_time(tmp_path):
    path, seen = tmp_path / "images/predictions.jpg", []

    def draw(example):
        (img,) = example
        seen.append(img.shape)
        return img + 10 * len(seen), "found"

    extension = PredictionImages(Data(), path, draw, trigger=(1, "epoch"))
    extension(None)
    first = path.read_bytes()
    extension(None)
    assert path.read_bytes() != first
    assert seen == [(3, 40, 60)] * 6


def test_the_images_are_spread_over_the_data_which_may_be_sorted_by_class(tmp_path):
    shown = []
    draw = lambda example: (shown.append(int(example[0][0, 0, 0])) or example[0], "")  # noqa: E731
    PredictionImages(Data(15), tmp_path / "a.jpg", draw, trigger=(1, "epoch"))(None)
    assert shown == [0, 2, 4, 6, 8, 10, 12, 14]


def test_images_that_take_long_are_fewer_but_one(tmp_path):
    shown = []
    draw = lambda example: (shown.append(1) or example[0], "")  # noqa: E731
    for seconds, n in ((2.5, 3), (-1.0, 1)):
        clock = itertools.count().__next__
        images = PredictionImages(Data(15), tmp_path / "a.jpg", draw, trigger=None, seconds=seconds, clock=clock)
        images(None)
        assert len(shown) == n
        shown.clear()


def test_predictions_of_earlier_epochs_are_kept_spread_over_the_training(tmp_path):
    trainer = types.SimpleNamespace(updater=types.SimpleNamespace(epoch=0))
    draw = lambda example: (example[0], "")  # noqa: E731
    images = PredictionImages(Data(1), tmp_path / "a.jpg", draw, trigger=None, samples=tmp_path / "samples")
    for epoch in range(1, 101):
        trainer.updater.epoch = epoch
        images(trainer)
    kept = sorted(int(path.stem.removeprefix("epoch_")) for path in (tmp_path / "samples").iterdir())
    assert 12 <= len(kept) <= 24
    assert (kept[0], kept[-1]) == (1, 100)
    assert kept[len(kept) // 3] < 90


def test_a_wrong_class_is_shown_beside_the_true_one():
    class Model:
        def predict(self, imgs):
            return np.float32([[0.25, 0.75]])

    draw = named_recipe("cifar_resnet20").draw_prediction
    img = np.zeros((3, 4, 4), np.float32)
    assert draw(Model(), (img, 1), ("cat", "dog"))[1] == "dog 0.75"
    assert draw(Model(), (img, 0), ("cat", "dog"))[1] == "dog 0.75, is cat"


def test_classes_of_a_mixed_image_have_their_fractions():
    recipe = named_recipe("cifar_resnet20")
    model = recipe.build_model(("cat", "dog", "cow"))
    img = np.zeros((3, 32, 32), np.float32)
    captions = [recipe.draw_example((img, label), model, model.label_names)[1] for label in (np.int32(1), LABEL)]
    assert captions == ["dog", "dog 0.75, cat 0.25"]


def test_a_disk_that_is_full_ends_no_training(tmp_path):
    (tmp_path / "images").write_text("in the way")
    with pytest.warns(RuntimeWarning, match=r"first_batch.jpg could not be written"):
        assert converter(tmp_path / "images/first_batch.jpg", [])(batch()) == "converted"
