"""Two public networks, with the numbers an independent runtime gave for them."""

import json
import pathlib

import numpy as np
import pytest
from neighbour import module_at
from PIL import Image

from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.transforms.resize import resize

reference = module_at(pathlib.Path(__file__).parents[3] / "reference" / "coco_ap.py")

NETWORKS = {
    "yolo_fastest_coco": ("yolo-fastest-1.1", "coco.names", "yolo_fastest_1.1_dog"),
    "mobilenetv2_yolov3_nano_voc": (
        "MobileNetV2-YOLOv3-Nano-voc",
        "voc.names",
        "mobilenetv2_yolov3_nano_voc_dog",
    ),
}


@pytest.fixture(scope="module")
def detectors(shared):
    found = {}
    for folder, (stem, names, _) in NETWORKS.items():
        path = shared / "weights" / folder
        found[folder] = DarknetDetector(path / f"{stem}.cfg", path / f"{stem}.weights", label_names=path / names)
    return found


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("folder", NETWORKS)
def test_raw_heads_equal_those_of_an_independent_runtime(shared, detectors, folder, backend):
    expected = np.load(shared / "weights" / "expected" / f"{NETWORKS[folder][2]}.npz")
    x = expected["input_u8"].transpose(2, 0, 1)[None] * np.float32(1 / 255)
    with using_config("train", False), no_backprop_mode(), using_config("backend", backend):
        heads = detectors[folder](x)
    for number, head in enumerate(heads):
        raw = expected[f"head{number}"]
        assert head.shape == (1, *raw.shape)
        assert np.abs(head.array[0] - raw).max() < 1e-4 * np.abs(raw).max()
        np.testing.assert_allclose(head.array[0], raw, rtol=1e-4, atol=1e-4)


def test_the_two_lines_of_the_readme_find_dog_bicycle_and_car(shared, detectors):
    model = detectors["yolo_fastest_coco"]
    bboxes, labels, scores = model.predict([shared / "data" / "photos" / "dog.jpg"])
    names = [model.label_names[label] for label in labels[0]]
    best = {name: bboxes[0][names.index(name)] for name in ("dog", "bicycle", "car")}
    for name, expected in {
        "dog": (220, 130, 540, 320),
        "bicycle": (130, 120, 430, 570),
        "car": (75, 465, 170, 690),
    }.items():
        assert _iou(best[name], np.array(expected)) > 0.4, name
    assert scores[0].max() > 0.8


def test_a_person_is_found_in_the_photo_of_a_person(shared, detectors):
    for folder, detector in detectors.items():
        _, labels, _ = detector.predict([shared / "data" / "photos" / "person.jpg"])
        assert "person" in [detector.label_names[label] for label in labels[0]], folder


@pytest.mark.slow
def test_yolo_fastest_has_its_ap_on_tiny_coco(shared, detectors):
    ap, ap50 = reference.coco_ap(*_on_tiny_coco(shared, detectors["yolo_fastest_coco"]))
    assert ap == pytest.approx(0.1259, abs=0.002)
    assert ap50 == pytest.approx(0.2678, abs=0.002)


def test_stretching_fits_the_input_that_the_reference_was_given(shared, detectors):
    expected = np.load(shared / "weights" / "expected" / "yolo_fastest_1.1_dog.npz")["input_u8"]
    img = np.asarray(Image.open(shared / "data" / "photos" / "dog.jpg"), np.float32).transpose(2, 0, 1)
    assert np.abs(resize(img, (320, 320)) - expected.transpose(2, 0, 1)).max() <= 1


def _on_tiny_coco(shared, detector):
    folder = shared / "data" / "tiny_coco"
    table = json.loads((folder / "annotations" / "instances_train2017.json").read_text())
    names = {each["id"]: i for i, each in enumerate(sorted(table["categories"], key=lambda each: each["id"]))}
    truths, paths = [], []
    for photo in table["images"]:
        mine = [each for each in table["annotations"] if each["image_id"] == photo["id"]]
        x, y, w, h = np.array([each["bbox"] for each in mine], float).reshape(-1, 4).T
        truths.append(
            (
                np.stack([y, x, y + h, x + w], axis=1),
                np.array([names[each["category_id"]] for each in mine], int),
                np.array([each["iscrowd"] for each in mine], bool),
            )
        )
        paths.append(folder / "train2017" / photo["file_name"])
    with detector.using_preset("evaluate"):
        bboxes, labels, scores = detector.predict(paths)
    return truths, list(zip(bboxes, labels, scores))


def _iou(a, b):
    inside = np.prod(np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None))
    return inside / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - inside)
