"""`cvzoo convert`."""

import json
import shutil

import numpy as np
import pytest

from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.serializers.model_file import load_model, save_model
from cvzoo.weights.formats.npz import write_npz


@pytest.fixture
def published(shared, tmp_path):
    """A published file, under another name."""
    path = tmp_path / "downloaded.th"
    shutil.copy(shared / "weights" / "resnet20_cifar10" / "resnet20-12fca82f.th", path)
    return path


def test_a_published_file_is_recognised_and_certified(run, published, tmp_path):
    out = tmp_path / "resnet20.safetensors"
    status, printed, errors = run("convert", published, "--to", out)
    assert (status, errors) == (0, "")
    assert "CIFARResNet" in printed
    assert "by its sha256" in printed
    certificate = json.loads((tmp_path / "resnet20.certificate.json").read_text())
    assert certificate["source"]["sha256"].startswith("12fca82f")
    assert certificate["greatest_difference"] == 0
    assert load_model(out).n_layer == 20


def test_the_model_may_be_named_and_a_model_file_be_converted_again(run, published, tmp_path):
    out, half = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    assert run("convert", published, "--to", out, "--model", "cifar_resnet20_cifar10")[0] == 0
    status, printed, _ = run("convert", out, "--to", half, "--half", "--certificate", tmp_path / "half.json")
    assert status == 0
    assert "says so itself" in printed
    assert half.stat().st_size < out.stat().st_size
    assert json.loads((tmp_path / "half.json").read_text())["half"] is True


def test_what_does_not_fit_is_an_error_and_leaves_nothing_behind(run, published, tmp_path):
    out = tmp_path / "out.safetensors"
    status, _, errors = run("convert", published, "--to", out, "--model", "cifar_resnet32_cifar10")
    assert status == 2
    assert "missing in the file" in errors
    assert not out.exists()


def test_a_file_of_nothing_known_is_an_error_that_says_what_was_tried(run, tmp_path):
    write_npz(tmp_path / "x.npz", {"x": np.arange(3.0, dtype="f4")})
    status, _, errors = run("convert", tmp_path / "x.npz", "--to", tmp_path / "out.safetensors")
    assert status == 2
    assert "fits no model of the zoo" in errors


@pytest.mark.parametrize(
    ("name", "why"),
    [("yolo_fastest", "is not made from one file"), ("resnet50_imagenet", "classifier is missing")],
)
def test_a_named_model_says_why_the_file_does_not_fit(run, published, tmp_path, name, why):
    """As the error of a file that fits nothing promises."""
    status, _, errors = run("convert", published, "--to", tmp_path / "out.safetensors", "--model", name)
    assert status == 2
    assert why in errors


def test_another_ending_is_refused_before_anything_is_read(run, tmp_path):
    status, _, errors = run("convert", tmp_path / "none", "--to", tmp_path / "out.pth")
    assert status == 2
    assert ".safetensors" in errors


@pytest.mark.parametrize("name", ["yolo_fastest", "no_such_model"])
def test_a_model_that_no_file_makes_is_an_error(run, published, tmp_path, name):
    status, _, errors = run("convert", published, "--to", tmp_path / "o.safetensors", "--model", name)
    assert status == 2
    assert name in errors


def test_numbers_that_are_none_are_refused_and_nothing_is_written(run, tmp_path):
    model = CIFARResNet(8, 4)
    model.fc.W.array[0, 0] = np.nan
    save_model(tmp_path / "nan.safetensors", model)
    status, _, errors = run("convert", tmp_path / "nan.safetensors", "--to", tmp_path / "out.safetensors")
    assert status == 2
    assert "NaN" in errors
    assert "fc/W" in errors
    assert [path.name for path in tmp_path.iterdir()] == ["nan.safetensors"]


def test_what_is_written_takes_no_other_files_place(run, tmp_path):
    source, out = tmp_path / "net.safetensors", tmp_path / "out.safetensors"
    save_model(source, CIFARResNet(8, 4))
    before = source.read_bytes()
    for options in (
        ("--to", source, "--half"),
        ("--to", out, "--certificate", out),
        ("--to", out, "--certificate", source),
        ("--to", out, "--certificate", tmp_path / "missing" / "out.json"),
    ):
        status, _, errors = run("convert", source, *options)
        assert status == 2, options
        assert errors.startswith("cvzoo convert: error: ")
        assert source.read_bytes() == before
        assert not out.exists()


def test_the_source_of_a_certificate_is_not_held_to_it(run, tmp_path):
    source = tmp_path / "net.npz"  # whatever its ending says
    save_model(source, CIFARResNet(8, 4))
    assert run("convert", source, "--to", tmp_path / "net.safetensors", "--half")[0] == 0
    status, printed, _ = run("verify", source)
    assert status == 0
    assert "WRONG" not in printed


def test_a_network_of_darknets_files_is_converted(run, net, photos, tmp_path):
    cfg, weights, names = net[1], net[3], net[5]
    out = tmp_path / "tiny.safetensors"
    status, printed, errors = run("convert", weights, "--cfg", cfg, "--names", names, "--to", out)
    assert (status, errors) == (0, "")
    assert "DarknetDetector" in printed
    assert "belongs to" in printed
    certificate = json.loads((tmp_path / "tiny.certificate.json").read_text())
    assert certificate["greatest_difference"] == certificate["outputs"]["greatest_difference"] == 0
    assert load_model(out).label_names == ("cat", "dog")
    again = tmp_path / "again.safetensors"
    assert run("convert", *net, "--to", again)[0] == 0
    assert again.read_bytes() == out.read_bytes()


def test_options_of_darknet_that_do_not_go_together_are_refused(run, net, tmp_path):
    cfg, weights = net[1], net[3]
    out = tmp_path / "out.safetensors"
    for words, says in [
        ((weights,), "--cfg FILE"),
        (("--cfg", cfg), "--weights FILE"),
        ((weights, *net), "two files"),
        ((weights, "--cfg", cfg, "--model", "yolo_fastest_coco"), "exclude each other"),
        ((weights, "--resize", "stretch"), "--resize"),
        ((), "no model was given"),
    ]:
        status, _, errors = run("convert", *words, "--to", out)
        assert status == 2, words
        assert says in errors
        assert not out.exists()
