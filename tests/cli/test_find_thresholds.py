"""`cvzoo evaluate --find-thresholds` and `cvzoo predict --score deploy`."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.find_thresholds import thresholds_text
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.serializers.model_file import load_model


@pytest.fixture
def truth(net, photos, tmp_path):
    """Ground truth that agrees with every third detection of the network, and has no dog."""
    cfg, weights, names = (word for word in net if not word.startswith("--"))
    model = DarknetDetector(cfg, weights, label_names=names)
    model.use_preset("evaluate")
    paths = sorted(photos.iterdir())
    found = model.predict(paths)
    images, annotations = [], []
    for i, path in enumerate(paths, 1):
        with Image.open(path) as image:
            images.append({"id": i, "file_name": path.name, "width": image.width, "height": image.height})
        cats = [bb.tolist() for bb, l in zip(found.bboxes[i - 1], found.labels[i - 1]) if l == 0]
        for y_min, x_min, y_max, x_max in cats[::3]:
            box = [x_min, y_min, x_max - x_min, y_max - y_min]
            one = {"id": len(annotations) + 1, "image_id": i, "category_id": 1, "iscrowd": 0, "bbox": box}
            annotations.append(one | {"area": box[2] * box[3]})
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    path = tmp_path / "truth.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))
    assert annotations
    return ("--data", f"coco:{path},photos={photos}")


@pytest.mark.parametrize("metric", ["coco", "voc"])
def test_the_saved_model_has_the_promised_precision_and_recall(run, net, truth, photos, tmp_path, metric):
    saved = tmp_path / "m.safetensors"
    words = (*truth, "--metric", metric, "--json", tmp_path / "o.json")
    status, out, err = run("evaluate", *net, *words, "--find-thresholds", "f1", "--save-model", saved)
    assert status == 0, err
    cat, dog = json.loads((tmp_path / "o.json").read_text())["deploy"]["classes"]
    assert "preset deploy, f1" in out
    model = load_model(saved)
    assert model.presets["deploy"].class_score_thresh == (cat["score"], dog["score"])
    assert run("info", saved, "--json", tmp_path / "info.json")[0] == 0
    assert json.loads((tmp_path / "info.json").read_text())["presets"]["deploy"].startswith("by class, from 0.")
    assert dog["score"] == model.presets["visualize"].score_thresh
    assert dog["note"].startswith("no objects")
    # the thresholds of F1 that an evaluation finds again, of the detections that are left, keep all of them
    status, _, err = run("evaluate", "--model", saved, *words, "--score", "deploy", "--find-thresholds", "f1")
    assert status == 0, err
    again = json.loads((tmp_path / "o.json").read_text())["deploy"]["classes"][0]
    assert [again[key] for key in ("precision", "recall", "f1")] == [cat[key] for key in ("precision", "recall", "f1")]
    status, out, err = run("predict", "--model", saved, "--score", "deploy", "--json-lines", "-", photos)
    assert status == 0, err
    found = [each for line in out.splitlines() for each in json.loads(line)["objects"]]
    assert min(each["score"] for each in found if each["name"] == "cat") > cat["score"]


def test_a_precision_that_is_not_reached_means_never(run, net, truth, tmp_path):
    words = (*truth, "--json", tmp_path / "o.json", "--find-thresholds", "precision=0.99")
    assert run("evaluate", *net, *words)[0] == 0
    (cat, _) = json.loads((tmp_path / "o.json").read_text())["deploy"]["classes"]
    if cat["note"] is None:
        assert cat["precision"] >= 0.99
    else:
        assert (cat["score"], cat["note"]) == (1.0, "not reached: never predicted")


def test_what_makes_no_sense_is_an_error(run, net, truth, photos, tmp_path):
    (tmp_path / "r.json").write_text("[]")
    gt = ("--gt", truth[1].removeprefix("coco:").split(",")[0], "--results", tmp_path / "r.json")
    labels = tmp_path / "labels"
    labels.mkdir()
    maps = ("--data", f"labels:{labels}", "--photos", labels)
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(labels / "a.png")
    for words, says in (
        ((*net, *truth, "--find-thresholds", "f2"), "expected f1 or precision=0.9"),
        ((*net, *truth, "--find-thresholds", "precision=2"), "expected f1 or precision=0.9"),
        ((*net, *truth, "--save-model", tmp_path / "m.safetensors"), "--save-model saves found thresholds"),
        ((*net, *truth, "--find-thresholds", "f1", "--save-model", tmp_path / "no" / "m"), "does not exist"),
        ((*gt, "--find-thresholds", "f1"), "--find-thresholds needs a model"),
        ((*net, *maps, "--find-thresholds", "f1"), "does not apply to label maps"),
        ((*net, *truth, "--score", "deploy"), "there is no such preset"),
        ((*net, *truth, "--score", "evaluate", "--score-thresh", "0.1"), "cannot be combined"),
    ):
        status, out, err = run("evaluate", *words)
        assert (status, out) == (2, ""), words
        assert says in err, err


def test_few_objects_are_mentioned():
    row = {"name": "cat", "n_objects": 3, "score": 0.5, "precision": 1.0, "recall": 1.0, "f1": 1.0, "note": None}
    text = thresholds_text({"rule": "f1", "classes": [row, row | {"n_objects": 10}, row | {"n_objects": 0}]})
    assert "1 class has fewer than 10 objects" in text
