"""`cvzoo train` on data without labels, on a full disk, with numbers that diverge, and ended by signals."""

import dataclasses
import errno
import json
import os
import pathlib
import signal

import numpy as np
import pytest
from drawn_data import DRAWN

from cvzoo.cli import train as train_verb
from cvzoo.cli.main import main
from cvzoo.datasets import class_splits
from cvzoo.evaluations.evaluators.classification_evaluator import ClassificationEvaluator
from cvzoo.serializers import load_model, save_model
from cvzoo.training.extensions import run_report
from cvzoo.training.extensions.best_model import BestModel
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.extensions.snapshot import Snapshot
from cvzoo.training.recipes.classifier_recipe import ClassifierRecipe
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.training import Training
from cvzoo.training.run import run
from cvzoo.training.run.command import this_command
from cvzoo.training.updaters.standard_updater import StandardUpdater


@pytest.fixture(autouse=True)
def without_plots(monkeypatch):
    """Plots and the report take longer than a tiny training, and have tests of their own."""
    monkeypatch.setattr(PlotReport, "__call__", lambda self, trainer: None)
    monkeypatch.setattr(run_report, "write_run_report", lambda folder: None)


def cvzoo(*words):
    """The command's exit status; the run's folder remembers these words and not those that started the tests."""

    def command(out):
        return dataclasses.replace(this_command(out, arguments=words), script=None, module="cvzoo")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "this_command", command)
        return main(list(words))


def train(tmp_path, *more, out="run"):
    """A classifier of dark and light images, two epochs of two updates."""
    words = ("--recipe", "cifar_resnet20", "epochs=2", "batch_size=2", "processes=0", "lr=0.01", *more)
    return cvzoo("train", *words, "--data", DRAWN["classification"](tmp_path), "--out", str(tmp_path / out))


def detect(tmp_path, *more):
    words = ("model.n_layer=18", "model.base_channels=4", "model.channels=8", "model.head_depth=1", "processes=0")
    data = DRAWN["detection"](tmp_path)
    words = ("train", "--recipe", "retinanet_resnet18_small", "--size", "64", *words, "epochs=1", "--data", data, *more)
    return cvzoo(*words, "--out", str(tmp_path / "run"))


def without_objects(tmp_path, ids):
    """Removes the objects of these images of `DRAWN["detection"]`."""
    DRAWN["detection"](tmp_path)
    for i in ids:
        path = tmp_path / f"boxes/Annotations/p{i}.xml"
        head, _, tail = path.read_text().partition("<object>")
        path.write_text(head + tail.partition("</object>")[2])


def test_what_auto_chose_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)))
    recipe = dataclasses.replace(RECIPES["cifar_resnet20"], processes="auto")
    train_verb._print_start(recipe, class_splits(DRAWN["classification"](tmp_path)))
    assert "\n  processes: auto, here 8\n" in capsys.readouterr().out


# --- data ---
@pytest.mark.parametrize(("ids", "part"), [((4, 5), "validation"), (range(4), "training")])
def test_a_part_without_objects_is_refused_before_anything_is_written(tmp_path, monkeypatch, capsys, ids, part):
    without_objects(tmp_path, ids)
    data = f"voc:{tmp_path / 'boxes'}"
    words = ("--recipe", "retinanet_resnet18_small", "--data", data, "--out", str(tmp_path / "run"), "--no-check")
    assert cvzoo("train", *words) == 2
    assert f"the {part} set has no labels in its" in capsys.readouterr().err.splitlines()[0]
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("default")
def test_a_class_without_images_is_refused_or_said(tmp_path, capsys):
    for folder in ("train", "val"):
        (tmp_path / "classes" / folder / "medium").mkdir(parents=True)
    assert train(tmp_path) == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert first == "cvzoo train: error: 1 fault in the data: the class medium has no training images"
    assert not (tmp_path / "run").exists()
    assert train(tmp_path, "--no-check") == 0
    out, err = capsys.readouterr()
    assert "cvzoo train: the training set has no labels of medium: the network cannot learn them" in err
    assert "the validation set has no labels of medium" in err
    assert out.split("\nclass ")[1].splitlines()[3].split() == ["medium", "0", "-"]


