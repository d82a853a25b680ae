"""The training script of Faster R-CNN learns eight photos by heart in its smoke configuration."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.datasets import COCOJSONBboxDataset
from cvzoo.geometry import bbox_iou
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.region_proposal_network import ProposalCreator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "train_scripts/detection/train_faster_rcnn.py"


@pytest.mark.slow
def test_eight_photos_are_learned_by_heart_and_found_again(shared, tmp_path):
    path = shared / "data/tiny_coco/annotations/instances_train2017.json"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--data", f"coco:{path},{path}", "--out", "run", "--smoke"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=os.fspath(ROOT)),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert rows[0]["main/loss"] > 2
    assert rows[-1]["main/loss"] < 0.35
    assert rows[-1]["main/rpn_cls_loss"] < 0.01
    assert max(row.get("validation/main/map", 0) for row in rows) >= 0.9

    model = FasterRCNNVGG16(
        pretrained_model=tmp_path / "run/best.safetensors",
        min_size=96,
        max_size=160,
        anchor_scales=(2, 4, 8),
        proposal_creator=ProposalCreator(min_size=8, n_test_post_nms=50),
        base_channels=8,
        rpn_channels=64,
        fc_channels=256,
    )
    examples = COCOJSONBboxDataset(path).slice[[1, 12, 14, 30]]
    bboxes, labels, scores = model.predict([img for img, _, _ in examples])
    for bbox, label, score, (_, gt_bbox, gt_label) in zip(bboxes, labels, scores, examples):
        iou = bbox_iou(gt_bbox, bbox) * (gt_label[:, None] == label)
        assert (iou.max(axis=1, initial=0) > 0.5).all(), (bbox, label, score, gt_bbox, gt_label)
        assert np.isfinite(score).all()
