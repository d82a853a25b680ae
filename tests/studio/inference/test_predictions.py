"""Predictions as JSON, of each task, by models whose predictions can be said in advance."""

import json

import numpy as np
import pytest

from cvzoo.config import set_seed
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.decoding.abstract import Found
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter, FoundInstances
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector, FoundPoints
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.links.model.thresholds import ClassPreset
from cvzoo.studio.inference.predictions import facts_of, predicted, runs_of

IMG = np.zeros((3, 40, 60), np.float32)
IMG[:, 5:15, 10:30] = 200
IMG[:, 5:15, 31:60] = 100
IMG[:, 0:3, 0:3] = 20  # an object of a low score


def objects(x):
    """Masks, boxes, labels and scores: each color of the red channel is an object."""
    colors = [color for color in np.unique(x[0])[::-1] if color > 0]
    masks = np.array([x[0] == color for color in colors])
    bbox = RLEs.from_masks(masks).to_bbox().astype(np.float32)
    return masks, bbox, np.arange(len(colors), dtype=np.int32) % 2, np.array([c / 256 for c in colors], np.float32)


class Boxes(AbstractDetector):
    label_names = ("block", "beam")

    def prepare(self, img):
        return img

    def find(self, x, sizes):
        found = []
        for each in x:
            _, bbox, label, score = objects(each)
            found.append(Found(np.concatenate([bbox, bbox[:1] + 1]), np.append(label, 0), np.append(score, 0.5)))
        return found


class Masks(AbstractInstanceSegmenter):
    label_names = ("block", "beam")

    def prepare(self, img):
        return img

    def find_instances(self, x, sizes):
        return [FoundInstances(RLEs.from_masks(masks), *rest) for masks, *rest in map(objects, x)]


class Points(AbstractKeypointDetector):
    label_names = ("block", "beam")
    point_names = ("corner",)

    def prepare(self, img):
        return img

    def find_points(self, x, sizes):
        found = []
        for each in x:
            _, bbox, label, score = objects(each)
            found.append(FoundPoints(bbox[:, None, :2], bbox, label, score, np.ones((len(bbox), 1))))
        return found


def as_it_travels(tree):
    return json.loads(json.dumps(tree, allow_nan=False))


def test_classes_are_the_most_probable_first():
    set_seed(0)
    model = CIFARResNet(20, label_names=("cat", "dog", "fox"))
    tree = as_it_travels(predicted(model, IMG, None))
    assert tree["task"] == "classification"
    scores = [each["score"] for each in tree["classes"]]
    assert scores == sorted(scores, reverse=True)
    assert sum(scores) == pytest.approx(1)
    facts = as_it_travels(facts_of(model))
    assert (facts["task"], facts["label_names"], facts["thresholds"]) == ("classification", ["cat", "dog", "fox"], None)


def test_a_label_map_is_runs_of_its_rows():
    set_seed(0)
    model = SegNetBasic(3, label_names=("sky", "road", "car"))
    tree = as_it_travels(predicted(model, IMG, None))
    expected = model.predict([IMG])[0]
    assert np.repeat(tree["runs"][::2], tree["runs"][1::2]).reshape(40, 60).tolist() == expected.tolist()
    assert sum(each["share"] for each in tree["classes"]) == pytest.approx(1)
    assert runs_of(np.array([[1, 1], [1, -1]])) == [1, 3, -1, 1]


def test_objects_come_from_a_low_score_on_and_the_model_is_left_as_it_was():
    model = Boxes()
    before = model.nms_thresh, model.score_thresh, model.limit
    tree = as_it_travels(predicted(model, IMG, None))
    assert (model.nms_thresh, model.score_thresh, model.limit) == before
    first, second, third = tree["objects"]
    assert (first["name"], first["label"], first["score"]) == ("block", 0, pytest.approx(200 / 256))
    assert [first[side] for side in ("y_min", "x_min", "y_max", "x_max")] == [5, 10, 15, 30]
    assert (second["name"], third["score"]) == ("beam", pytest.approx(20 / 256))  # below the model's threshold


def test_the_overlap_of_nms_is_the_page_s():
    assert len(predicted(Boxes(), IMG, 0.99)["objects"]) == 4
    assert len(predicted(Boxes(), IMG, 0.5)["objects"]) == 3


def test_thresholds_of_classes_are_facts():
    model = Boxes()
    model.add_preset("deploy", ClassPreset(0.45, 0.2, (0.2, 0.4)))
    presets = as_it_travels(facts_of(model))["thresholds"]["presets"]
    assert presets["deploy"] == {"nms": 0.45, "score": 0.2, "classes": [0.2, 0.4]}
    assert presets["visualize"]["classes"] is None


def test_masks_are_lengths_of_runs_that_begin_outside():
    tree = as_it_travels(predicted(Masks(), IMG, None))
    found = [RLEs.from_counts([each["mask"]], [(40, 60)]).to_masks()[0] for each in tree["objects"]]
    assert [mask.tolist() for mask in found] == objects(IMG)[0].tolist()
    assert tree["task"] == "instance segmentation"


def test_keypoints_are_y_and_x():
    tree = as_it_travels(predicted(Points(), IMG, None))
    assert [each["points"] for each in tree["objects"]] == [[[5, 10]], [[5, 31]], [[0, 0]]]
