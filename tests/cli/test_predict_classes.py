"""`cvzoo predict` with a classifier."""

import json
import shutil

import numpy as np
import pytest

from cvzoo.cli.predict_classes import class_record, class_table
from cvzoo.cli.presentations import presentation_of
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.config import set_seed
from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.cache import cached_path

NAMES = ("ape", "bee", "cat", "dog", "eel", "polar bear", "fox")


@pytest.fixture
def model(tmp_path):
    """The file of a classifier of random numbers."""
    set_seed(0)
    path = tmp_path / "net.safetensors"
    save_model(path, ResNet(10, label_names=NAMES, base_channels=8, insize=32))
    return path


def test_a_photo_gives_a_table_of_the_five_best_classes(run, photos, model):
    status, printed, errors = run("predict", photos / "a.jpg", "--model", model)
    assert status == 0, errors
    lines = printed.splitlines()
    assert lines[0] == str(photos / "a.jpg")
    assert lines[1].split() == ["class", "score"]
    assert len(lines) == 7
    scores = [float(line.split()[-1]) for line in lines[2:]]
    assert scores == sorted(scores, reverse=True)
    assert {line.rsplit(None, 1)[0].strip() for line in lines[2:]} <= set(NAMES)


def test_json_says_what_the_model_says_and_nothing_is_drawn(run, photos, model, tmp_path):
    out = tmp_path / "out"
    status, _, errors = run("predict", photos, "--model", model, "--out", out, "--batch-size", "2")
    assert status == 0, errors
    records = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [record["photo"] for record in records] == [str(photos / "a.jpg"), str(photos / "zwei Bäume.png")]
    assert json.loads((out / "a.json").read_text()) == records[0]
    assert sorted(path.name for path in out.iterdir()) == ["a.json", "results.jsonl", "zwei Bäume.json"]
    assert (records[0]["height"], records[0]["width"], records[0]["picture"]) == (40, 60, None)
    set_seed(0)
    probs = ResNet(10, label_names=NAMES, base_channels=8, insize=32).predict([photos / "a.jpg"]).top(5)
    for rank, (each, name, label, prob) in enumerate(
        zip(records[0]["classes"], probs.names[0], probs.labels[0], probs.probs[0])
    ):
        assert (each["rank"], each["name"], each["label"]) == (rank + 1, name, label)
        assert each["score"] == pytest.approx(prob, rel=1e-5)


def test_the_photos_own_folder_may_hold_the_json(run, photos, model):
    status, _, errors = run("predict", photos / "a.jpg", "--model", model, "--out", photos)
    assert status == 0, errors
    assert (photos / "a.json").is_file()


def test_lines_on_standard_output_stand_alone(run, photos, model):
    status, printed, _ = run("predict", photos / "a.jpg", "--model", model, "--json-lines", "-")
    assert status == 0
    assert len(json.loads(printed)["classes"]) == 5


@pytest.mark.parametrize("option", [("--score-thresh", "0.3"), ("--nms-thresh", "0.3"), ("--names", "x.txt")])
def test_options_of_detectors_are_refused(run, photos, model, option):
    status, _, error = run("predict", photos / "a.jpg", "--model", model, *option)
    assert status == 2
    assert option[0] in error


def test_a_bad_photo_is_told_and_the_others_go_on(run, photos, model):
    (photos / "b.jpg").write_text("this is no image")
    status, printed, errors = run("predict", photos, "--model", model, "--batch-size", "3")
    assert status == 1
    assert printed.count("score") == 2
    assert "b.jpg" in errors


def test_classes_without_names_go_by_their_numbers():
    found = Classifications(np.array([[0.25, 0.75], [0.5, 0.5]], np.float32))
    record = class_record("a.jpg", (3, 4), found, 0)
    assert record["classes"] == [
        {"rank": 1, "label": 1, "name": None, "score": 0.75},
        {"rank": 2, "label": 0, "name": None, "score": 0.25},
    ]
    assert class_table("a.jpg", record["classes"]) == "a.jpg\n  class  score\n  1      0.750\n  0      0.250"


def test_what_nobody_can_show_is_refused():
    with pytest.raises(UnsupportedError, match="Linear"):
        presentation_of(Linear(3, 4))


def test_a_classifier_of_the_zoo_comes_from_the_cache(run, photos, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    (record,) = zoo_member("cifar_resnet20_cifar10").files
    path = cached_path(record)
    path.parent.mkdir(parents=True)
    (found,) = (shared / "weights").rglob(record.file_name)
    shutil.copy(found, path)
    status, printed, errors = run("predict", photos / "a.jpg", "--model", "cifar_resnet20_cifar10")
    assert status == 0, errors
    assert len(printed.splitlines()) == 7
