"""Comparing what models make of photos."""

import functools
import hashlib
import math

import numpy as np
import pytest

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.espnet.espnet import ESPNet
from cvzoo.links.model.instance_segmentations import InstanceSegmentations
from cvzoo.links.model.keypoint_detections import KeypointDetections
from cvzoo.links.model.raw_outputs import (
    greatest_difference,
    named_results,
    raw_outputs,
    same_bits,
    seeded_page,
    seeded_photo,
)
from cvzoo.links.model.retinanet.text import retinanet_text

BBOX, LABEL, SCORE = np.ones((2, 4), "f4"), np.zeros(2, "i4"), np.ones(2, "f4")


def digest(img):
    assert img.dtype == np.float32
    assert (img == np.round(img)).all()
    assert img.min() >= 0
    assert img.max() <= 255
    return hashlib.sha256(img.astype("u1").tobytes()).hexdigest()[:16]


def test_the_drawn_pictures_are_the_same_everywhere():
    assert seeded_photo().shape == (3, 240, 320)
    assert seeded_page((50, 40)).shape == (3, 50, 40)
    assert (digest(seeded_photo()), digest(seeded_page())) == ("20e0de262dde7780", "6c5b2389eb51c7cf")
    assert digest(seeded_photo(seed=1)) != digest(seeded_photo())


def test_every_kind_of_result_has_names():
    mask = RLEs.from_masks(np.ones((2, 3, 4), bool))
    assert list(named_results(Detections([BBOX], [LABEL], [SCORE]))[0]) == ["bbox", "label", "score"]
    (found,) = named_results(InstanceSegmentations([mask], [LABEL], [SCORE], bboxes=[BBOX]))
    assert list(found) == ["bbox", "label", "score", "mask"]
    points = np.zeros((2, 5, 2), "f4")
    (found,) = named_results(
        KeypointDetections([points], [LABEL], [SCORE], bboxes=[BBOX], point_scores=[points[:, :, 0]])
    )
    assert found["point"] is points
    assert list(named_results(CIFARResNet(8, 4).predict([seeded_photo((30, 30))]))[0]) == ["probs"]
    with pytest.raises(UnsupportedError):
        named_results([1, 2])


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (functools.partial(CIFARResNet, 8, 4), {"scores": (1, 4)}),
        (functools.partial(ESPNet, 5), {"probs": (5, 60, 90)}),
    ],
)
def test_the_heads_of_a_network(make, shapes):
    found = raw_outputs(make(), seeded_photo((60, 90)))
    assert {name: array.shape for name, array in found.items()} == shapes


def test_the_heads_of_a_detector_are_before_the_thresholds():
    found = raw_outputs(retinanet_text(), seeded_page((64, 64)))
    assert list(found) == ["head 0", "head 1"]
    assert len(found["head 0"]) == 1


def test_the_greatest_difference_is_relative_to_large_numbers_only():
    assert greatest_difference({"x": np.array([1.0, 2])}, {"x": np.array([1.0, 2])}) == 0
    assert greatest_difference({"x": np.array([0.1])}, {"x": np.array([0.3])}) == pytest.approx(0.2)
    assert greatest_difference({"x": np.array([100.0, 0])}, {"x": np.array([101.0, 0])}) == pytest.approx(0.01)
    assert greatest_difference({"x": np.zeros(2)}, {"x": np.zeros(3)}) == math.inf
    assert greatest_difference({"x": np.zeros(2)}, {"y": np.zeros(2)}) == math.inf
    assert greatest_difference({"x": np.zeros((0, 4))}, {"x": np.zeros((0, 4))}) == 0


def test_infinities_and_no_numbers_differ_only_from_others():
    odd = np.array([np.inf, -np.inf, np.nan])
    assert greatest_difference({"x": odd}, {"x": odd.copy()}) == 0
    assert same_bits([{"x": odd}], [{"x": odd.copy()}])
    assert greatest_difference({"x": odd}, {"x": odd[::-1]}) == math.inf
    assert not same_bits([{"x": odd}], [{"x": odd[::-1]}])


def test_the_same_bits_are_of_as_many_photos_and_the_same_names():
    one = [{"x": np.zeros(2)}]
    assert same_bits(one, one)
    assert not same_bits(one, one * 2)
    assert not same_bits(one, [{"y": np.zeros(2)}])
    assert not same_bits(one, [{"x": np.full(2, 1e-30)}])