# --- numbers ---
def test_weights_that_are_not_numbers_are_named(tmp_path, capsys):
    assert train(tmp_path, "epochs=1") == 0
    model = load_model(tmp_path / "run/best.safetensors")
    model.conv1.conv.W.array[0] = np.nan
    save_model(tmp_path / "nan.safetensors", model)
    capsys.readouterr()
    assert train(tmp_path, "--pretrained", str(tmp_path / "nan.safetensors"), out="other") == 2
    err = capsys.readouterr().err
    assert "error: iteration 1 of training has NaN or infinite values" in err
    assert "/conv1/conv/W itself is bad from the beginning" in err
    assert json.loads((tmp_path / "other/status.json").read_text())["state"].startswith("failed: ")


def test_a_batch_far_larger_than_the_training_set_is_refused(tmp_path, capsys):
    assert train(tmp_path, "batch_size=401") == 2
    first = capsys.readouterr().err.splitlines()[0]
    assert "a batch would have each image of the training set more than 100 times" in first
    assert not (tmp_path / "run").exists()


def test_a_recipe_that_is_no_text_is_named(tmp_path, capsys):
    (tmp_path / "image.toml").write_bytes(b"\xff\xd8")
    assert cvzoo("train", "--config", str(tmp_path / "image.toml"), "--out", str(tmp_path / "run")) == 2
    assert "image.toml is no text in UTF-8" in capsys.readouterr().err.splitlines()[0]


def test_a_loss_that_diverges_ends_the_training_at_once(tmp_path, capsys):
    assert train(tmp_path, "lr=1e30", "clip=none", "warmup=0", "weight_decay=0") == 2
    err = capsys.readouterr().err
    assert "of training has NaN or infinite values" in err
    assert "a lower learning rate" in err


# --- a full disk ---
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("full", ["best.safetensors", "snapshot_iter", ""])
def test_a_full_disk_is_named_with_the_file_and_what_is_lost(tmp_path, monkeypatch, capsys, full):
    fsync = os.fsync

    def no_space(descriptor):
        path = pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.is_file() and path.name.startswith(f".{full}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", no_space)
    status = train(tmp_path)
    err = capsys.readouterr().err
    assert status == (0 if full == "snapshot_iter" else 2)
    assert not list((tmp_path / "run").glob(".*.part"))
    if not full:  # nothing at all could be written
        assert f"error: {tmp_path / 'run/environment.json'}: No space left on device" in err
        return
    assert f"{full}" in err
    assert "could not be written: No space left on device; training continues" in err
    assert ("error: " in err) == (full == "best.safetensors")
    if full == "best.safetensors":
        assert f"error: {tmp_path / 'run/best.safetensors'} could not be written during training" in err


# --- signals ---
def at(monkeypatch, owner, name, number, n=1):
    """The process gets the signal in the n-th call."""
    call, count = getattr(owner, name), []

    def interrupted(*args, **kwargs):
        count.append(1)
        if len(count) == n:
            os.kill(os.getpid(), number)
        return call(*args, **kwargs)

    monkeypatch.setattr(owner, name, interrupted)


PHASES = {
    "data": (train_verb, "check_labels"),
    "model": (ClassifierRecipe, "build_model"),
    "folder": (run, "environment_facts"),
    "trainer": (Training, "_extend"),
    "first iteration": (StandardUpdater, "update"),
    "validation": (ClassificationEvaluator, "__call__"),
    "best model": (BestModel, "_write"),
    "snapshot": (Snapshot, "save"),
    "closing": (StandardUpdater, "finalize"),
    "scores": (train_verb, "_print_scores"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The weights of a training that was not interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    assert train(folder) == 0
    return load_model(folder / "run/best.safetensors").state_arrays()


def phases(*quick):
    """The phases as parameters; all but some take part in the slow tests only."""
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in PHASES]


@pytest.mark.parametrize("phase", phases("folder", "validation", "snapshot"))
def test_ctrl_c_at_any_time_leaves_what_can_be_resumed_to_the_same_bits(tmp_path, whole, monkeypatch, capsys, phase):
    with monkeypatch.context() as patch:
        at(patch, *PHASES[phase], signal.SIGINT)
        assert train(tmp_path) == 130
    err = capsys.readouterr().err
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("run/**/.*.part"))
    if (tmp_path / "run/config.json").exists():
        assert cvzoo("train", "--resume", str(tmp_path / "run")) == 0
    else:
        assert train(tmp_path) == 0
    assert_same(tmp_path / "run", whole)


def assert_same(folder, whole):
    arrays = load_model(folder / "best.safetensors").state_arrays()
    for path, array in whole.items():
        np.testing.assert_array_equal(arrays[path], array, err_msg=path)
