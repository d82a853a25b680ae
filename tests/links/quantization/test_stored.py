"""Quantized models in files: the same bits from a quarter of the bytes, and nothing taken on trust."""

import json
import os

import numpy as np
import pytest
from processor import needs_bf16

from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import no_backprop_mode, using_config
from cvzoo.errors.exceptions import CvzooError, FileFormatError, GraphError, UnsupportedError, ValueRangeError
from cvzoo.links.model.convnext.convnext import ConvNeXt, ConvNeXtDimensions
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.quantization import stored
from cvzoo.serializers import load_model, save_model
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata, write_safetensors
from cvzoo.weights.model_header import read_model_header


def _resnet():
    return ResNet(10, 4, label_names=("a", "b", "c", "d"), base_channels=16, stem="cifar", norm="batch")


def _convnext():
    model = ConvNeXt(n_class=4, plan=ConvNeXtDimensions((16, 16, 32, 32), (1, 1, 1, 1), 0.0))
    for name, parameter in model.namedparams():
        if name.endswith("/scale") and parameter.array.ndim == 1:
            parameter.array[...] = np.linspace(-1, 1, parameter.array.size)
    return model


@pytest.fixture(scope="module")
def photos():
    rng = np.random.default_rng(0)
    return [(rng.random((3, 40, 40)) * 255).astype(np.float32) for _ in range(4)]


@pytest.fixture(scope="module", params=[_resnet, _convnext])
def network(request, photos):
    set_seed(2)
    model = request.param()
    with using_config("train", True), no_backprop_mode():  # statistics of the normalizations
        for _ in range(5):
            model(np.stack([model.prepare(img) for img in photos]))
    return model


@pytest.fixture
def resnet(photos):
    set_seed(2)
    return _resnet().quantize(photos)


@pytest.mark.parametrize(
    "how", [{}, {"first_and_last": False, "least_work": 0, "max_error": 10}], ids=["default", "all"]
)
def test_a_quantized_model_comes_back_with_the_same_bits(network, photos, tmp_path, how):
    model = network.quantize(photos, **how)
    expected = np.asarray(model.predict(photos))
    save_model(tmp_path / "m.safetensors", model)
    twin = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(np.asarray(twin.predict(photos)), expected)
    assert type(twin) is type(model)
    assert str(twin.quantization_report) == str(model.quantization_report)
    with pytest.raises(GraphError, match="quantized already"):
        twin.quantize(photos)
    for _, parameter in twin.namedparams():
        parameter.array.sum()  # who looks at the weights does not change them
    np.testing.assert_array_equal(np.asarray(twin.predict(photos)), expected)
    save_model(tmp_path / "again.safetensors", twin)
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()


def test_bytes_take_a_quarter_of_the_room(photos, tmp_path):
    set_seed(2)
    model = ResNet(18, 4, base_channels=32, stem="cifar")
    save_model(tmp_path / "float.safetensors", model)
    quantized = model.quantize(photos)
    save_model(tmp_path / "int8.safetensors", quantized)
    whole, small = (os.path.getsize(tmp_path / f"{name}.safetensors") for name in ("float", "int8"))
    assert small < 0.27 * whole
    dtypes = {name: array.dtype for name, array in read_safetensors(tmp_path / "int8.safetensors").items()}
    n_quantized = quantized.quantization_report.n_quantized
    assert sum(dtype == np.int8 for dtype in dtypes.values()) == n_quantized >= 17
    assert sum(name.endswith("/W_steps") for name in dtypes) == n_quantized


@needs_bf16
def test_bfloat16_comes_back_and_is_refused_where_there_is_none(network, photos, tmp_path, monkeypatch):
    model = network.quantize(photos, precision="bf16")
    save_model(tmp_path / "m.safetensors", model)
    twin = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(np.asarray(twin.predict(photos)), np.asarray(model.predict(photos)))
    assert any(each.gives_bytes for each in twin.quantization_report)
    assert str(twin.quantization_report) == str(model.quantization_report)
    monkeypatch.setattr(stored, "why_no_bf16", lambda: "the processor is old")
    with pytest.raises(UnsupportedError, match="the processor is old"):
        load_model(tmp_path / "m.safetensors")


def test_metadata_cannot_take_the_name(resnet, tmp_path):
    with pytest.raises(ValueRangeError, match="cvzoo_quantization"):
        save_model(tmp_path / "m.safetensors", resnet, metadata={stored.KEY: "x"})
    assert not list(tmp_path.iterdir())


def _set(**values):
    return lambda text: text.update(values)


def _of_layer(**values):
    return lambda text: next(row for row in text["layers"] if row["precision"] == "int8").update(values)


