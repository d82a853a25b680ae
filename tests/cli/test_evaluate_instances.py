"""`cvzoo evaluate` of models that find masks or keypoints."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.config.randomness import set_seed
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadSettings
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.serializers.model_file import save_model

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=20
)
FIELDS = {"bbox": "bbox", "segm": "segmentation", "keypoints": "keypoints"}


@pytest.fixture
def coco(tmp_path):
    """ROOT/annotations/instances_val.json with images in ROOT/val: two images with a person each, all of it known."""
    (tmp_path / "annotations").mkdir()
    (tmp_path / "val").mkdir()
    images, annotations = [], []
    for number in (3, 8):
        images.append({"id": number, "file_name": f"{number}.png", "width": 60, "height": 40})
        pixels = np.random.default_rng(number).integers(0, 256, (40, 60, 3), "uint8")
        Image.fromarray(pixels).save(tmp_path / "val" / f"{number}.png")
        annotations.append(
            {
                "id": number,
                "image_id": number,
                "category_id": 1,
                "bbox": [5, 5, 40, 30],
                "area": 1200,
                "iscrowd": 0,
                "segmentation": [[5, 5, 45, 5, 45, 35, 5, 35]],
                "keypoints": [20, 20, 2] * 17,
                "num_keypoints": 17,
            }
        )
    table = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "person"}]}
    path = tmp_path / "annotations" / "instances_val.json"
    path.write_text(json.dumps(table))
    return path


@pytest.fixture
def model_file(tmp_path):
    """From a kind of model, the file of a tiny one."""

    def make(kind):
        set_seed(0)
        options = {"label_names": ("person",), "settings": TINY}
        if kind == "segm":
            model = MaskRCNNFPN(mask_settings=MaskHeadSettings(depth=1, channels=8, roi_size=7), **options)
        elif kind == "keypoints":
            model = KeypointRCNNFPN(point_settings=PointHeadSettings(depth=1, channels=8, roi_size=7), **options)
        else:
            model = FasterRCNNFPN(**options)
        save_model(tmp_path / f"{kind}.safetensors", model)
        return tmp_path / f"{kind}.safetensors"

    return make


@pytest.mark.parametrize(
    ("kind", "iou_type"),
    [("segm", "segm"), ("segm", "bbox"), ("keypoints", "keypoints"), ("keypoints", "bbox"), ("bbox", "bbox")],
)
def test_a_model_and_what_it_saved_have_the_same_scores(run, coco, model_file, kind, iou_type, tmp_path):
    options = ("--iou-type", iou_type, "--quiet", "--json", tmp_path / "scores.json")
    saved, report = tmp_path / "saved.json", tmp_path / "report.html"
    given = ("--data", f"coco:{coco}", "--model", model_file(kind), "--score-thresh", 0.01)
    status, _, _ = run("evaluate", *given, *options, "--save-results", saved, "--report", report)
    assert status == 0
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["counts"]["detections"] > 0
    assert all(
        set(row) == {"image_id", "category_id", "score", FIELDS[iou_type]} for row in json.loads(saved.read_text())
    )
    assert report.stat().st_size > 1000
    assert run("evaluate", "--gt", coco, "--results", saved, *options)[0] == 0
    again = json.loads((tmp_path / "scores.json").read_text())
    assert {key: again[key] for key in ("AP", "AP50", "per_class")} == {
        key: scores[key] for key in ("AP", "AP50", "per_class")
    }
    assert again["counts"] == scores["counts"]


@pytest.mark.parametrize(
    ("kind", "iou_type", "says"),
    [
        ("bbox", "segm", "FasterRCNNFPN, which does not predict masks"),
        ("bbox", "keypoints", "which does not predict keypoints"),
        ("segm", "keypoints", "MaskRCNNFPN, which does not predict keypoints"),
    ],
)
def test_what_a_model_does_not_find_is_not_scored(run, coco, model_file, kind, iou_type, says):
    status, _, err = run("evaluate", "--data", f"coco:{coco}", "--model", model_file(kind), "--iou-type", iou_type)
    assert status == 2
    assert says in err
