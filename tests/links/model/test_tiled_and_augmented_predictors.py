"""Sliced inference and test-time augmentation, by models whose predictions can be said in advance."""

import itertools

import numpy as np
import pytest

from cvzoo.errors import UnsupportedError, ValueRangeError
from cvzoo.geometry import RLEs
from cvzoo.links import AugmentedPredictor, TiledPredictor
from cvzoo.links.link import Link
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.instance_views import Instances
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector, FoundPoints
from cvzoo.links.model.segmenter import AbstractPhotoSegmenter
from cvzoo.links.model.tiled_predictor import merged_cut_boxes

EYES = ("left_eye", "right_eye", "nose")


def _objects(x):
    """Masks (R, H, W), boxes and scores of an input: each color of the red channel is an object."""
    colors = [color for color in np.unique(x[0])[::-1] if color > 0]
    masks = np.array([x[0] == color for color in colors], bool).reshape(-1, *x.shape[1:])
    bbox = RLEs.from_masks(masks).to_bbox().reshape(-1, 4).astype(np.float32)
    return masks, bbox, np.zeros(len(colors), np.int32), np.array([0.5 + c / 512 for c in colors], np.float32)


class _AsItIs:
    label_names = ("block",)

    def prepare(self, img):
        return np.where(img == 124, 0, img)  # a larger frame is background


class Boxes(_AsItIs, AbstractDetector):
    def find(self, x, sizes):
        return [Found(*_objects(each)[1:]) for each in x]


class Masks(_AsItIs, AbstractInstanceSegmenter):
    def find_instances(self, x, sizes):
        return [FoundInstances(RLEs.from_masks(masks), *rest) for masks, *rest in map(_objects, x)]


class Points(_AsItIs, AbstractKeypointDetector):
    """The left eye is in the box's last pixel of the first row, the right in the first, the nose in the middle."""

    point_names = EYES

    def find_points(self, x, sizes):
        found = []
        for each in x:
            _, bbox, label, score = _objects(each)
            y_min, x_min, _, x_max = bbox.T
            point = np.stack([(y_min, x_max), (y_min, x_min), (y_min, (x_min + x_max) / 2)], axis=1).T
            found.append(
                FoundPoints(point.transpose(0, 1, 2), bbox, label, score, np.tile([3.0, 2, 1], (len(bbox), 1)))
            )
        return found


