"""A detector of a user's own on the command line: `--architecture FILE.py:CLASS`."""

import json
import pathlib
import sys

import pytest
from neighbour import module_at

from cvzoo.cli.own_architecture import own_architecture
from cvzoo.errors.exceptions import ConfigError
from cvzoo.images.read_image import read_image
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet
from cvzoo.serializers.model_file import save_model

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "own_detector.py"
OWN = ["--architecture", f"{EXAMPLE}:PointDetector"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.safetensors"
    module_at(EXAMPLE).main(path)
    return path


def test_predict_finds_with_it(run, photos, model_file):
    words = ["--model", model_file, *OWN, "--score-thresh", "0.2"]
    status, printed, errors = run("predict", photos / "a.jpg", *words)
    assert (status, errors) == (0, "")
    assert "class 0" in printed


def test_evaluate_scores_it(run, photos, model_file, tmp_path):
    height, width = read_image(photos / "a.jpg").shape[1:]
    truth = {
        "images": [{"id": 1, "file_name": "a.jpg", "height": height, "width": width}],
        "categories": [{"id": i + 1, "name": f"class {i}"} for i in range(3)],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "area": 81, "iscrowd": 0},
        ],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    words = ["--data", f"coco:{tmp_path / 'truth.json'}", "--photos", photos]
    status, printed, errors = run("evaluate", "--model", model_file, *OWN, *words)
    assert (status, "error" in errors) == (0, False)
    assert "map" in printed.lower() or "ap" in printed.lower()


def test_verify_finds_all_in_order(run, model_file):
    status, printed, errors = run("verify", model_file, *OWN)
    assert (status, errors) == (0, "")
    assert "saved and loaded      ok" in printed


def test_export_writes_its_network(run, model_file, tmp_path):
    pytest.importorskip("onnxruntime", reason="needs ONNX Runtime: pip install onnxruntime")
    words = ["--format", "onnx", "--to", tmp_path / "out.onnx"]
    status, printed, errors = run("export", model_file, *OWN, *words, "--no-boxes")
    assert (status, errors) == (0, "")
    assert "ONNX Runtime differs by at most" in printed
    status, printed, errors = run("export", model_file, *OWN, *words, "--preset", "evaluate")
    assert (status, errors) == (0, "")
    assert "boxes (found, 4)" in printed
    assert "and 0 others" in printed


@pytest.mark.parametrize(
    "words", [("predict", "a.jpg", "--model", "FILE"), ("verify", "FILE"), ("export", "FILE", "--format", "onnx")]
)
def test_without_the_option_the_error_names_the_class_and_the_option(words, run, photos, model_file, tmp_path):
    words = [photos / word if word == "a.jpg" else model_file if word == "FILE" else word for word in words]
    if words[0] == "export":
        words += ["--to", tmp_path / "out.onnx"]
    status, _, error = run(*words)
    assert status == 2
    assert "'PointDetector' is no architecture of the zoo" in error
    assert "--architecture FILE.py:PointDetector" in error


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (str(EXAMPLE), "name a class"),
        (f"{EXAMPLE}:", "name a class"),
        (":PointDetector", "name a class"),
        (f"{EXAMPLE}:Pointdetector", "PointDetector"),
        (f"{EXAMPLE}:PointDetectorConfig", "subclass of Chain"),
        (f"{EXAMPLE}:MEAN", "subclass of Chain"),
        ("nowhere.py:Net", "the file nowhere.py does not exist"),
        ("no.such.module:Net", "cannot be imported"),
        ("cvzoo.links:Linear", "subclass of Chain"),
        ("json:JSONDecoder", "subclass of Chain"),
    ],
)
def test_what_is_no_architecture_is_told(words, expected):
    with pytest.raises(ConfigError, match=expected) as caught:
        own_architecture(words)
    assert "--architecture" in str(caught.value).split("\n")[0]


@pytest.mark.parametrize("text", ["1 / 0", "def", "import no_such_module", "\0"])
def test_a_file_that_does_not_run_is_told(text, tmp_path):
    (tmp_path / "net.py").write_text(text)
    before = list(sys.path), set(sys.modules)
    with pytest.raises(ConfigError, match="cannot be imported"):
        own_architecture(f"{tmp_path / 'net.py'}:Net")
    assert (list(sys.path), set(sys.modules)) == before


def test_modules_beside_the_file_can_be_imported(tmp_path):
    (tmp_path / "beside_the_net.py").write_text("N = 3\n")
    text = EXAMPLE.read_text().replace("import argparse\n", "import argparse\n\nimport beside_the_net\n")
    (tmp_path / "net.py").write_text(text)
    assert own_architecture(f"{tmp_path / 'net.py'}:PointDetector").__name__ == "PointDetector"
    assert str(tmp_path) not in sys.path
    sys.modules.pop("beside_the_net")


def test_a_class_of_a_module_is_found_from_the_present_folder(tmp_path, monkeypatch):
    (tmp_path / "package_of_nets").mkdir()
    (tmp_path / "package_of_nets" / "points.py").write_text(EXAMPLE.read_text())
    monkeypatch.chdir(tmp_path)
    assert own_architecture("package_of_nets.points:PointDetector").__name__ == "PointDetector"
    for name in ("package_of_nets.points", "package_of_nets"):
        sys.modules.pop(name)


def test_another_class_than_the_files_is_told(run, photos, tmp_path):
    save_model(tmp_path / "m.safetensors", CIFARResNet(8, 3))
    status, _, error = run("predict", photos / "a.jpg", "--model", tmp_path / "m.safetensors", *OWN)
    assert status == 2
    assert "holds a CIFARResNet, not a PointDetector" in error


@pytest.mark.parametrize("words", [("predict", "a.jpg", "--model", "yolo_fastest"), ("verify", "yolo_fastest")])
def test_a_member_of_the_zoo_needs_no_class(words, run, photos):
    status, _, error = run(*[photos / word if word == "a.jpg" else word for word in words], *OWN)
    assert status == 2
    assert "--architecture applies to model FILE" in error


@pytest.mark.parametrize("code", ["", "3", "'no arguments'"])
def test_a_script_that_ends_the_process_where_it_is_imported_is_told(tmp_path, code):
    file = tmp_path / "script.py"
    file.write_text(f"import sys\nsys.exit({code})\n")
    with pytest.raises(ConfigError, match=r"sys\.exit"):
        own_architecture(f"{file}:Net")


def test_a_script_that_takes_itself_out_of_the_modules_is_told(tmp_path):
    file = tmp_path / "script.py"
    file.write_text("import sys\ndel sys.modules[__name__]\n1 / 0\n")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        own_architecture(f"{file}:Net")
