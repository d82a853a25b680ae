"""`cvzoo predict` with models that find masks, keypoints or the class of every pixel."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.config import set_seed
from cvzoo.geometry.rle import RLEs
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN, PointHeadSettings
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskHeadSettings, MaskRCNNFPN
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.serializers.model_file import save_model

TINY = FasterRCNNFPNSettings(
    n_layer=10, base_channels=8, channels=16, head_width=32, min_size=64, max_size=96, n_proposal=50
)


@pytest.fixture
def file(tmp_path):
    """A function that saves a model of random numbers and gives the path."""

    def saved(make):
        set_seed(0)
        path = tmp_path / "model.safetensors"
        save_model(path, make())
        return path

    return saved


def test_masks_are_drawn_and_their_run_lengths_written(run, photos, file, tmp_path):
    head = MaskHeadSettings(depth=1, channels=8, roi_size=7)
    path = file(lambda: MaskRCNNFPN(label_names=("ape", "bee"), settings=TINY, mask_settings=head))
    out = tmp_path / "out"
    status, printed, errors = run("predict", photos / "a.jpg", "--model", path, "--out", out, "--score-thresh", "0")
    assert status == 0, errors
    assert "y_min" in printed
    record = json.loads((out / "a.json").read_text())
    assert record["objects"]
    for each in record["objects"]:
        assert each["mask"]["size"] == [40, 60]
        assert len(RLEs.from_coco([each["mask"]])) == 1
    with Image.open(out / "a.jpg") as picture:
        assert picture.size == (60, 40)


def test_key_points_are_drawn_and_written(run, photos, file, tmp_path):
    head = PointHeadSettings(depth=1, channels=8, roi_size=7)
    path = file(lambda: KeypointRCNNFPN(1, settings=TINY, point_settings=head))
    out = tmp_path / "out"
    status, _, errors = run("predict", photos / "a.jpg", "--model", path, "--out", out, "--score-thresh", "0")
    assert status == 0, errors
    record = json.loads((out / "a.json").read_text())
    assert record["objects"]
    assert all(len(each["points"]) == 17 for each in record["objects"])
    assert (out / "a.jpg").is_file()


def test_a_label_map_is_tinted_counted_and_written_as_a_picture(run, photos, file, tmp_path):
    names = ("sky", "road", "tree")
    path = file(lambda: SegNetBasic(label_names=names, channels=8))
    out = tmp_path / "out"
    status, printed, errors = run("predict", photos, "--model", path, "--out", out)
    assert status == 0, errors
    assert "pixels" in printed
    record = json.loads((out / "a.json").read_text())
    assert sum(each["n_pixel"] for each in record["classes"]) == 40 * 60
    assert {each["name"] for each in record["classes"]} <= set(names)
    with Image.open(out / record["label_map"]) as stored:
        labels, counts = np.unique(np.array(stored), return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist())) == {each["label"]: each["n_pixel"] for each in record["classes"]}
    assert (out / record["picture"]).is_file()
    assert (out / "label_maps" / "zwei Bäume.png").is_file()


def test_without_pictures_a_label_map_is_still_written(run, photos, file, tmp_path):
    out = tmp_path / "out"
    words = ("--model", file(lambda: SegNetBasic(3, channels=8)), "--out", out, "--no-draw", "--quiet")
    status, _, errors = run("predict", photos / "a.jpg", *words)
    assert status == 0, errors
    assert json.loads((out / "a.json").read_text())["picture"] is None
    assert sorted(path.name for path in out.iterdir()) == ["a.json", "label_maps", "results.jsonl"]
    status, _, error = run("predict", photos / "a.jpg", *words, "--score-thresh", "0.5")
    assert status == 2
    assert "--score-thresh" in error


MODELS = {
    "boxes": lambda: RetinaNet(
        label_names=("ape", "bee"), settings=RetinaNetSettings(n_layer=10, channels=16, min_size=64, max_size=96)
    ),
    "masks": lambda: MaskRCNNFPN(
        label_names=("ape", "bee"), settings=TINY, mask_settings=MaskHeadSettings(depth=1, channels=8, roi_size=7)
    ),
    "keypoints": lambda: KeypointRCNNFPN(
        1, settings=TINY, point_settings=PointHeadSettings(depth=1, channels=8, roi_size=7)
    ),
    "label maps": lambda: SegNetBasic(3, channels=8),
    "classes": lambda: CIFARResNet(8, n_class=3),
}


@pytest.mark.parametrize("task", MODELS)
def test_every_task_has_test_time_augmentation(run, photos, file, tmp_path, task):
    path = file(MODELS[task])
    status, _, errors = run("predict", photos / "a.jpg", "--model", path, "--tta", "--out", tmp_path / "out")
    assert status == 0, errors
    assert (tmp_path / "out" / "a.json").is_file()


@pytest.mark.parametrize("task", MODELS)
def test_every_task_but_classification_has_tiles(run, photos, file, tmp_path, task):
    path = file(MODELS[task])
    status, _, errors = run("predict", photos / "a.jpg", "--model", path, "--tile", 32, "--out", tmp_path / "out")
    if task == "classes":
        assert status == 2
        assert "cannot predict tiles" in errors
    else:
        assert status == 0, errors
        assert (tmp_path / "out" / "a.json").is_file()
