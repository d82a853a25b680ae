"""A model in one file."""

import json
import os
import tracemalloc

import numpy as np
import pytest

from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import (
    FileFormatError,
    UnsupportedError,
    ValueRangeError,
    WeightsError,
    WeightsMismatchError,
)
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.detector import Preset
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors
from cvzoo.weights.model_header import KEY, read_model_header

SETTINGS = RetinaNetSettings(
    n_layer=10,
    base_channels=8,
    channels=16,
    head_depth=1,
    head_groups=4,
    anchor_sizes=((8, 10),) * 5,
    anchor_ratios=(0.125, 1),
    min_size=64,
    max_size=96,
)


def make_retinanet():
    return RetinaNet(2, label_names=("text", "größe"), settings=SETTINGS)


def make_resnet():
    return ResNet(10, 3, label_names=("a", "b", "c"), base_channels=8, stem="cifar", norm="group")


def photo():
    return np.random.default_rng(0).integers(0, 256, (3, 50, 70)).astype(np.float32)


def outputs(model):
    x = model.prepare(photo())[None]
    with using_config("train", False):
        y = model(x)
    return [v.array for v in (y if isinstance(y, tuple) else (y,))]


@pytest.mark.parametrize("make", [make_retinanet, make_resnet])
@pytest.mark.parametrize("half", [False, True])
def test_a_model_comes_back(make, half, tmp_path):
    model = make()
    path = tmp_path / "model.safetensors"
    save_model(path, model, half=half)
    twin = load_model(path)
    assert type(twin) is type(model)
    assert twin.label_names == model.label_names
    assert twin.settings == model.settings
    assert all(array.dtype == np.float32 for name, array in twin.state_arrays().items() if not name.endswith("/N"))
    for one, other in zip(outputs(model), outputs(twin)):
        if half:
            np.testing.assert_allclose(one, other, atol=5e-3 * max(1, np.abs(one).max()))
        else:
            np.testing.assert_array_equal(one, other)


def test_half_is_half_the_size_and_a_second_time_the_same(tmp_path):
    model = make_retinanet()
    whole, half, again = (tmp_path / f"{name}.safetensors" for name in ("whole", "half", "again"))
    save_model(whole, model)
    save_model(half, model, half=True)
    assert os.path.getsize(half) < 0.6 * os.path.getsize(whole)
    save_model(again, load_model(half), half=True)
    assert half.read_bytes() == again.read_bytes()


def test_what_float16_cannot_hold_stays_float32(tmp_path):
    model = make_resnet()
    model.fc.W.array[0, 0] = 1e6
    save_model(tmp_path / "m.safetensors", model, half=True)
    assert read_safetensors(tmp_path / "m.safetensors")["fc/W"].dtype == np.float32
    assert load_model(tmp_path / "m.safetensors").fc.W.array[0, 0] == 1e6


def test_thresholds_come_back(tmp_path):
    model = make_retinanet()
    model.presets = {"visualize": Preset(0.4, 0.3), "evaluate": Preset(0.45, 0.01)}
    model.limit = 7
    save_model(tmp_path / "m.safetensors", model)
    twin = load_model(tmp_path / "m.safetensors")
    assert (twin.presets, twin.limit) == (model.presets, 7)
    assert (twin.nms_thresh, twin.score_thresh) == (0.4, 0.3)


def test_the_header_says_what_a_stranger_needs(tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, make_retinanet(), metadata={"licence": "MIT", "hours": 1.5, "scores": {"AP50": 0.8}})
    texts = read_safetensors_metadata(path)
    assert texts["licence"] == "MIT"
    assert json.loads(texts["scores"]) == {"AP50": 0.8}
    header = read_model_header(path)
    assert header.architecture == "RetinaNet"
    assert header.label_names == ("text", "größe")
    assert header.preprocessing["channels"] == "RGB"
    assert header.metadata["hours"] == "1.5"
    assert KEY not in header.metadata


def test_a_model_that_no_file_can_describe_is_refused(tmp_path):
    class Own(Chain):
        def __init__(self):
            with self.init_scope():
                self.fc = Linear(2, 3)

    with pytest.raises(UnsupportedError, match="save_safetensors"):
        save_model(tmp_path / "m.safetensors", Own())
    assert not (tmp_path / "m.safetensors").exists()
    with pytest.raises(ValueRangeError, match=KEY):
        save_model(tmp_path / "m.safetensors", make_resnet(), metadata={KEY: "x"})