class Classes(_AsItIs, AbstractClassifier):
    """Logits: the means of the left half and of the whole."""

    label_names = ("left", "all")
    n_class = 2

    def stages(self, x):
        yield "logits", np.stack([x[..., : x.shape[3] // 2].mean((1, 2, 3)), x.mean((1, 2, 3))], axis=1)


class Pixels(_AsItIs, AbstractPhotoSegmenter):
    """A pixel's class is its red value."""

    n_class = 5

    def coarse_scores(self, x):
        return (x[:, :1] == np.arange(5, dtype=np.float32).reshape(1, 5, 1, 1)).astype(np.float32) * 9

    training_scores = coarse_scores


def _photo(*blocks, size=(100, 160)):
    img = np.zeros((3, *size), np.uint8)
    for color, (y_min, x_min, y_max, x_max) in enumerate(blocks, 1):
        img[:, y_min:y_max, x_min:x_max] = color
    return img


BLOCKS = ((5, 6, 15, 20), (40, 44, 70, 90), (80, 120, 95, 155), (0, 100, 30, 118))


@pytest.mark.parametrize("model", [Boxes(), Masks(), Points()])
@pytest.mark.parametrize("overlap", [0.2, 0.5])
@pytest.mark.parametrize("whole", [True, False])
def test_tiles_find_what_the_whole_image_shows_once_each_object(model, overlap, whole):
    img = _photo(*BLOCKS)
    want = model.predict([img])
    found = TiledPredictor(model, 64, overlap=overlap, whole=whole).predict([img, img])
    assert type(found) is type(want)
    assert found.n_photo == 2
    assert found.label_names == ("block",)
    np.testing.assert_array_equal(found.bboxes[1], want.bboxes[0])
    np.testing.assert_array_equal(found.scores[1], want.scores[0])
    if isinstance(model, Masks):
        np.testing.assert_array_equal(found.dense(1), want.dense(0))


def test_an_object_larger_than_a_tile_is_found_in_the_whole_image():
    img = _photo((10, 10, 90, 150))
    (bbox,), _, _ = TiledPredictor(Boxes(), 40).predict([img])
    assert bbox.tolist() == [[10, 10, 90, 150]]


def test_a_small_complete_object_in_front_of_a_large_one_of_its_class_stays():
    img = _photo((10, 10, 60, 60), (20, 20, 30, 30))
    (bbox,), _, _ = TiledPredictor(Boxes(), 64).predict([img])
    assert sorted(bbox.tolist()) == [[10, 10, 60, 60], [20, 20, 30, 30]]


def test_an_image_no_larger_than_a_tile_gives_the_models_own_bits():
    img = _photo(*BLOCKS)
    np.testing.assert_array_equal(TiledPredictor(Boxes(), 200).predict([img]).bboxes, Boxes().predict([img]).bboxes)


def test_two_cut_halves_become_their_union_with_its_mask_and_the_higher_score():
    masks = np.zeros((3, 10, 30), bool)
    masks[0, 2:8, 0:16], masks[1, 2:8, 8:30], masks[2, 0:2, 0:2] = True, True, True
    bbox = RLEs.from_masks(masks).to_bbox().astype(np.float32)
    found = Instances(bbox, np.zeros(3, int), np.float32([0.6, 0.5, 0.4]), RLEs.from_masks(masks), None, None)
    merged = merged_cut_boxes(found, np.array([True, True, False]), 0.5)
    assert merged.bbox.tolist() == [[2, 0, 8, 30], [0, 0, 2, 2]]
    assert merged.score.tolist() == pytest.approx([0.6, 0.4])
    np.testing.assert_array_equal(merged.mask.to_masks()[0], masks[0] | masks[1])


def test_cut_boxes_of_different_classes_are_not_merged():
    bbox = np.float32([[2, 0, 8, 16], [2, 8, 8, 30]])
    found = Instances(bbox, np.array([0, 1]), np.float32([0.6, 0.5]), None, None, None)
    assert len(merged_cut_boxes(found, np.array([True, True]), 0.5).bbox) == 2


@pytest.mark.parametrize("overlap", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("size", [(64, 64), (65, 200), (300, 40), (127, 129)])
def test_tiles_cover_the_image_and_overlap_as_asked(size, overlap):
    tiled = TiledPredictor(Boxes(), (64, 48), overlap=overlap)
    seen = np.zeros(size, int)
    for y, x in tiled.corners(size):
        assert y + min(64, size[0]) <= size[0]
        assert x + min(48, size[1]) <= size[1]
        seen[y : y + 64, x : x + 48] += 1
    assert seen.min() >= 1
    rows = sorted({y for y, _ in tiled.corners(size)})
    assert all(a + 64 - b >= round(64 * overlap) - 1 for a, b in itertools.pairwise(rows))


def test_label_maps_of_tiles_join_to_that_of_the_image():
    rng = np.random.default_rng(0)
    img = np.repeat(rng.integers(0, 5, (1, 90, 131), np.uint8), 3, axis=0)
    want = Pixels().predict([img])
    np.testing.assert_array_equal(TiledPredictor(Pixels(), 40, overlap=0.3).predict([img])[0], want[0])


@pytest.mark.parametrize("model", [Boxes(), Masks(), Points()])
def test_views_of_an_image_merge_to_what_the_model_finds_in_it(model):
    img = _photo(*BLOCKS)
    want = model.predict([img])
    found = AugmentedPredictor(model, scales=(1.0, 0.8)).predict([img])
    np.testing.assert_allclose(found.bboxes[0], want.bboxes[0], atol=1e-4)
    np.testing.assert_allclose(found.scores[0], want.scores[0], rtol=1e-6)
    if isinstance(model, Masks):
        np.testing.assert_array_equal(found.dense(0), want.dense(0))


def test_in_a_mirror_image_left_and_right_keypoints_are_exchanged():
    class MirrorOnly(Points):
        def prepare(self, img):
            return img if img[0, 0, -1] == 9 else np.zeros_like(img)  # what has its mark at the right end

    img = _photo((40, 44, 70, 90))
    img[:, 0, 0] = 9
    found = AugmentedPredictor(MirrorOnly()).predict([img])
    row = next(i for i, box in enumerate(found.bboxes[0].tolist()) if box == [40, 44, 70, 90])
    # in the mirror the left eye is at the last pixel, which is the image's first: there the right eye is
    np.testing.assert_array_equal(found.points[0][row], [[40, 90], [40, 44], [40, 67]])
    np.testing.assert_array_equal(found.point_scores[0][row], [2, 3, 1])


def test_probabilities_of_a_classifier_are_averaged_over_mirror_images_and_central_parts():
    img = np.random.default_rng(0).uniform(0, 5, (3, 12, 16)).astype(np.float32)
    views = [img, img[:, 3:9, 4:12]]
    views += [view[:, :, ::-1] for view in views]
    want = np.mean([Classes().predict([view]).probs[0] for view in views], axis=0)
    found = AugmentedPredictor(Classes(), scales=(1.0, 2.0)).predict([img, img])
    np.testing.assert_allclose(found.probs, [want, want], rtol=1e-6)


def test_a_segmenter_uses_its_own_views_and_has_its_own_settings_afterwards():
    model = Pixels()
    img = _photo(*BLOCKS)
    np.testing.assert_array_equal(
        AugmentedPredictor(model, scales=(1.0, 2.0)).predict([img])[0], model.predict([img])[0]
    )
    assert model.scales == (1.0,)
    assert model.flip is False


@pytest.mark.parametrize("make", [lambda model: TiledPredictor(model, 50), AugmentedPredictor])
def test_images_go_through_one_by_one_and_no_image_gives_an_empty_result(make):
    img = _photo(*BLOCKS)
    each = list(make(Boxes()).predict_each(iter([img, img])))
    assert len(each) == 2
    assert all(len(result.bboxes[0]) == len(BLOCKS) for result in each)
    assert make(Boxes()).predict([]).n_photo == 0
    assert len(make(Pixels()).predict([])) == 0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: TiledPredictor(Boxes(), 0), ValueRangeError),
        (lambda: TiledPredictor(Boxes(), 64, overlap=0.95), ValueRangeError),
        (lambda: TiledPredictor(Boxes(), 64, overlap=float("nan")), ValueRangeError),
        (lambda: TiledPredictor(Boxes(), 64, merge_thresh=0), ValueRangeError),
        (lambda: TiledPredictor(Classes(), 64), UnsupportedError),
        (lambda: AugmentedPredictor(Boxes(), scales=(1.5,)), ValueRangeError),
        (lambda: AugmentedPredictor(Classes(), scales=(0.5,)), ValueRangeError),
        (lambda: AugmentedPredictor(Boxes(), scales=()), ValueRangeError),
        (lambda: AugmentedPredictor(Link()), UnsupportedError),
    ],
)
def test_what_makes_no_sense_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_keypoints_without_names_cannot_be_mirrored():
    model = Points()
    model.point_names = None
    with pytest.raises(UnsupportedError, match="left and right"):
        AugmentedPredictor(model)
    AugmentedPredictor(model, flip=False)
