"""Two-stage detectors find what torchvision's find, from the same numbers.

torchvision.json: the best boxes, and what belongs to them, of torchvision 0.29.2 with the weights and photos of
seeded_weights.py; frozen normalizations have an eps of 0 (ResNet) or 1e-5 (MobileNet). Of the MobileNets the weights
and biases of rpn.head.cls_logits, rpn.head.bbox_pred and roi_heads.box_head.fc6 are divided by 100, since seeded
numbers grow from layer to layer.
"""

import json
import pathlib

import numpy as np
import pytest
from by_our_names import by_our_names

from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import (
    FasterRCNNFPNMobileNetV3Large,
    FasterRCNNFPNMobileNetV3Large320,
    FasterRCNNFPNResNet50,
)
from cvzoo.links.model.faster_rcnn_fpn.names import NAMES
from cvzoo.links.model.faster_rcnn_fpn.region_network import to_image_pixels
from cvzoo.links.model.faster_rcnn_fpn.weights import RESNET50_FPN, RESNET50_FPN_V2
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPNResNet50
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPNResNet50
from cvzoo.links.model.mask_rcnn.paste_mask import paste_window

FOUND = json.loads(pathlib.Path(__file__).with_name("torchvision.json").read_text())
FROZEN = "(COCO_V1 config: FrozenBN eps=0)"
SHRUNK = ("rpn.head.cls_logits", "rpn.head.bbox_pred", "roi_heads.box_head.fc6")


def seeded(seeds, shared, name, model):
    """The model with torchvision's seeded numbers, and thresholds for evaluation."""
    arrays = seeds.seeded_network(shared, name)
    if "mobilenet" in name:
        arrays = {k: v * np.float32(0.01) if k.startswith(SHRUNK) else v for k, v in arrays.items()}
    assert model.load_arrays(by_our_names(arrays, NAMES, model.n_fg_class)).is_clean
    model.use_preset("evaluate")
    return model


def assert_map(h, want):
    h = h.array
    assert list(h.shape) == want["shape"]
    spread = want["std"]
    np.testing.assert_allclose(h.mean(dtype=np.float64), want["mean"], atol=1e-5 * spread)
    np.testing.assert_allclose(h.std(dtype=np.float64, ddof=1), want["std"], rtol=1e-5)
    np.testing.assert_allclose([h.min(), h.max()], [want["min"], want["max"]], atol=1e-4 * spread)


def pasted(model, maps, x, want):
    """(R, 1, H, W) float32: the probabilities of the instances' pixels, as torchvision gives them."""
    seen, size = tuple(want["image_size"]), want["input"][1:]
    head, roi_size = model.mask_head.probabilities, model.mask_settings.roi_size
    outputs = model.regions.third_stage(maps, x.shape[2:], [seen], thresholds=model, roi_size=roi_size, head=head)
    ((bbox, _, _), probs) = outputs[0]
    out = np.zeros((len(bbox), 1, *size), np.float32)
    for r, (prob, bb) in enumerate(zip(probs, to_image_pixels(bbox, seen, size))):
        window, (top, left) = paste_window(prob, bb, size)
        out[r, 0, top : top + window.shape[0], left : left + window.shape[1]] = window
    return out


def xyxy(bbox):
    return bbox[:, [1, 0, 3, 2]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make", "settings"),
    [
        ("fasterrcnn_resnet50_fpn", FasterRCNNFPNResNet50, RESNET50_FPN),
        ("fasterrcnn_resnet50_fpn_v2", FasterRCNNFPNResNet50, RESNET50_FPN_V2),
        ("maskrcnn_resnet50_fpn", MaskRCNNFPNResNet50, RESNET50_FPN),
    ],
)
def test_maps_proposals_and_boxes_equal_the_golden_ones(shared, seeds, name, make, settings):
    want = seeds.golden(shared, "detection", name if name.endswith("v2") else name + FROZEN)
    model = seeded(seeds, shared, name, make(90, settings=settings))
    img = 255 * seeds.seeded_photo(*want["input"])
    x = model.prepare(img)[None]
    network = model.regions
    with using_config("train", False), no_backprop_mode():
        maps = model(x)
        for h, each in zip(maps, want["feats"].values(), strict=True):
            assert_map(h, each)
        locs, confs = network.rpn(maps)
        for loc, conf, h, deltas, logits in zip(locs, confs, maps, want["rpn_deltas"], want["rpn_logits"], strict=True):
            offsets = loc.array.reshape(1, *h.shape[2:], 12).transpose(0, 3, 1, 2)
            assert_map(Variable(offsets), deltas)
            assert_map(Variable(conf.array.reshape(1, *h.shape[2:], 3).transpose(0, 3, 1, 2)), logits)
        (bbox,) = network.proposals(
            [loc.array for loc in locs], [conf.array for conf in confs], x.shape[2:], [tuple(want["image_size"])]
        )
        if "top5_masks" in want:
            assert_map(Variable(pasted(model, maps, x, want)), want["top5_masks"])
    assert len(bbox) == want["n_proposals"]
    np.testing.assert_allclose(xyxy(bbox[:3]), want["proposals_first3"], atol=0.01)
    result = model.predict([img])
    assert len(result.labels[0]) == want["n_det"]
    np.testing.assert_allclose(xyxy(result.bboxes[0][:5]), want["top5_boxes"], atol=0.01)
    np.testing.assert_array_equal(result.labels[0][:5] + 1, want["top5_labels"])
    np.testing.assert_allclose(result.scores[0][:5], want["top5_scores"], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make", "n_fg_class", "settings"),
    [
        ("fasterrcnn_mobilenet_v3_large_fpn", FasterRCNNFPNMobileNetV3Large, 90, None),
        ("fasterrcnn_mobilenet_v3_large_320_fpn", FasterRCNNFPNMobileNetV3Large320, 90, None),
        ("maskrcnn_resnet50_fpn_v2", MaskRCNNFPNResNet50, 90, RESNET50_FPN_V2),
        ("keypointrcnn_resnet50_fpn", KeypointRCNNFPNResNet50, 1, RESNET50_FPN),
    ],
)
def test_what_is_found_equals_the_stored_numbers(shared, seeds, name, make, n_fg_class, settings):
    want = FOUND[name]
    model = seeded(seeds, shared, name, make(n_fg_class, settings=settings))
    result = model.predict([255 * seeds.seeded_photo(*want["input"])])
    n = len(want["boxes"])
    assert len(result.labels[0]) == want["n"]
    np.testing.assert_allclose(xyxy(result.bboxes[0][:n]), want["boxes"], atol=0.01)
    np.testing.assert_array_equal(result.labels[0][:n] + 1, want["labels"])
    np.testing.assert_allclose(result.scores[0][:n], want["scores"], atol=1e-5)
    if "mask_areas" in want:
        np.testing.assert_array_equal(result.masks[0].area()[:n], want["mask_areas"])
    if "keypoints" in want:
        np.testing.assert_allclose(result.points[0][:n, :, ::-1], np.array(want["keypoints"])[..., :2], atol=0.01)
        np.testing.assert_allclose(result.point_scores[0][:n], want["keypoint_scores"], rtol=1e-4)