def changed(path, change):
    """The file with another text about its model."""
    texts = read_safetensors_metadata(path)
    own = json.loads(texts[KEY])
    texts[KEY] = change(own) or json.dumps(own)
    write_safetensors(path, read_safetensors(path), metadata=texts)


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda own: "{", FileFormatError, "damaged"),
        (lambda own: "[]", FileFormatError, "damaged"),
        (lambda own: "{}", FileFormatError, "damaged"),
        (lambda own: own.update(version=2), FileFormatError, "later cvzoo"),
        (lambda own: own.update(version="1"), FileFormatError, "damaged"),
        (lambda own: own.update(settings=[]), FileFormatError, "damaged"),
        (lambda own: own.update(label_names="ab"), FileFormatError, "damaged"),
        (lambda own: own.update(label_names=["text"]), FileFormatError, "no RetinaNet"),
        (lambda own: own.update(architecture="YourNet"), UnsupportedError, "YourNet"),
        (lambda own: own["settings"].update(presets=3), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"].update(n_fg_class=10**9), FileFormatError, "n_fg_class"),
        (lambda own: own["settings"].pop("n_fg_class"), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"].update(novelty=1), FileFormatError, "novelty"),
        (lambda own: own["settings"].update(settings=[]), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"]["settings"].update(channels=10**9), FileFormatError, "channels"),
        (lambda own: own["settings"]["settings"].update(channels=True), FileFormatError, "channels"),
        (lambda own: own["settings"]["settings"].update(prior=float("nan")), FileFormatError, "prior"),
        (lambda own: own["settings"]["settings"].update(prior="low"), FileFormatError, "prior"),
        (lambda own: own["settings"]["settings"].update(anchor_sizes=[[1, None]] * 5), FileFormatError, "anchor_sizes"),
        (lambda own: own["settings"]["settings"].update(prior=10**400), FileFormatError, "prior"),
        (lambda own: own["settings"].update(presets={"visualize": [10**400, 0.5]}), FileFormatError, "presets"),
        (lambda own: own["settings"].update(limit=-3), FileFormatError, "limit"),
        (lambda own: own["settings"].update(n_fg_class="two"), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"]["settings"].update(n_layer=19), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"]["settings"].update(novelty=1), FileFormatError, "no RetinaNet"),
        (lambda own: own["settings"]["settings"].update(channels=32), WeightsMismatchError, "fpn"),
    ],
)
def test_a_damaged_description_is_told(change, error, match, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, make_retinanet())
    # dict.update returns None, and pop what it took
    changed(path, lambda own: text if isinstance(text := change(own), str) else None)
    with pytest.raises(error, match=match):
        load_model(path)


def test_a_network_larger_than_its_file_is_refused_before_it_is_allocated(tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, make_retinanet())
    changed(path, lambda own: own["settings"]["settings"].update(channels=4096))  # 600 MB a convolution
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match="make no RetinaNet: Parameter: too many elements"):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_foreign_and_cut_files_are_told(tmp_path):
    path = tmp_path / "m.safetensors"
    write_safetensors(path, {"a": np.zeros(3, np.float32)})
    with pytest.raises(FileFormatError, match="which model"):
        load_model(path)
    path.write_bytes(b"no such thing at all")
    with pytest.raises(WeightsError):
        load_model(path)
    save_model(path, make_resnet())
    whole = path.read_bytes()
    for n in (0, 7, 100, len(whole) - 1):
        path.write_bytes(whole[:n])
        with pytest.raises(WeightsError):
            load_model(path)
    with pytest.raises((WeightsError, OSError)):
        load_model(tmp_path / "nowhere.safetensors")


def test_an_unwritable_place_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    save_model(path, make_resnet())
    before = path.read_bytes()
    model = make_resnet()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises((OSError, WeightsError)):
        save_model(path, model)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.safetensors"]


@pytest.mark.parametrize("error", [MemoryError, ZeroDivisionError, OverflowError])
def test_settings_that_no_machine_can_build_are_told(error, tmp_path, monkeypatch):
    def build(*_):
        raise error("too large")

    save_model(tmp_path / "m.safetensors", make_resnet())
    monkeypatch.setattr("cvzoo.links.model.architecture.Architecture.build", build)
    with pytest.raises(FileFormatError, match="make no ResNet: too large"):
        load_model(tmp_path / "m.safetensors")


@pytest.mark.parametrize("name", ["mean", "std"])
def test_a_preparation_with_numbers_that_are_no_floats_is_told(name, tmp_path):
    path = tmp_path / "m.safetensors"
    save_model(path, make_resnet())
    changed(path, lambda own: own["settings"]["preparation"].update({name: [10**400, 1, 1]}))
    with pytest.raises(FileFormatError, match="no ResNet"):
        load_model(path)
