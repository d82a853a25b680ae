"""`cvzoo simulate`."""

import json

import pytest

SMALL = ("simulate", "--model", "squeezenet1_1", "--step-seconds", "0.1")


def test_the_prediction_says_speed_up_efficiency_and_why(run):
    status, printed, _ = run(*SMALL, "--nodes", "4", "--gpus", "2", "--link", "1gbit", "--inside", "pcie3")
    assert status == 0
    assert printed.startswith("squeezenet1_1_imagenet on 8 GPUs of 4 nodes\n")
    for words in ("speed-up", "efficiency", "of one node", "compute +", "hidden behind", "of the step is lost"):
        assert words in printed
    assert "as given" in printed
    assert "nodes are connected by 1gbit" in printed


def test_without_a_measured_step_its_time_is_estimated_and_said_so(run):
    _, printed, _ = run("simulate", "--model", "squeezenet1_1", "--flops", "1e12", "--batch-size", "8")
    assert "estimated from 2.09 GFLOP" in printed
    assert "8 images and 1 TFLOP/s" in printed


def test_json_has_all_cluster_sizes_and_the_assumptions(run, tmp_path):
    status, printed, _ = run(*SMALL, "--nodes", "2", "--json", "-")
    record = json.loads(printed)
    assert status == 0
    assert [each["n_rank"] for each in record["predictions"]] == [1, 2, 4, 8, 16]
    assert record["n_parameter"] == 1_235_496
    assert record["workload"]["nbytes"] == 4 * 1_235_496
    last = record["predictions"][-1]
    assert last["speedup"] == pytest.approx(16 * last["efficiency"])
    assert record["assumptions"]
    assert run(*SMALL, "--nodes", "2", "--json", tmp_path / "a.json")[1]
    assert json.loads((tmp_path / "a.json").read_text()) == record


def test_half_precision_halves_the_bytes(run):
    _, printed, _ = run(*SMALL, "--wire-dtype", "float16", "--json", "-")
    assert json.loads(printed)["workload"]["nbytes"] == 2 * 1_235_496


def test_measured_speedups_are_fitted(run):
    words = ("--nodes", "8", "--gpus", "2", "--measured", "2:1.9,4:3.7,8:7.1")
    _, printed, _ = run(*SMALL, *words)
    assert "fitted to --measured" in printed
    status, _, errors = run(*SMALL, "--nodes", "8", "--gpus", "2", "--measured", "2:1.9,5:4")
    assert status == 2
    assert "5 ranks are not whole nodes of 2" in errors


def test_a_number_of_parameters_takes_the_place_of_a_model(run):
    status, printed, _ = run("simulate", "--parameters", "36000000", "--step-seconds", "1.33")
    assert status == 0
    assert "144.0 MB" in printed


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "one of --model and --parameters must be given"),
        (("--model", "resnet50", "--parameters", "3"), "one of --model and --parameters"),
        (("--parameters", "3"), "--parameters needs the time of a step"),
        (("--model", "resnet50", "--step-seconds", "1", "--flops", "1"), "cannot be combined"),
        (("--model", "resnet5"), "the zoo has no model 'resnet5'"),
        (("--model", "resnet50", "--link", "fast"), "not a network link: 'fast'"),
        (("--model", "resnet50", "--measured", "2"), "expected ranks and speed-ups"),
        (("--model", "yolo_fastest", "--step-seconds", "1"), "cannot be built without its files"),
    ],
)
def test_bad_use_is_one_clear_error(run, words, says):
    status, _, errors = run("simulate", *words)
    assert status == 2
    assert says in errors


def test_a_recipe_is_a_model_too(run):
    status, printed, _ = run("simulate", "--model", "retinanet_resnet18_small", "--step-seconds", "1")
    assert status == 0
    assert printed.startswith("retinanet_resnet18_small on 8 GPUs of 1 node\n")
