"""Models of users' own classes in model files."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest
from neighbour import module_at

from cvzoo.errors.exceptions import DtypeError, FileFormatError, UnsupportedError, WeightsMismatchError
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.architectures import architecture_of
from cvzoo.links.model.raw_outputs import named_results, same_bits, seeded_photo
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.thresholds import Preset
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.testing import assert_is_detection_link
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors
from cvzoo.weights.model_header import KEY, read_model_header

example = module_at(pathlib.Path(__file__).parents[2] / "examples" / "own_detector.py")
CONFIG = example.PointDetectorConfig(n_fg_class=2, base_channels=8, channels=8, insize=64)


@dataclasses.dataclass(frozen=True)
class PlainConfig:
    """A frozen dataclass that does not check itself."""

    n_out: int
    scale: float = 1.0
    names: tuple[str, ...] = ()


class Plain(Chain):
    """No detector; of a config that is any frozen dataclass."""

    config_class = PlainConfig

    def __init__(self, config, *, label_names=None):
        self.config, self.label_names = config, label_names
        with self.init_scope():
            self.fc = Linear(2, config.n_out)


@pytest.fixture
def saved(tmp_path):
    model = example.PointDetector(CONFIG, label_names=("ape", "bee"))
    model.presets = {"visualize": Preset(0.4, 0.2), "evaluate": Preset(0.4, 0.1)}
    model.use_preset("visualize")
    model.limit = 7
    save_model(tmp_path / "own.safetensors", model)
    return model, tmp_path / "own.safetensors"


def test_a_detector_of_ones_own_comes_back(saved):
    model, path = saved
    again = load_model(path, architecture=example.PointDetector)
    assert type(again) is example.PointDetector
    assert (again.config, again.label_names, again.presets, again.limit) == (
        model.config,
        ("ape", "bee"),
        model.presets,
        7,
    )
    photos = [seeded_photo((50, 70)), seeded_photo((80, 40))]
    assert same_bits(named_results(again.predict(photos)), named_results(model.predict(photos)))
    assert sum(len(label) for label in model.predict(photos).labels) > 0


def test_it_keeps_what_a_detector_promises(saved):
    assert_is_detection_link(load_model(saved[1], architecture=example.PointDetector), n_fg_class=2)


def test_its_header_names_the_class_and_says_the_config(saved):
    header = read_model_header(saved[1])
    assert header.architecture == "PointDetector"
    assert header.settings["base_channels"] == 8
    assert header.settings["limit"] == 7
    assert header.preprocessing["size"] == [64, 64]


def test_any_frozen_dataclass_is_a_config(tmp_path):
    save_model(tmp_path / "m.safetensors", Plain(PlainConfig(3, names=("a", "b"))))
    again = load_model(tmp_path / "m.safetensors", architecture=Plain)
    assert again.config == PlainConfig(3, names=("a", "b"))


def test_a_class_of_the_zoo_may_be_named_too(tmp_path):
    save_model(tmp_path / "m.safetensors", Plain(PlainConfig(3)))
    with pytest.raises(WeightsMismatchError, match="holds a Plain, not a RetinaNet"):
        load_model(tmp_path / "m.safetensors", architecture=RetinaNet)
    assert architecture_of(RetinaNet).name == "RetinaNet"


def test_without_the_class_the_error_names_it(saved):
    with pytest.raises(UnsupportedError, match=r"load_model\(file, architecture=PointDetector\)"):
        load_model(saved[1])


def test_another_class_is_told(saved):
    with pytest.raises(WeightsMismatchError, match="holds a PointDetector, not a Plain"):
        load_model(saved[1], architecture=Plain)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_fg_class": "two"}, "n_fg_class"),
        ({"insize": 65}, "multiple of 32"),
        ({"insize": 10**9}, "insize"),
        ({"novelty": 1}, "novelty"),
        ({"n_fg_class": None}, "n_fg_class"),
        ({"presets": 3}, "PointDetector"),
    ],
)
def test_a_config_that_makes_none_is_told(change, words, saved):
    _, path = saved
    texts = read_safetensors_metadata(path)
    own = json.loads(texts[KEY])
    own["settings"].update(change)
    write_safetensors(path, read_safetensors(path), metadata={**texts, KEY: json.dumps(own)})
    with pytest.raises(FileFormatError, match=words):
        load_model(path, architecture=example.PointDetector)


def test_a_plain_dataclass_is_checked_when_it_is_read(tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, Plain(PlainConfig(3)))
    texts = read_safetensors_metadata(path)
    own = json.loads(texts[KEY])
    own["settings"]["scale"] = "large"
    write_safetensors(path, read_safetensors(path), metadata={**texts, KEY: json.dumps(own)})
    with pytest.raises(FileFormatError, match="scale"):
        load_model(path, architecture=Plain)


def own_class(**attributes):
    return type("Own", (Plain,), attributes)


class Thawed:
    pass


@dataclasses.dataclass
class ThawedConfig:
    n_out: int = 3


def test_a_class_that_inherits_its_constructor_is_a_model_file(tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, own_class()(PlainConfig(3)))
    assert load_model(path, architecture=own_class()).config == PlainConfig(3)


@pytest.mark.parametrize(
    ("made", "error", "words"),
    [
        (lambda: own_class(config_class=None), UnsupportedError, "does not define what its models are built from"),
        (lambda: own_class(config_class=Thawed), UnsupportedError, "no frozen dataclass"),
        (lambda: own_class(config_class=ThawedConfig), UnsupportedError, "no frozen dataclass"),
        (lambda: own_class(__init__=lambda self, n: None), UnsupportedError, "takes no config"),
        (lambda: own_class(__init__=lambda self, config: None), UnsupportedError, "takes no label_names"),
        (lambda: type("SSD", (Plain,), {}), UnsupportedError, "name of an architecture of the zoo"),
        (lambda: PlainConfig, DtypeError, "class of models"),
        (lambda: "Plain", DtypeError, "class of models"),
    ],
)
def test_a_class_that_files_cannot_describe_is_told(made, error, words):
    with pytest.raises(error, match=words):
        architecture_of(made())


def test_a_link_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="save_safetensors"):
        save_model(tmp_path / "m.safetensors", Linear(2, 3))


def test_a_model_that_keeps_no_config_is_refused(tmp_path):
    model = Plain(PlainConfig(3))
    model.config = {"n_out": 3}
    with pytest.raises(UnsupportedError, match=r"Plain\.config"):
        save_model(tmp_path / "m.safetensors", model)
    assert not (tmp_path / "m.safetensors").exists()


def test_values_that_json_cannot_hold_are_refused(tmp_path):
    model = Plain(PlainConfig(3, scale=np.ones(2)))
    with pytest.raises(UnsupportedError, match="scale"):
        save_model(tmp_path / "m.safetensors", model)
    assert not (tmp_path / "m.safetensors").exists()
