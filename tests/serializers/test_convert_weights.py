import functools
import json

import numpy as np
import pytest

from cvzoo.errors.exceptions import FileError, WeightsMismatchError
from cvzoo.links.model.raw_outputs import raw_outputs, same_bits, seeded_photo
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.serializers.convert_weights import convert_weights, normalization_eps
from cvzoo.serializers.model_file import load_model
from cvzoo.serializers.npz import save_npz
from cvzoo.weights.formats.npz import read_npz, write_npz
from cvzoo.weights.model_header import read_model_header

TINY = functools.partial(ResNet, 10, 5, base_channels=4, insize=32, short=36)


def load(path):
    return TINY(pretrained_model=path)


@pytest.fixture
def source(tmp_path):
    model = TINY()
    rng = np.random.default_rng(0)
    model.load_arrays(
        {name: a if not a.ndim else rng.uniform(0.5, 1.5, a.shape) for name, a in model.state_arrays().items()}
    )
    save_npz(tmp_path / "source.npz", model)
    return tmp_path / "source.npz"


def test_the_result_says_what_it_is_and_gives_the_same_bits(source, tmp_path):
    certificate = convert_weights(source, tmp_path / "out.safetensors", load, why="the test says so")
    photo = seeded_photo()
    assert same_bits([raw_outputs(load(source), photo)], [raw_outputs(load_model(tmp_path / "out.safetensors"), photo)])
    assert json.loads(json.dumps(certificate)) == certificate
    assert certificate["greatest_difference"] == certificate["outputs"]["greatest_difference"] == 0
    assert certificate["model"]["normalization_eps"] == [1e-5]
    assert certificate["model"]["class"] == "ResNet"
    assert certificate["counts"] == {"same": len(certificate["tensors"])}
    assert len(certificate["tensors"]) == sum(a.ndim > 0 for a in read_npz(source).values())
    header = read_model_header(tmp_path / "out.safetensors")
    assert json.loads(header.metadata["converted_from"]) == {
        "file": "source.npz",
        "sha256": certificate["source"]["sha256"],
    }


def test_half_the_size_is_told_as_a_difference(source, tmp_path):
    whole = convert_weights(source, tmp_path / "whole.safetensors", load, why="")
    half = convert_weights(source, tmp_path / "half.safetensors", load, why="", half=True)
    assert half["result"]["size"] < 0.7 * whole["result"]["size"]
    assert 0 < half["greatest_difference"] < 1e-2
    assert half["outputs"]["greatest_difference"] > 0


def test_an_array_too_many_or_too_few_is_named_and_nothing_is_written(source, tmp_path):
    arrays = read_npz(source)
    write_npz(tmp_path / "more.npz", {**arrays, "surplus": np.ones(3, "f4")})
    write_npz(tmp_path / "fewer.npz", {name: a for name, a in arrays.items() if name != "fc/W"})
    for name, word in (("more", "surplus"), ("fewer", "fc/W")):
        with pytest.raises(WeightsMismatchError, match=word):
            convert_weights(tmp_path / f"{name}.npz", tmp_path / "out.safetensors", load, why="")
    assert not (tmp_path / "out.safetensors").exists()


def test_a_converter_that_forgets_an_array_is_caught_by_the_numbers(source, tmp_path):
    arrays = read_npz(source)
    write_npz(tmp_path / "more.npz", {**arrays, "surplus": np.full(3, 7, "f4")})
    with pytest.raises(WeightsMismatchError, match="1 array went nowhere: surplus"):
        convert_weights(tmp_path / "more.npz", tmp_path / "out.safetensors", lambda path: load(source), why="")
    write_npz(tmp_path / "fewer.npz", {name: a for name, a in arrays.items() if name != "fc/W"})
    with pytest.raises(WeightsMismatchError, match="came from nowhere"):
        convert_weights(tmp_path / "fewer.npz", tmp_path / "out.safetensors", lambda path: load(source), why="")
    assert not (tmp_path / "out.safetensors").exists()


def test_a_model_that_started_something_anew_is_refused(source, tmp_path):
    def other_classes(path):
        return TINY.func(10, 7, path, base_channels=4, insize=32, short=36)

    with pytest.raises(WeightsMismatchError, match="fc/"):
        convert_weights(source, tmp_path / "out.safetensors", other_classes, why="")


def test_an_absent_file_is_an_error(tmp_path):
    with pytest.raises((FileError, ValueError)):
        convert_weights(tmp_path / "none.npz", tmp_path / "out.safetensors", load, why="")


def test_the_eps_of_frozen_normalizations_is_stated():
    assert normalization_eps(ResNet(10, 2, base_channels=4, norm="frozen", eps=0.0)) == [0.0]


def test_a_table_that_the_network_computes_for_itself_may_be_left_out(source, tmp_path):
    arrays = {**read_npz(source), "attn.relative_coords_table": np.full((2, 2), 7, "f4")}
    write_npz(tmp_path / "more.npz", arrays)
    certificate = convert_weights(tmp_path / "more.npz", tmp_path / "out.safetensors", lambda _: load(source), why="")
    assert "attn.relative_coords_table" in certificate["dropped"]
