"""The training scripts overfit eight real images or a frame, and the models that they leave find everything again."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.datasets import CamVidDataset, COCOJSONBboxDataset, DirectoryParsingLabelDataset
from cvzoo.evaluations import eval_detection_voc
from cvzoo.serializers import load_model

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGE = [1, 6, 10, 12, 14, 22, 30, 35]  # images of large objects
ADAM = "pretrained=none optimizer=adam clip=none processes=0 weight_decay=0 schedule=step "
SSD = "validate_every=110 epochs=220 batch_size=8 steps=0.68,0.91 augment=false model.insize=128 model.base_channels=8 "
SSD += "model.extras=halve,halve,halve model.sizes=10,24,44,68,92,116 model.aspect_ratios=[[2],[2,3],[2,3],[2],[2]] "
SSD += "model.steps=none"
YOLO = "validate_every=100 epochs=200 batch_size=8 lr=0.01 warmup=10 steps=0.75,0.9 augment=false sizes=none "
YOLO += "model.insize=128 "
YOLO += "model.base_channels=8 model.blocks=1,1,1,1,1 "
YOLO += "model.anchors=[[[60,70],[110,60],[110,110]],[[30,20],[30,50],[60,35]],[[6,6],[14,10],[14,20]]]"
VGG = "epochs=150 batch_size=4 lr=0.001 steps=0.67,0.87 flip=false model.min_size=96 model.max_size=160 "
VGG += "model.anchor_scales=2,4,8 model.base_channels=8 model.rpn_channels=64 model.fc_channels=256"
FPN = "epochs=120 batch_size=4 lr=0.002 steps=0.79 warmup=10 flip=false regions=64 frozen=[] model.norm=batch "
FPN += "model.n_layer=10 model.base_channels=16 model.channels=32 model.head_width=64 model.n_proposal=100 "
FPN += "model.min_size=96 model.max_size=160 model.antialias=true model.anchor_sizes=[[16],[32],[64],[128],[256]]"
RESNET = "--recipe resnet18_cifar epochs=60 batch_size=8 model.insize=64 lr=0.001 crop_area=0.7,1 jitter=0.1 "
RESNET += "lighting=5 steps=0.75,0.9 validate_every=20"


def run(script, settings, *words, cwd):
    """The rows of metrics.jsonl of a run in the folder, which is made in a process of its own."""
    command = [sys.executable, ROOT / "train_scripts" / script, "--out", "run", *words, *settings.split()]
    done = subprocess.run(
        command,
        cwd=cwd,
        env=dict(os.environ, PYTHONPATH=os.fspath(ROOT)),
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in (cwd / "run/metrics.jsonl").read_text().splitlines()]
    assert np.isfinite([row["main/loss"] for row in rows]).all()
    return rows


@pytest.fixture
def images(shared, tmp_path):
    """Writes a COCO file of chosen images; returns it as data to train and to validate on."""

    def write(index):
        root = shared / "data/tiny_coco"
        tree = json.loads((root / "annotations/instances_train2017.json").read_text())
        dataset = COCOJSONBboxDataset(root / "annotations/instances_train2017.json")
        names = {pathlib.Path(dataset.name(i)).name for i in index(dataset)}
        tree["images"] = [each for each in tree["images"] if each["file_name"] in names]
        known = {each["id"] for each in tree["images"]}
        tree["annotations"] = [each for each in tree["annotations"] if each["image_id"] in known]
        path = tmp_path / "eight.json"
        path.write_text(json.dumps(tree))
        return f"coco:{path},{path},photos={root / 'train2017'}", COCOJSONBboxDataset(path, root / "train2017")

    return write


def few_objects(dataset):
    return [i for i, bbox in enumerate(dataset.slice[:, "bbox"]) if 0 < len(bbox) < 5][:8]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "settings", "least"),
    [
        ("detection/train_ssd.py", SSD, 0.05),  # a mean over the default boxes that have an object
        ("detection/train_yolov3.py", YOLO, 1.0),  # a sum over a thousand predictions
    ],
)
def test_eight_images_are_overfitted_and_found_again(images, tmp_path, script, settings, least):
    data, dataset = images(few_objects)
    rows = run(script, f"{ADAM} metric=voc {settings}", "--data", data, cwd=tmp_path)
    assert rows[-1]["main/loss"] < least < rows[0]["main/loss"] / 100
    imgs, bboxes, labels = zip(*dataset)
    found = load_model(tmp_path / "run/best.safetensors").predict(imgs)  # as a user sees it
    assert [len(bbox) for bbox in found.bboxes] == [len(bbox) for bbox in bboxes]
    assert eval_detection_voc(found.bboxes, found.labels, found.scores, bboxes, labels)["map"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "settings", "sure"),
    [
        ("detection/train_faster_rcnn.py", f"metric=voc {VGG}", 0.7),
        # a quarter of the sampled regions are positive, and most of those cover an object well: after so few updates
        # some that cover half of one still have scores up to 0.9
        ("detection/train_faster_rcnn_fpn.py", f"metric=voc {FPN}", 0.9),
        ("instance_segmentation/train_mask_rcnn.py", f"{FPN} head.depth=2 head.channels=32 head.roi_size=7", 0.9),
    ],
)
def test_two_stage_detectors_overfit_large_objects_and_find_them_again(images, tmp_path, script, settings, sure):
    data, dataset = images(lambda dataset: LARGE)
    rows = run(script, f"{ADAM} validate_every=30 {settings}", "--data", data, cwd=tmp_path)
    assert rows[-1]["main/loss"] < 0.2 * rows[0]["main/loss"]
    imgs, bboxes, labels = zip(*dataset)
    found = load_model(tmp_path / "run/best.safetensors").predict(imgs)
    assert eval_detection_voc(found.bboxes, found.labels, found.scores, bboxes, labels)["map"] > 0.7
    n_found, n_object = int((np.concatenate(found.scores) > sure).sum()), sum(map(len, bboxes))
    assert 0.7 * n_object <= n_found <= 1.3 * n_object


@pytest.mark.slow
def test_eight_images_are_classified_again(shared, tmp_path):
    for i, path in enumerate(sorted((shared / "data/tiny_coco/train2017").glob("*.jpg"))[:8]):
        for split in ("train", "val"):
            folder = tmp_path / "images" / split / f"class {i}"
            folder.mkdir(parents=True)
            shutil.copy(path, folder)
    rows = run("classification/train_resnet.py", ADAM + RESNET, "--data", "folder:images", cwd=tmp_path)
    assert rows[-1]["main/loss"] < rows[0]["main/loss"] / 10
    dataset = DirectoryParsingLabelDataset(tmp_path / "images/val")
    result = load_model(tmp_path / "run/best.safetensors").predict(dataset.img_paths)
    np.testing.assert_array_equal(result.labels, dataset.labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "size", "key", "most", "least"),
    [
        ("--recipe segnet model.channels=24 lr=0.1 model.insize=90,120", (90, 120), "main/loss", 0.02, 0.98),
        # scores of stride 8 cannot follow poles that are one pixel wide: the rest of the loss is along them
        (
            "--recipe pspnet_resnet10_small model.base_channels=16 model.window=161,209 angle=0 lr=0.05",
            (161, 209),
            "main/loss/main",
            0.16,
            0.94,
        ),
    ],
)
def test_a_frame_is_overfitted_and_its_map_found_again(shared, tmp_path, settings, size, key, most, least):
    root = tmp_path / "camvid"
    root.mkdir()
    for name in ("image", "label"):
        frame = Image.open(shared / f"data/camvid_sample/{name}.png")
        frame.resize(size[::-1], Image.Resampling.NEAREST).save(root / f"{name}.png")
    for split in ("train", "val"):
        (root / f"{split}.txt").write_text("/SegNet/CamVid/image.png /SegNet/CamVid/label.png\n" * 2)
    common = "pretrained=none processes=0 epochs=200 batch_size=2 weight_decay=0 scale_range=1,1 flip=false clip=none "
    script = "semantic_segmentation/train_segmentation.py"
    rows = run(script, f"{common} validate_every=100 {settings}", "--data", f"camvid:{root}", cwd=tmp_path)
    assert rows[-1][key] < most < rows[0][key] / 5
    img, label = CamVidDataset(root)[0]
    model = load_model(tmp_path / "run/best.safetensors")
    model.flip = False  # PSPNet averages the scores of the mirror image, which this training has not seen
    found = model.predict([img])[0]
    known = label >= 0
    assert (found == label)[known].mean() > least
