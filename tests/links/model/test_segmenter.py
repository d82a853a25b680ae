"""The views of a photo, and the loss of segmenters."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.class_maps import ClassMap, EnlargedScores, mean_of_views
from cvzoo.links.model.pixelwise_softmax_classifier import PixelwiseSoftmaxClassifier
from cvzoo.links.model.pspnet.pspnet import cover_with_tiles
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.reporting.reporter import Reporter


class Shades(AbstractImageSegmenter):
    """The scores of the classes are weighted colours, at half the size; the auxiliary ones those times two."""

    def __init__(self, n_class=3, aux=False):
        self.n_class = n_class
        self.has_aux = aux
        with self.init_scope():
            self.conv = Convolution2D(3, n_class, 1, initialW=np.eye(n_class, 3, dtype=np.float32)[:, :, None, None])

    def prepare(self, img):
        return img / np.float32(255)

    def training_scores(self, x):
        scores = self.conv(F.average_pooling_2d(x, 2, 2))
        return (scores, scores * 2) if self.has_aux else (scores,)

    def coarse_scores(self, x):
        return self.training_scores(x)[0]


def _colors(*names):
    table = {"r": (255, 0, 0), "g": (0, 255, 0), "b": (0, 0, 255)}
    rows = [[np.full((8, 8), value, np.float32) for value in table[name]] for name in names]
    return np.concatenate(rows, axis=2)  # (3, 8, 8 n)


@pytest.mark.parametrize(
    "settings", [{}, {"flip": True}, {"scales": (0.5, 1.0, 2.0)}, {"scales": (2.0,), "flip": True}]
)
def test_a_photo_s_colours_are_found_where_they_are_in_every_view(settings):
    model = Shades()
    for name, value in settings.items():
        setattr(model, name, value)
    img = _colors("g", "b", "r")
    labels = model.predict([img, img[:, :6]])
    for label, height in zip(labels, (8, 6)):
        assert label.shape == (height, 24)
        np.testing.assert_array_equal(label[:, 2:-2:8], np.broadcast_to([1, 2, 0], (height, 3)))


def test_the_mean_of_views_is_that_of_their_probabilities():
    rng = np.random.default_rng(0)
    x = rng.random((2, 3, 6, 8), dtype=np.float32)
    calls = []

    def probs_of(view):
        calls.append(view.shape[2:])
        return view

    same = mean_of_views(x, probs_of, scales=(1.0,), flip=True)
    np.testing.assert_allclose(same, x, rtol=1e-6)
    mean_of_views(x, probs_of, scales=(0.5, 1.6), flip=False)
    assert calls == [(6, 8), (6, 8), (3, 4), (9, 12)]
    for scales in ((), (0.0,), (-1.0,)):
        with pytest.raises(ValueRangeError):
            mean_of_views(x, probs_of, scales=scales, flip=False)


def test_a_class_map_takes_the_lower_number_of_equals():
    values = np.zeros((3, 1, 2), np.float32)
    values[2, 0, 1] = 1
    one = ClassMap(values, False)
    np.testing.assert_array_equal(one.label(), [[0, 2]])
    np.testing.assert_allclose(one.probs()[:, 0, 0], 1 / 3, rtol=1e-6)
    assert ClassMap(values, True).probs() is values


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("sizes", [[(31, 45)], [(31, 45), (23, 60)], [(5, 7), (1, 1)], [(700, 900)]])
def test_enlarged_scores_are_those_of_resizing_step_by_step(sizes, align_corners):
    coarse = np.random.default_rng(3).standard_normal((4, 5, 7)).astype(np.float32)
    values = coarse[None]
    for size in sizes:
        values = F.resize_images(values, size, align_corners=align_corners).array
    one = EnlargedScores(coarse, sizes, align_corners=align_corners)
    np.testing.assert_allclose(one.values, values[0], atol=1e-5)
    np.testing.assert_array_equal(one.label(), one.values.argmax(axis=0))
    np.testing.assert_allclose(one.probs(), ClassMap(values[0], False).probs(), atol=1e-5)


def test_the_loss_is_the_cross_entropy_of_the_pixels_that_count():
    x = np.random.default_rng(1).random((2, 3, 8, 8), dtype=np.float32)
    t = np.random.default_rng(2).integers(-1, 3, (2, 8, 8)).astype(np.int32)
    weight = (1.0, 2.0, 0.5)
    model = Shades()
    scores = F.resize_images(model.training_scores(x)[0], (8, 8), align_corners=False).array
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    known = t >= 0
    picked = -np.take_along_axis(log_p, np.where(known, t, 0)[:, None], axis=1)[:, 0]
    want = (picked * np.array(weight)[np.where(known, t, 0)])[known].mean()
    loss = PixelwiseSoftmaxClassifier(model, class_weight=weight)
    assert float(loss(x, t).array) == pytest.approx(want, rel=1e-5)
    ignoring_class_1 = PixelwiseSoftmaxClassifier(model, ignore_label=1)
    assert np.isfinite(ignoring_class_1(x, np.maximum(t, 0)).array)


def test_auxiliary_heads_count_as_much_as_is_said_and_are_reported():
    x = np.random.default_rng(1).random((1, 3, 8, 8), dtype=np.float32)
    t = np.zeros((1, 8, 8), np.int32)
    loss = PixelwiseSoftmaxClassifier(Shades(aux=True), aux_weight=0.25)
    reporter = Reporter()
    reporter.add_observer("main", loss)
    with reporter:
        value = loss(x, t)
    seen = {name.removeprefix("main/"): float(v) for name, v in reporter.observation.items()}
    assert seen["loss"] == pytest.approx(seen["loss/main"] + 0.25 * seen["loss/aux"])
    assert float(value.array) == pytest.approx(seen["loss"])
    assert seen["loss/aux"] != seen["loss/main"]


def test_any_link_that_gives_scores_learns_as_a_segmenter_does():
    x, t = np.random.default_rng(0).random((2, 3, 4, 4), dtype=np.float32), np.zeros((2, 8, 8), np.int32)
    conv = Convolution2D(3, 3, 1, initialW=np.eye(3, dtype=np.float32)[:, :, None, None])
    loss = PixelwiseSoftmaxClassifier(conv, class_weight=(1, 2, 3))
    scores = F.resize_images(conv(x), (8, 8), align_corners=False)
    want = F.softmax_cross_entropy(scores, t, class_weight=np.array([1, 2, 3], np.float32))
    assert float(loss(x, t).array) == pytest.approx(float(want.array))


def test_settings_of_the_loss_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="class_weight"):
        PixelwiseSoftmaxClassifier(Shades(), class_weight=(1, 2))
    with pytest.raises(ValueRangeError, match="aux_weight"):
        PixelwiseSoftmaxClassifier(Shades(), aux_weight=-1)


@pytest.mark.parametrize(
    ("size", "window", "stride", "n"),
    [
        ((80, 100), (65, 65), (44, 44), 4),
        ((1024, 2048), (713, 713), (476, 476), 2 * 4),
        ((30, 200), (65, 65), (44, 44), 5),  # smaller than a window on one side
        ((1, 1), (65, 65), (44, 44), 1),
        ((65, 65), (65, 65), (44, 44), 1),
    ],
)
def test_tiles_cover_a_photo_and_say_where_they_lie(size, window, stride, n):
    tiles = cover_with_tiles(size, window, stride)
    assert len(tiles) == n
    photo = np.arange(1, size[0] * size[1] + 1).reshape(size)
    again = np.zeros(size, int)
    for tile in tiles:
        part = np.zeros(window, int)
        part[tile.window] = photo[tile.image]
        assert (again[tile.image] == 0).any() or n > 1
        again[tile.image] = part[tile.window]
    np.testing.assert_array_equal(again, photo)
