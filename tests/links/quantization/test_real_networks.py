"""What eight bits cost on real photos: public networks that were trained in float32."""

import json
import pathlib

import numpy as np
import pytest
from neighbour import module_at
from processor import needs_bf16

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.images.read_image import read_image
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.links.model.darknet.detector import DarknetDetector

pytestmark = pytest.mark.slow
reference = module_at(pathlib.Path(__file__).parents[2] / "reference" / "coco_ap.py")


@pytest.fixture(scope="module")
def cifar(shared):
    with np.load(shared / "data" / "cifar10_train_4000.npz") as file:
        images, labels = file["images"].transpose(0, 3, 1, 2).astype(np.float32), file["labels"]
    model = CIFARResNet(20, pretrained_model=shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th")
    return model, images, labels


@pytest.mark.parametrize(
    "how", [{}, {"method": "minmax", "least_work": 0, "first_and_last": False}], ids=["default", "all"]
)
def test_resnet_20_is_right_as_often_in_eight_bits(cifar, how):
    model, images, labels = cifar
    quantized = model.quantize(images[:64], **how)
    assert quantized.quantization_report.n_quantized == (20 if how else 18)
    right = (np.asarray(quantized.predict(images, batch_size=100)).argmax(axis=1) == labels).sum()
    assert right >= 3992 * 0.995  # in float32: 3992


@needs_bf16
def test_resnet_20_is_right_as_often_in_bfloat16(cifar):
    model, images, labels = cifar
    quantized = model.quantize(images[:16], precision="bf16")
    assert quantized.quantization_report.n_quantized == 18
    right = (np.asarray(quantized.predict(images, batch_size=100)).argmax(axis=1) == labels).sum()
    assert right >= 3992 * 0.998  # in float32: 3992


@pytest.mark.parametrize("how", [{}, {"least_work": 0}], ids=["default", "all but the ends"])
def test_yolo_fastest_finds_as_much_in_eight_bits(shared, how):
    folder = shared / "weights" / "yolo_fastest_coco"
    names = ("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights")
    model = DarknetDetector(*(folder / name for name in names), label_names=folder / "coco.names")
    paths, truths = _tiny_coco(shared / "data" / "tiny_coco")
    quantized = model.quantize(paths[:16], **how)
    layers = quantized.quantization_report
    assert layers.n_quantized >= (70 if how else 60)
    found = []
    for each in (model, quantized):
        with each.using_preset("evaluate"):
            bboxes, labels, scores = each.predict(paths)
        found.append(reference.coco_ap(truths, list(zip(bboxes, labels, scores)))[0])
    assert found[1] == pytest.approx(found[0], abs=0.01)
    assert found[1] == pytest.approx(0.1249, abs=0.01)
    if not how:  # .16 without correction, and with the layers that lose most
        x = np.stack([model.prepare(read_image(path)) for path in paths[16:32]])
        with no_backprop_mode(), using_config("train", False):
            there, here = (
                np.concatenate([y.reshape(len(x), -1) for y in each.outputs(x)], axis=1) for each in (model, quantized)
            )
        off = np.sqrt(np.square(here - there).sum() / np.square(there - there.mean(axis=0)).sum())
        assert off < 0.13


def _tiny_coco(folder):
    table = json.loads((folder / "annotations" / "instances_train2017.json").read_text())
    numbers = {each["id"]: i for i, each in enumerate(sorted(table["categories"], key=lambda each: each["id"]))}
    paths, truths = [], []
    for photo in table["images"]:
        mine = [each for each in table["annotations"] if each["image_id"] == photo["id"]]
        x, y, w, h = np.array([each["bbox"] for each in mine], float).reshape(-1, 4).T
        labels = np.array([numbers[each["category_id"]] for each in mine], int)
        crowd = np.array([each["iscrowd"] for each in mine], bool)
        truths.append((np.stack([y, x, y + h, x + w], axis=1), labels, crowd))
        paths.append(folder / "train2017" / photo["file_name"])
    return paths, truths
