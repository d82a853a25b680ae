"""`cvzoo benchmark`: what is measured and written; times themselves are not looked at."""

import importlib.util
import itertools
import json
import pathlib
import types

import numpy as np
import pytest
from neighbour import module_at
from PIL import Image

import cvzoo.links as L
from cvzoo.cli import benchmark, benchmark_runtimes
from cvzoo.cli.benchmark import STAGES, measure_stages
from cvzoo.cli.benchmark_runtimes import compare_runtimes, percentiles
from cvzoo.cli.main import main
from cvzoo.serializers import load_model, save_model

ZOO = pathlib.Path(__file__).parents[1] / "links" / "model"
LISTS = {
    "CLASSIFIERS": module_at(ZOO / "test_classifier_conformance.py"),
    "MAKERS": module_at(ZOO / "test_detector_conformance.py"),
    "SEGMENTERS": module_at(ZOO / "test_segmenter_conformance.py"),
    "MODELS": module_at(ZOO / "test_instance_networks.py"),
}
NETWORKS = [(listed, name) for listed, module in LISTS.items() for name in vars(module)[listed]]
HAS_RUNTIME = importlib.util.find_spec("onnxruntime") is not None


@pytest.fixture
def imgs(tmp_path):
    """A folder of three images."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for i in range(3):
        img = np.random.default_rng(i).integers(0, 256, (40, 50 + i, 3), np.uint8)
        Image.fromarray(img).save(folder / f"{i}.png")
    return folder


@pytest.fixture
def classifier(tmp_path):
    """The file of a small classifier."""
    np.random.seed(0)
    path = tmp_path / "classifier.safetensors"
    save_model(path, L.ResNet(10, 3, base_channels=8, stem="cifar"))
    return path


@pytest.mark.filterwarnings("default")
def test_a_model_with_nan_is_told_and_agrees_with_no_runtime(imgs, classifier, capsys):
    pytest.importorskip("onnxruntime")
    model = load_model(classifier)
    model.fc.W.array[0, 0] = np.nan
    save_model(classifier, model)
    words = ["benchmark", str(classifier), "--images", str(imgs), "--calls", "1", "--runtimes", "onnxruntime"]
    assert main(words) == 1
    printed, told = capsys.readouterr()
    assert "OUTPUTS DIFFER" in printed
    assert "1 parameter of the model contains NaN or infinity, such as /fc/W" in told


class Steps:
    """A clock that advances by one at each look."""

    def __init__(self):
        self.counter = itertools.count()

    def __call__(self):
        return float(next(self.counter))


@pytest.mark.parametrize("batch_size", [1, 2])
def test_each_call_is_split_into_stages_that_add_up(batch_size, imgs, classifier):
    model = L.retinanet_text()
    paths = sorted(map(str, imgs.iterdir()))
    before = vars(model).copy()
    seconds = measure_stages(model, paths, batch_size=batch_size, calls=4, clock=Steps())
    assert list(seconds) == [*STAGES, "total"]
    assert {len(each) for each in seconds.values()} == {4}
    for k in range(4):
        assert sum(seconds[name][k] for name in STAGES) == seconds["total"][k]
        assert seconds["decode"][k] == seconds["prepare"][k] == batch_size  # a look before and after each
        assert seconds["network"][k] in (1, batch_size)  # images of several shapes are not one batch
        assert seconds["postprocess"][k] > 0
    assert vars(model) == before


@pytest.mark.parametrize(("listed", "name"), NETWORKS, ids=[name for _, name in NETWORKS])
def test_the_network_of_every_family_is_found(listed, name, imgs):
    model = LISTS[listed]._made(name)
    seconds = measure_stages(model, [str(imgs / "0.png")], batch_size=1, calls=1, clock=Steps())
    assert seconds["network"][0] > 0
    assert seconds["prepare"] == seconds["decode"] == [1]


def test_results_have_a_row_per_batch_size_and_facts_of_the_machine(imgs, classifier, tmp_path, capsys):
    out = tmp_path / "b.json"
    words = [
        "benchmark",
        str(classifier),
        "--images",
        str(imgs),
        "--batch-size",
        "1,2",
        "--calls",
        "2",
        "--out",
        str(out),
    ]
    assert main([*words, "--runtimes", "none"]) == 0
    record = json.loads(out.read_bytes())
    assert [each["batch_size"] for each in record["results"]] == [1, 2]
    for each in record["results"]:
        assert set(each["milliseconds"]) == {*STAGES, "total"}
        assert set(each["milliseconds"]["total"]) == {"p50", "p90", "p99", "mean"}
        assert each["images_per_second"] > 0
    assert (record["class"], record["n_image"], record["calls"], record["runtimes"]) == ("ResNet", 3, 2, [])
    assert record["machine"]["cvzoo"]
    printed = capsys.readouterr().out
    for words in ("ResNet, 3 images, 2 calls", "batch size 2", "postprocess", "images/s"):
        assert words in printed


def test_other_numbers_of_threads_are_measured_in_processes_of_their_own(imgs, classifier, monkeypatch, capsys):
    started = []
    part = {"class": "ResNet", "results": [], "runtimes": [], "notes": ["a note"], "busy": "a busy machine"}

    def run(words, *, env, stdout, text):
        started.append((words[2:4], env["CVZOO_NUM_THREADS"], env["OMP_NUM_THREADS"]))
        return types.SimpleNamespace(stdout=json.dumps(part) + "\n", returncode=0)

    monkeypatch.setattr(benchmark.subprocess, "run", run)
    assert main(["benchmark", str(classifier), "--photos", str(imgs), "--threads", "3,5"]) == 0
    assert started == [(["cvzoo", "benchmark"], "3", "3"), (["cvzoo", "benchmark"], "5", "5")]
    printed = capsys.readouterr().out
    assert printed.count("a note") == 1
    assert "unreliable: a busy machine" in printed
    monkeypatch.setattr(benchmark.subprocess, "run", lambda *_, **__: types.SimpleNamespace(stdout="", returncode=1))
    assert main(["benchmark", str(classifier), "--photos", str(imgs), "--threads", "3"]) == 2
    assert "with 3 threads failed" in capsys.readouterr().err


@pytest.mark.skipif(not HAS_RUNTIME, reason="needs ONNX Runtime")
@pytest.mark.parametrize("make", [lambda: L.ResNet(10, 3, base_channels=8, stem="cifar"), L.retinanet_text])
def test_the_exported_network_gives_the_same_outputs(make, imgs):
    np.random.seed(0)
    model = make()
    img = np.random.default_rng(0).uniform(0, 255, (3, 40, 50)).astype(np.float32)
    (found,), notes = compare_runtimes(model, [img, img], ("onnxruntime",), calls=1, n_thread=1)
    assert notes == []
    assert found["agrees"]
    assert found["difference"] <= 1e-3 * found["scale"]
    assert (found["runtime"], found["input"][0]) == ("ONNX Runtime", 2)


def test_outputs_that_differ_are_said_and_the_status_is_1(imgs, classifier, monkeypatch, capsys):
    monkeypatch.setitem(
        benchmark_runtimes._SESSIONS, "onnxruntime", lambda file, n: lambda x: [np.ones((len(x), 3), np.float32)]
    )
    monkeypatch.setattr(benchmark_runtimes.importlib.metadata, "version", lambda name: "1")
    words = ["benchmark", str(classifier), "--images", str(imgs), "--calls", "1", "--runtimes", "onnxruntime"]
    assert main(words) == 1
    assert "OUTPUTS DIFFER" in capsys.readouterr().out


def test_a_network_that_cannot_be_exported_is_measured_without_runtimes(imgs, tmp_path, capsys):
    model = L.ResNet(10, 3, base_channels=8, stem="cifar")
    img = np.random.default_rng(0).integers(0, 256, (3, 32, 32), np.uint8)
    save_model(tmp_path / "int8.safetensors", model.quantize([img], least_work=1))
    words = ["benchmark", str(tmp_path / "int8.safetensors"), "--images", str(imgs), "--calls", "1"]
    assert main([*words, "--runtimes", "onnxruntime"]) == 0
    assert "not compared with other runtimes: ONNX: a quantized ResNet is not exported" in capsys.readouterr().out


def test_percentiles_are_milliseconds():
    found = percentiles([0.001 * k for k in range(1, 101)])
    assert found["p50"] == pytest.approx(50.5)
    assert found["p90"] < found["p99"] < 100
    assert found["mean"] == pytest.approx(50.5)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--images"),
        (["--images", "DIR"], "no model was given"),
        (["nothing", "--images", "DIR"], "the zoo has no model"),
        (["retinanet_text", "--images", "nowhere"], "nowhere"),
        (["retinanet_text", "--images", "EMPTY"], "no images"),
        (["retinanet_text", "--images", "TEXT"], "text.png"),
        (["retinanet_text", "--images", "DIR", "--threads", "0"], "--threads: 0 is not a positive number"),
        (["retinanet_text", "--images", "DIR", "--batch-size", "1,-2"], "-2 is not a positive number"),
        (["retinanet_text", "--images", "DIR", "--calls", "0"], "positive"),
        (["retinanet_text", "--images", "DIR", "--runtimes", "tensorrt"], "'tensorrt' is unknown"),
        (["retinanet_text", "--images", "DIR", "--out", "nowhere/b.json"], "does not exist"),
        (["retinanet_text", "--images", "DIR", "--cfg", "a.cfg"], "cannot be combined"),
    ],
)
def test_what_cannot_be_measured_is_one_clear_error(words, says, imgs, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.png").write_text("no image")
    names = {"DIR": str(imgs), "EMPTY": str(tmp_path / "empty"), "TEXT": str(tmp_path / "text.png")}
    try:
        status = main(["benchmark", *(names.get(word, word) for word in words)])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert says in capsys.readouterr().err


@pytest.mark.skipif(importlib.util.find_spec("openvino") is not None, reason="OpenVINO is installed")
def test_a_runtime_that_is_not_installed_is_an_error_with_its_command(imgs, classifier, capsys):
    words = ["benchmark", str(classifier), "--images", str(imgs), "--calls", "1", "--runtimes", "openvino"]
    assert main(words) == 2
    assert "pip install openvino" in capsys.readouterr().err
