"""The check of images with classes or label maps, before a training."""

import itertools

import numpy as np
import pytest
from drawn_data import DRAWN
from PIL import Image

from cvzoo.datasets import ClassSplits, TupleDataset, class_splits, label_map_splits
from cvzoo.errors import DatasetError
from cvzoo.training.recipes.check_examples import check_examples


def faults_of(splits, **options):
    with pytest.raises(DatasetError) as caught:
        check_examples(splits, **options)
    return str(caught.value).partition("\n")[0]


def maps(*labels, size=(4, 6)):
    """Splits of images of one size with these label maps, all of them in the training set."""
    imgs = [np.zeros((3, *size), np.float32) for _ in labels]
    part = TupleDataset(("img", imgs), ("label", list(labels)))
    return ClassSplits(part, part.slice[:0], ("sky", "road"))


def test_sound_data_pass(tmp_path):
    check_examples(class_splits(DRAWN["classification"](tmp_path)))
    check_examples(label_map_splits(DRAWN["segmentation"](tmp_path)))


def test_unreadable_images_are_named_together(tmp_path):
    spec = DRAWN["classification"](tmp_path)
    for split, name in (("train", "dark"), ("val", "light")):
        (tmp_path / f"classes/{split}/{name}/0.png").write_bytes(b"no image")
    found = faults_of(class_splits(spec))
    assert found.startswith("2 faults in the data: ")
    assert "train/dark/0.png: not an image file of a supported format" in found
    assert "val/light/0.png: not an image" in found


def test_a_class_without_training_images_is_a_fault(tmp_path):
    spec = DRAWN["classification"](tmp_path)
    for path in (tmp_path / "classes/train/dark").iterdir():
        path.unlink()
    assert faults_of(class_splits(spec)) == "1 fault in the data: the class dark has no training images"


def test_label_maps_fit_their_images_and_classes():
    wrong_size, no_class = np.zeros((4, 5), np.int32), np.full((4, 6), 2, np.int32)
    found = faults_of(maps(wrong_size, no_class, np.full((4, 6), -1, np.int32)))
    assert "example 0: the label map is (4, 5), the image (4, 6)" in found
    assert "example 1: the label 2 is not one of 2 classes" in found
    assert found.startswith("2 faults")


def test_a_label_map_of_another_size_is_named(tmp_path):
    spec = DRAWN["segmentation"](tmp_path)
    splits = label_map_splits(spec)
    path = next(p for p in sorted(tmp_path.rglob("*.png")) if "label" in str(p.parent) or "annot" in str(p.parent))
    Image.fromarray(np.zeros((3, 3), np.uint8)).save(path)
    assert path.name in faults_of(splits)


def test_many_faults_are_counted():
    bad = [np.full((4, 6), 9, np.int32)] * 8
    assert faults_of(maps(*bad)).endswith("; and 3 more")


def test_more_images_than_fit_in_the_time_are_not_all_read():
    steps = []
    data = maps(*[np.zeros((4, 6), np.int32)] * 9)
    check_examples(data, seconds=2.5, clock=itertools.count().__next__, step=lambda: steps.append(1))
    assert len(steps) == 3
