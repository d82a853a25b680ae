"""`cvzoo info`."""

import json

import numpy as np
import pytest

import cvzoo.links as L
from cvzoo.cli.main import main
from cvzoo.cli.own_architecture import own_architecture
from cvzoo.serializers import save_model


def test_a_models_facts_and_the_cost_of_a_prediction_are_printed(capsys):
    assert main(["info", "retinanet_text", "--size", "64", "96"]) == 0
    printed = capsys.readouterr().out
    for words in ("RetinaNet", "1: text", "padded to multiples of 32", "3,152,018", "extractor", "64 x 96 pixels"):
        assert words in printed


def test_the_same_is_written_as_json_and_adds_up(tmp_path):
    path = tmp_path / "info.json"
    assert main(["info", "retinanet_text", "--size", "64", "96", "--json", str(path)]) == 0
    record = json.loads(path.read_bytes())
    model = L.retinanet_text()
    count = sum(param.array.size for param in model.params())
    assert record["n_parameter"] == count == sum(part["n_parameter"] for part in record["parts"].values())
    assert record["nbytes"] == 4 * count
    assert record["config"]["settings"]["n_layer"] == model.settings.n_layer
    assert record["thresholds"] == {"score_thresh": 0.3, "nms_thresh": 0.5, "limit": 300}
    functions = record["prediction"]["functions"]
    assert functions["FusedConvolution2D"]["calls"] > 20
    assert 0 < record["prediction"]["peak_bytes"] <= sum(each["bytes"] for each in functions.values())


def test_layers_and_multiply_adds_are_printed_and_add_up(tmp_path, capsys):
    path = tmp_path / "info.json"
    assert main(["info", "retinanet_text", "--size", "64", "96", "--layers", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    cost = json.loads(path.read_bytes())["prediction"]
    assert cost["flops"] == 2 * cost["n_multiply_add"] == 2 * sum(each["n_multiply_add"] for each in cost["layers"])
    assert f"{cost['n_multiply_add'] / 1e9:.3g} GMACs" in printed
    height, width = cost["input"][1:]
    assert f"of {height} x {width} pixels" in printed
    first = cost["layers"][0]
    assert f"{first['n_multiply_add']:,}" in printed
    assert "33 Convolution2D, 20 BatchNormalization" in printed


def test_a_model_without_thresholds_and_names_says_so(tmp_path, capsys):
    np.random.seed(0)
    path = tmp_path / "model.safetensors"
    save_model(path, L.SqueezeNet1_1(n_class=3))
    assert main(["info", str(path), "--size", "48", "48"]) == 0
    printed = capsys.readouterr().out
    assert "classes      not named" in printed
    assert "thresholds" not in printed
    assert "quantized" not in printed


def test_a_quantized_model_says_so(tmp_path, capsys):
    model = L.ResNet(10, 3, base_channels=8, stem="cifar")
    img = np.random.default_rng(0).integers(0, 256, (3, 32, 32), np.uint8)
    save_model(tmp_path / "int8.safetensors", quantized := model.quantize([img], least_work=1))
    assert main(["info", str(tmp_path / "int8.safetensors"), "--size", "32", "32", "--json", str(tmp_path / "a")]) == 0
    assert f"  quantized    {quantized.quantization_report.summary()}\n" in capsys.readouterr().out
    facts = json.loads((tmp_path / "a").read_bytes())["quantization"]
    assert (facts["precision"], facts["n_photo"]) == ("int8", 1)
    assert 0 < facts["n_quantized"] < facts["n_layer"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no model was given"),
        (["no_such"], "the zoo has no model"),
        (["retinanet_text", "--size", "0", "3"], "positive"),
    ],
)
def test_what_cannot_be_told_is_an_error(words, says, capsys):
    try:
        status = main(["info", *words])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--size", "1000000", "1000000"], "at most 89"),
        (["--json", "nowhere/at_all.json"], "does not exist"),
    ],
)
def test_what_would_fail_after_the_work_is_told_before_a_model_is_loaded(words, says, capsys, monkeypatch):
    monkeypatch.setattr("cvzoo.cli.info.load_predictor", None)
    assert main(["info", "retinanet_text", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_model_that_predicts_nothing_is_told(tmp_path, capsys):
    source = """
import dataclasses
import cvzoo

@dataclasses.dataclass(frozen=True)
class Config:
    width: int = 4

class Silent(cvzoo.Chain):
    config_class = Config

    def __init__(self, config, *, label_names=None):
        super().__init__(layer=cvzoo.links.Linear(3, config.width))
        self.config, self.label_names = config, label_names
"""
    (tmp_path / "silent.py").write_text(source)
    made = own_architecture(f"{tmp_path / 'silent.py'}:Silent")
    save_model(tmp_path / "silent.safetensors", made(made.config_class()))
    words = [str(tmp_path / "silent.safetensors"), "--architecture", f"{tmp_path / 'silent.py'}:Silent"]
    assert main(["info", *words]) == 2
    assert "no predict" in capsys.readouterr().err