TEXTS = {
    "no layers": _set(layers=None),
    "another version": _set(version="1"),
    "an unknown precision": _set(precision="int4"),
    "an unknown method": _set(method="magic"),
    "a layer too few": lambda text: text["layers"].pop(),
    "a layer twice": lambda text: text["layers"].append(text["layers"][0]),
    "a layer that is none": lambda text: text["layers"].append(7),
    "a layer that is not there": _of_layer(path="/nowhere"),
    "another kind": _of_layer(kind="Linear"),
    "a step of nothing": _of_layer(scale=0),
    "a step below nothing": _of_layer(scale=-1.0),
    "a step too large": _of_layer(scale=1e60),
    "a step that is a word": _of_layer(scale="1"),
    "a step that is true": _of_layer(scale=True),
    "a sign that is a number": _of_layer(signed=1),
    "bytes that mean nothing": _of_layer(gives_bytes=[1.0]),
    "bytes that mean a word": _of_layer(gives_bytes=["1", True]),
    "a reason without a cause": _of_layer(why="first"),
    "another field": _of_layer(run="rm -rf"),
}


def _tampered(path, change):
    texts = dict(read_safetensors_metadata(path))
    text = json.loads(texts[stored.KEY])
    change(text)
    write_safetensors(path, read_safetensors(path), metadata=texts | {stored.KEY: json.dumps(text)})


@pytest.mark.parametrize("change", TEXTS.values(), ids=TEXTS)
def test_damaged_texts_are_refused(resnet, tmp_path, change):
    path = tmp_path / "m.safetensors"
    save_model(path, resnet)
    _tampered(path, change)
    with pytest.raises(FileFormatError, match=r"m\.safetensors"):
        load_model(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"version": NaN}', "[" * 100000])
def test_texts_that_are_no_descriptions_are_refused(resnet, tmp_path, text):
    path = tmp_path / "m.safetensors"
    save_model(path, resnet)
    texts = dict(read_safetensors_metadata(path)) | {stored.KEY: text}
    write_safetensors(path, read_safetensors(path), metadata=texts)
    with pytest.raises(FileFormatError, match="damaged"):
        load_model(path)


def test_a_later_version_is_named(resnet, tmp_path):
    save_model(tmp_path / "m.safetensors", resnet)
    _tampered(tmp_path / "m.safetensors", _set(version=2))
    with pytest.raises(UnsupportedError, match="later cvzoo"):
        load_model(tmp_path / "m.safetensors")


def _without(name):
    return lambda arrays, path: arrays.pop(path + name)


def _changed(name, change):
    def apply(arrays, path):
        arrays[path + name] = change(arrays[path + name])

    return apply


ARRAYS = {
    "no bytes": _without("W"),
    "no steps": _without("W_steps"),
    "numbers for bytes": _changed("W", lambda W: W.astype(np.float32)),
    "bytes without a sign": _changed("W", lambda W: W.view(np.uint8)),
    "a byte of -128": _changed("W", lambda W: np.where(W.min() == W, np.int8(-128), W)),
    "filters that use half of the bytes": _changed("W", lambda W: W // 2),
    "a step too few": _changed("W_steps", lambda steps: steps[1:]),
    "steps below nothing": _changed("W_steps", lambda steps: -steps),
    "steps of nothing": _changed("W_steps", lambda steps: 0 * steps),
    "steps that are no numbers": _changed("W_steps", lambda steps: steps * np.float32(np.nan)),
    "steps of other bits": _changed("W_steps", lambda steps: np.nextafter(steps, np.float32(1))),
    "steps as halves": _changed("W_steps", lambda steps: steps.astype(np.float16)),
    "filters of another size": _changed("W", lambda W: W[:, :1]),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS)
def test_damaged_arrays_are_refused(resnet, tmp_path, change):
    path = tmp_path / "m.safetensors"
    save_model(path, resnet)
    layer = next(each.path for each in resnet.quantization_report if each.precision == "int8").strip("/")
    arrays = read_safetensors(path)
    change(arrays, layer + "/")
    write_safetensors(path, arrays, metadata=read_safetensors_metadata(path))
    with pytest.raises(CvzooError) as caught:
        load_model(path)
    assert layer in str(caught.value)


def test_bytes_without_their_text_and_a_text_without_bytes_are_refused(resnet, photos, tmp_path):
    path, plain = tmp_path / "m.safetensors", tmp_path / "plain.safetensors"
    save_model(path, resnet)
    texts = dict(read_safetensors_metadata(path))
    text = texts.pop(stored.KEY)
    write_safetensors(plain, read_safetensors(path), metadata=texts)
    with pytest.raises(CvzooError, match="W_steps"):
        load_model(plain)
    save_model(plain, _resnet())
    assert read_model_header(plain).metadata == {}
    write_safetensors(plain, read_safetensors(plain), metadata=texts | {stored.KEY: text})
    with pytest.raises(FileFormatError, match="no bytes with steps"):
        load_model(plain)
