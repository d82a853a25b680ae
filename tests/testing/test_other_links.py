"""Strangers of the other tasks pass or are told what is wrong, and no assertion needs pytest."""

import subprocess
import sys

import numpy as np
import pytest

import cvzoo
from cvzoo import testing


class Classifier:
    """Probabilities of the mean of each channel."""

    def predict(self, imgs):
        means = np.array([np.asarray(img).mean((1, 2)) for img in imgs], np.float32).reshape(-1, 3)
        return self.finish(np.exp(means / 255))

    def finish(self, e):
        return e / e.sum(1, keepdims=True)


class Unnormalized(Classifier):
    def finish(self, e):
        return e


class Blind(Classifier):
    def finish(self, e):
        return np.full_like(e, 1 / 3)


class Segmenter:
    """The brightest channel of each pixel."""

    def predict(self, imgs):
        return [self.finish(np.asarray(img).argmax(0).astype(np.int32)) for img in imgs]

    def finish(self, label):
        return label


class Transposed(Segmenter):
    def finish(self, label):
        return label.T.copy()


class Instances:
    """One mask: what is brighter than the mean."""

    def predict(self, imgs):
        masks = [self.finish(np.asarray(img)[:1] > np.asarray(img).mean()) for img in imgs]
        n = len(masks)
        return masks, [np.zeros(1, np.int32)] * n, [np.ones(1, np.float32)] * n

    def finish(self, mask):
        return mask


class IntegerMasks(Instances):
    def finish(self, mask):
        return mask.astype(np.int32)


class Points:
    """One object whose four points are the image's corners."""

    def predict(self, imgs):
        sizes = [np.asarray(img).shape[1:] for img in imgs]
        points = [self.finish(np.array([[(0, 0), (0, w), (h, 0), (h, w)]], np.float32)) for h, w in sizes]
        n = len(points)
        return points, [np.zeros(1, np.int32)] * n, [np.ones(1, np.float32)] * n

    def finish(self, point):
        return point


class NaNPoints(Points):
    def finish(self, point):
        return point * np.float32(np.nan)


SOUND = {
    "classification": (Classifier(), (3,)),
    "semantic_segmentation": (Segmenter(), (3,)),
    "instance_segmentation": (Instances(), (1,)),
    "point": (Points(), (1, 4)),
}
BROKEN = [
    ("classification", Unnormalized(), (3,), "sums of 1"),
    ("classification", Blind(), (3,), "the same probabilities"),
    ("classification", Classifier(), (4,), "probabilities"),
    ("semantic_segmentation", Transposed(), (3,), "label map"),
    ("semantic_segmentation", Segmenter(), (2,), "labels"),
    ("instance_segmentation", IntegerMasks(), (1,), "bool"),
    ("point", NaNPoints(), (1,), "not finite"),
    ("point", Points(), (1, 5), "point"),
]


@pytest.mark.parametrize("task", SOUND)
def test_a_sound_stranger_passes(task):
    link, numbers = SOUND[task]
    getattr(testing, f"assert_is_{task}_link")(link, *numbers)


@pytest.mark.parametrize(("task", "link", "numbers", "words"), BROKEN, ids=[f"{b[0]}-{b[3]}" for b in BROKEN])
def test_who_breaks_a_rule_is_told_which(task, link, numbers, words):
    with pytest.raises(AssertionError, match=words) as caught:
        getattr(testing, f"assert_is_{task}_link")(link, *numbers)
    assert type(link).__name__ in str(caught.value)


def test_assertions_about_data_sets_stand_beside_them():
    assert testing.assert_is_bbox_dataset is cvzoo.datasets.assert_is_bbox_dataset


def test_nothing_needs_pytest():
    program = """
import sys
sys.modules["pytest"] = None
from cvzoo import testing
print([getattr(testing, name) for name in testing.__all__])
"""
    subprocess.run([sys.executable, "-c", program], check=True)
