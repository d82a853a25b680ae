"""Files with detectron2's names fill the network, all of it and nothing beside."""

import re

import numpy as np
import pytest

from cvzoo.config.randomness import set_seed
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.faster_rcnn_fpn.names import NAMES
from cvzoo.links.model.faster_rcnn_fpn.weights import detectron2_config
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPNResNet50
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.pretrained.names import publisher_of
from cvzoo.weights.formats.safetensors import write_safetensors

# blocks of a ResNet-50, channels that go in, in the middle, and out
STAGES = {
    "res2": (3, 64, 64, 256),
    "res3": (4, 256, 128, 512),
    "res4": (6, 512, 256, 1024),
    "res5": (3, 1024, 512, 2048),
}


def normalized(names, name, shape):
    names[f"{name}.weight"] = shape
    for leaf in ("weight", "bias", "running_mean", "running_var"):
        names[f"{name}.norm.{leaf}"] = shape[:1]


def layer(names, name, shape, n_out=None):
    names[f"{name}.weight"] = shape
    names[f"{name}.bias"] = (shape[0] if n_out is None else n_out,)


def detectron2_file(kind, n_class=80):
    """name -> shape of every array of mask_rcnn_R_50_FPN or keypoint_rcnn_R_50_FPN."""
    names = {
        "pixel_mean": (3, 1, 1),
        "pixel_std": (3, 1, 1),
        "proposal_generator.anchor_generator.cell_anchors.0": (3, 4),
    }
    normalized(names, "backbone.bottom_up.stem.conv1", (64, 3, 7, 7))
    for level, (stage, (count, n_in, mid, n_out)) in enumerate(STAGES.items(), 2):
        for i in range(count):
            block = f"backbone.bottom_up.{stage}.{i}"
            width = n_out if i else n_in
            if not i:
                normalized(names, f"{block}.shortcut", (n_out, width, 1, 1))
            normalized(names, f"{block}.conv1", (mid, width, 1, 1))
            normalized(names, f"{block}.conv2", (mid, mid, 3, 3))
            normalized(names, f"{block}.conv3", (n_out, mid, 1, 1))
        layer(names, f"backbone.fpn_lateral{level}", (256, n_out, 1, 1))
        layer(names, f"backbone.fpn_output{level}", (256, 256, 3, 3))
    layer(names, "proposal_generator.rpn_head.conv", (256, 256, 3, 3))
    layer(names, "proposal_generator.rpn_head.objectness_logits", (3, 256, 1, 1))
    layer(names, "proposal_generator.rpn_head.anchor_deltas", (12, 256, 1, 1))
    layer(names, "roi_heads.box_head.fc1", (1024, 256 * 49))
    layer(names, "roi_heads.box_head.fc2", (1024, 1024))
    layer(names, "roi_heads.box_predictor.cls_score", (n_class + 1, 1024))
    layer(names, "roi_heads.box_predictor.bbox_pred", (4 * n_class, 1024))
    if kind == "mask":
        for i in range(1, 5):
            layer(names, f"roi_heads.mask_head.mask_fcn{i}", (256, 256, 3, 3))
        layer(names, "roi_heads.mask_head.deconv", (256, 256, 2, 2))
        layer(names, "roi_heads.mask_head.predictor", (n_class, 256, 1, 1))
    else:
        for i in range(1, 9):
            layer(names, f"roi_heads.keypoint_head.conv_fcn{i}", (512, 256 if i == 1 else 512, 3, 3))
        layer(names, "roi_heads.keypoint_head.score_lowres", (512, 17, 4, 4), 17)
    return names


def filled(names):
    rng = np.random.default_rng(0)
    return {name: np.broadcast_to(np.float32(rng.random()), shape).copy() for name, shape in names.items()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mask", "points"])
def test_every_array_has_a_place_in_the_network(kind, tmp_path):
    arrays = filled(detectron2_file(kind, 80 if kind == "mask" else 1))
    assert publisher_of(arrays, NAMES) == "detectron2"
    write_safetensors(tmp_path / "d2.safetensors", arrays)
    make = MaskRCNNFPN if kind == "mask" else KeypointRCNNFPNResNet50
    model = make(None, tmp_path / "d2.safetensors")
    assert model.load_report.is_clean
    assert model.settings == detectron2_config(50)
    assert model.label_names == (coco_bbox_label_names if kind == "mask" else ("person",))
    if kind == "mask":
        assert model.mask_settings.paste == "exact"
        del arrays["roi_heads.mask_head.predictor.bias"]
        write_safetensors(tmp_path / "less.safetensors", arrays)
        with pytest.raises(WeightsMismatchError, match="mask_head/out/b"):
            MaskRCNNFPN(None, tmp_path / "less.safetensors")


def test_channels_classes_and_offsets_come_in_our_order():
    set_seed(0)
    rng = np.random.default_rng(0)
    small = {
        "backbone.bottom_up.stem.conv1.weight": (2, 3, 7, 7),
        "backbone.bottom_up.stem.conv1.norm.weight": (2,),
        "backbone.bottom_up.stem.conv1.norm.bias": (2,),
        "proposal_generator.rpn_head.anchor_deltas.weight": (12, 4, 1, 1),
        "proposal_generator.rpn_head.anchor_deltas.bias": (12,),
        "roi_heads.box_predictor.cls_score.weight": (3, 5),
        "roi_heads.box_predictor.cls_score.bias": (3,),
        "roi_heads.box_predictor.bbox_pred.weight": (8, 5),
        "roi_heads.box_predictor.bbox_pred.bias": (8,),
        "roi_heads.box_head.fc1.weight": (6, 4 * 49),
        "roi_heads.box_head.fc2.weight": (6, 6),
    }
    arrays = {name: rng.random(shape, dtype=np.float32) for name, shape in small.items()}
    named = NAMES["detectron2"](arrays)
    stem = arrays["backbone.bottom_up.stem.conv1.weight"]
    np.testing.assert_array_equal(named["regions/extractor/conv1/conv/W"], stem[:, [2, 1, 0]])  # BGR to RGB
    score = arrays["roi_heads.box_predictor.cls_score.bias"]
    np.testing.assert_array_equal(named["regions/box_head/conf/b"], score[[2, 0, 1]])  # background first
    offsets = arrays["roi_heads.box_predictor.bbox_pred.bias"]
    np.testing.assert_array_equal(named["regions/box_head/loc/b"], offsets[[1, 0, 3, 2, 5, 4, 7, 6]])
    assert named["regions/box_head/fcs/0/conv/W"].shape == (6, 4, 7, 7)
    assert named["regions/box_head/fcs/1/conv/W"].shape == (6, 6, 1, 1)
    # an early file has no statistics: they were folded into scale and shift
    np.testing.assert_array_equal(named["regions/extractor/conv1/bn/avg_mean"], [0, 0])
    np.testing.assert_array_equal(named["regions/extractor/conv1/bn/avg_var"], [1, 1])
    assert not [name for name in named if re.search("backbone|roi_heads|generator", name)]
