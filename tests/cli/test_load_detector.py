"""The detector that options describe."""

import argparse
import shutil

import pytest

from cvzoo.cli.load_detector import load_detector
from cvzoo.cli.model_options import add_model_arguments
from cvzoo.cli.zoo_member import zoo_member
from cvzoo.errors.exceptions import ConfigError, DownloadError, ValueRangeError
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.serializers.model_file import save_model
from cvzoo.weights.cache import cached_path


def load(*words):
    parser = argparse.ArgumentParser()
    add_model_arguments(parser)
    parser.set_defaults(quiet=True)  # the option of every verb that loads one
    return load_detector(parser.parse_args(list(words)))


def test_thresholds_and_fitting_reach_the_model(net):
    model = load(*net, "--score-thresh", "0.7", "--nms-thresh", "0.2", "--resize", "letterbox")
    assert (model.score_thresh, model.nms_thresh, model.resize) == (0.7, 0.2, "letterbox")
    assert model.label_names == ("cat", "dog")
    assert load(*net[:4]).label_names is None
    assert (load(*net, "--clip").clip, load(*net).clip) == (True, False)
    with pytest.raises(ConfigError, match="--clip cannot be combined"):
        load("--model", "yolo_fastest", "--clip")


@pytest.mark.parametrize(("score", "expected"), [("0.7", 0.7), ("0", 0.0), ("evaluate", 0.005)])
def test_a_score_is_a_preset_or_a_number_as_in_python(net, score, expected):
    assert load(*net, "--score", score).score_thresh == expected


@pytest.mark.parametrize("score", ["1.5", "-1", "nan", "depploy"])
def test_a_score_that_is_neither_is_refused(net, score, capsys):
    with pytest.raises((ConfigError, SystemExit, ValueRangeError)) as caught:
        load(*net, f"--score={score}")
    said = capsys.readouterr().err + str(caught.value)
    assert "not between 0 and 1" in said or "no such preset" in said


def test_a_model_of_the_zoo_comes_from_the_cache(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    for record in zoo_member("yolo_fastest").files:
        path = cached_path(record)
        path.parent.mkdir(parents=True)
        shutil.copy(shared / "weights" / "yolo_fastest_coco" / record.file_name, path)
    assert "dog" in load("--model", "yolo_fastest").label_names


def test_offline_it_says_which_file_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    with pytest.raises(DownloadError, match=r"put it at .*yolo-fastest-1.1.cfg"):
        load("--model", "yolo_fastest")


def test_a_classifier_finds_no_boxes_and_says_so():
    with pytest.raises(ConfigError, match="not predict boxes"):
        load("--model", "cifar_resnet20_cifar10")


def test_a_classifiers_file_finds_no_boxes_and_says_so(tmp_path):
    save_model(tmp_path / "m.safetensors", ResNet(10, 3, base_channels=8))
    with pytest.raises(ConfigError, match="not predict boxes"):
        load("--model", str(tmp_path / "m.safetensors"))


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    with pytest.raises(ValueRangeError, match="yolo_fastest"):
        zoo_member("yolo_fastst")
