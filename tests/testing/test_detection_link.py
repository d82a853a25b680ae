"""A stranger's detector that keeps the rules passes, and one that breaks a rule is told which."""

import numpy as np
import pytest

import cvzoo
import cvzoo.links as L
from cvzoo.testing import assert_is_detection_link


class Bright:
    """Boxes whose second score is the image's brightness: no link, no base class."""

    def predict(self, imgs):
        found = [self.find(np.asarray(img)) for img in imgs]
        return tuple(map(list, zip(*found))) if found else ([], [], [])

    def find(self, img):
        height, width = img.shape[1:]
        bbox = np.array([[0, 0, height, width], [0, 0, height / 2, width]], np.float32)
        return bbox, np.array([0, 1], np.int32), np.array([0.9, img.mean() / 512], np.float32)


class OfItsBatch(Bright):
    def predict(self, imgs):
        bboxes, labels, scores = super().predict(imgs)
        return bboxes, labels, [score / len(bboxes) for score in scores]


class Forgetful(Bright):
    calls = 0

    def find(self, img):
        self.calls += 1
        bbox, label, score = super().find(img)
        return bbox * np.float32(1 + self.calls / 1000), label, score


class Scribbling(Bright):
    def find(self, img):
        found = super().find(img)
        img[0, 0, 0] = 77.5
        return found


class InXY(Bright):
    def find(self, img):
        bbox, label, score = super().find(img)
        return bbox[:, [3, 2, 1, 0]], label, score


class WorstFirst(Bright):
    def find(self, img):
        return tuple(each[::-1] for each in super().find(img))


class Doubles(Bright):
    def find(self, img):
        bbox, label, score = super().find(img)
        return bbox.astype(float), label, score


class WithBackground(Bright):
    def find(self, img):
        bbox, label, score = super().find(img)
        return bbox, label + np.int32(1), score


class NeedsAnImage(Bright):
    def predict(self, imgs):
        return tuple(map(list, zip(*[self.find(img) for img in imgs])))


class Outside(Bright):
    def find(self, img):
        bbox, label, score = super().find(img)
        return bbox + np.float32(500), label, score


class OneList(Bright):
    def predict(self, imgs):
        return super().predict(imgs)[0]


class Failing(Bright):
    def find(self, img):
        raise KeyError("anchor")


def test_any_object_with_a_sound_predict_passes():
    assert_is_detection_link(Bright(), 2)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (OfItsBatch, "does not depend on the other images"),
        (Forgetful, "bitwise equal"),
        (Scribbling, "changes no image"),
        (InXY, "a box is empty"),
        (WorstFirst, "descending order"),
        (Doubles, "(R, 4) float32"),
        (WithBackground, "a label"),
        (NeedsAnImage, "bboxes, labels, scores"),
        (Outside, "outside of the image"),
        (OneList, "bboxes, labels, scores"),
        (Failing, "KeyError: 'anchor'"),
    ],
)
def test_who_breaks_a_rule_is_told_which(broken, words):
    with pytest.raises(AssertionError) as caught:
        assert_is_detection_link(broken(), 2)
    assert words in str(caught.value)
    assert str(caught.value).startswith(broken.__name__)


class OwnDetector(L.AbstractDetector):
    """A link of a user: one convolution whose means are the scores of two boxes."""

    preparation = L.Stretch((16, 16), std=(255.0, 255.0, 255.0))
    n_fg_class = 2
    label_names = ("cat", "dog")

    def __init__(self, per_batch=1.0):
        super().__init__()
        self.per_batch = per_batch
        with self.init_scope():
            self.conv = L.Convolution2D(3, 2, 3, pad=1)

    def find(self, x, sizes):
        found = []
        for y, (height, width) in zip(self.conv(x).array, sizes):
            bbox = np.array([[0, 0, height * 0.5, width], [height * 0.5, 0, height, width]], np.float32)
            score = 1 / (1 + np.exp(-y.copy("C").mean((1, 2)) * self.per_batch ** len(x)))
            kept = score > self.score_thresh
            found.append((bbox[kept], np.arange(2, dtype=np.int32)[kept], score.astype(np.float32)[kept]))
        return found


def test_a_link_of_ones_own_passes_or_is_told():
    cvzoo.set_seed(0)
    assert_is_detection_link(OwnDetector(), 2)
    with pytest.raises(AssertionError, match=r"not depend on the (batch size|other images)"):
        assert_is_detection_link(OwnDetector(per_batch=0.5), 2)
    with pytest.raises(AssertionError, match="a label"):
        assert_is_detection_link(OwnDetector(), 1)


def test_thresholds_are_what_they_were():
    model = OwnDetector()
    model.score_thresh, model.limit = 0.37, 9
    assert_is_detection_link(model, 2)
    assert (model.score_thresh, model.limit) == (0.37, 9)


def test_a_link_that_shares_its_parameters_with_its_copy_is_told():
    class Shared(OwnDetector):
        def copy(self, mode="share"):
            return self

    with pytest.raises(AssertionError, match="A copy predicts the same"):
        assert_is_detection_link(Shared(), 2)


def test_a_link_that_changes_its_parameters_is_told():
    class Drifting(OwnDetector):
        def find(self, x, sizes):
            found = super().find(x, sizes)
            self.conv.b.array[0] += 1e-9
            return found

    with pytest.raises(AssertionError, match="changes no parameter"):
        assert_is_detection_link(Drifting(), 2)


def test_a_link_that_was_trained_keeps_its_gradients_and_passes():
    model = OwnDetector()
    for parameter in model.params():
        parameter.grad = np.ones_like(parameter.array)
    assert_is_detection_link(model, 2)
