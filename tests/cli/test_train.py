"""`cvzoo train` and `cvzoo rerun`, as a user has them."""

import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli import train as train_verb
from cvzoo.cli import train_try
from cvzoo.cli.main import main
from cvzoo.cli.train_resume import data_in, spec_in
from cvzoo.serializers import load_model
from cvzoo.training.recipes import RECIPES, read_recipe
from cvzoo.training.run import run
from cvzoo.training.run.command import this_command
from cvzoo.training.updaters.standard_updater import StandardUpdater


@pytest.fixture
def data(tmp_path):
    """A folder in VOC's layout: bright squares on gray, 8 images to learn from, 4 to score on."""
    root, rng = tmp_path / "data", np.random.default_rng(0)
    for folder in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (root / folder).mkdir(parents=True)
    ids = [f"p{i:02}" for i in range(12)]
    for id_ in ids:
        img = rng.integers(60, 90, (96, 128, 3), dtype=np.uint8)
        y, x = int(rng.integers(4, 50)), int(rng.integers(4, 80))
        img[y : y + 40, x : x + 40] = rng.integers(180, 250, 3)
        Image.fromarray(img).save(root / f"JPEGImages/{id_}.png")
        (root / f"Annotations/{id_}.xml").write_text(
            f"<annotation><filename>{id_}.png</filename><size><width>128</width><height>96</height><depth>3</depth></size>"
            f"<object><name>square</name><bndbox><xmin>{x + 1}</xmin><ymin>{y + 1}</ymin><xmax>{x + 40}</xmax>"
            f"<ymax>{y + 40}</ymax></bndbox></object></annotation>"
        )
    (root / "ImageSets/Main/train.txt").write_text("\n".join(ids[:8]))
    (root / "ImageSets/Main/val.txt").write_text("\n".join(ids[8:]))
    return root


def train(data, out, *more):
    words = ["train", "--model", "retinanet_resnet18_small", "--data", f"voc:{data}", "--out", str(out), "--size", "96"]
    return cvzoo(*words, "--processes", "1", *more)


def cvzoo(*words):
    """The command's exit status; the run's folder remembers these words and not those that started the tests."""

    def command(out):
        return dataclasses.replace(this_command(out, arguments=words), script=None, module="cvzoo")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "this_command", command)
        return main(list(words))


def test_it_prints_the_recipe_and_the_scores_and_leaves_a_model(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "1", "--batch-size", "2", "--seed", "7") == 0
    out = capsys.readouterr().out
    for line in (
        "8 images to train on, 4 to validate on; classes: square",
        "  batch_size: 2",
        "  model.min_size: 96",
    ):
        assert line in out
    row = json.loads((tmp_path / "run/metrics.jsonl").read_text())
    best = tmp_path / "run/best.safetensors"
    # one metric by one name: in the log, as what chose the model, and in the end
    assert f"\nvalidation/main/map  {row['validation/main/map']:.6g}  of {best}" in out
    assert f"{row['validation/main/ap/square']:.4f}" in out.split("class ")[-1]
    assert "AP50" not in out
    assert f"cvzoo predict IMAGE.jpg --model {best}" in out
    assert "detections with scores over 0.5; --score-thresh" in out  # the validation counts those over 0.05
    assert f'load_model("{best}")' in out
    config = json.loads((tmp_path / "run/config.json").read_text())
    assert (config["seed"], config["recipe"]["epochs"]) == (7, 1)
    model = load_model(tmp_path / "run/best.safetensors")
    assert model.label_names == ("square",)
    assert "boxes in 8 augmented training images have an anchor" in (tmp_path / "run/report.html").read_text()


@pytest.mark.slow  # half a minute; examples/learn_digits.py learns in each run of CI
def test_it_learns(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "40", "--no-check") == 0
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert rows[-1]["main/loss"] < 0.5 * rows[0]["main/loss"]
    assert max(row.get("validation/main/map", 0) for row in rows) > 0.5


def listed(data, out, *more):
    """A listed recipe, tiny."""
    words = ["model.n_layer=18", "model.base_channels=8", "model.channels=16", "model.head_depth=1", "processes=0"]
    return cvzoo("train", "--recipe", "retinanet_resnet18_small", f"data=voc:{data}", "--out", str(out), *words, *more)


def test_a_listed_recipe_takes_any_setting_and_resumes_from_its_folder(data, tmp_path, capsys, monkeypatch):
    words = ("--size", "64", "epochs=2", "--batch-size", "4", "clip=5")
    assert listed(data, tmp_path / "whole", *words) == 0
    assert "starts from random weights" in capsys.readouterr().out
    with monkeypatch.context() as patch:
        interrupt_at(patch, signal.SIGINT, 2)
        assert listed(data, tmp_path / "parts", *words) == 130
    assert read_recipe(tmp_path / "parts/recipe.toml")[1].clip == 5
    assert cvzoo("train", "--resume", str(tmp_path / "parts")) == 0
    one, other = (load_model(tmp_path / name / "best.safetensors").state_arrays() for name in ("whole", "parts"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_single_update_is_a_training(data, tmp_path, capsys):
    assert listed(data, tmp_path / "run", "--size", "64", "epochs=1", "batch_size=8", "--no-check") == 0
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == [1]


def test_the_shown_config_is_read_back(tmp_path, capsys):
    words = ("train", "--recipe", "ssd300", "--data", "voc:x", "lr=0.5", "model.limit=7", "--show-config")
    assert cvzoo(*words) == 0
    text = capsys.readouterr().out
    (tmp_path / "mine.toml").write_text(text)
    for option in ("--config", "--recipe"):
        assert cvzoo("train", option, str(tmp_path / "mine.toml"), "--show-config") == 0
        assert capsys.readouterr().out == text


def test_the_list_has_a_line_for_each_recipe(capsys):
    assert cvzoo("train", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(RECIPES)
    assert any(line.split()[:2] == ["ssd300", "detection"] for line in lines)


def test_a_learning_rate_is_suggested_and_no_files_are_left(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(train_try, "LR_ITERATIONS", 12)
    words = ("--recipe", "retinanet_resnet18_small", "--data", f"voc:{data}", "--no-check", "--size", "64")
    words += ("processes=0", "batch_size=1", "model.channels=16", "model.head_depth=1", "model.base_channels=8")
    assert cvzoo("train", *words, "--find-lr") == 0
    out = capsys.readouterr().out
    assert "learning rate" in out
    assert "the recipe has " in out
    assert {path.name for path in tmp_path.iterdir()} == {"data"}


def test_own_weights_that_cannot_be_fetched_are_told_and_named_ones_are_an_error(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CVZOO_OFFLINE", "1")
    monkeypatch.setenv("CVZOO_HOME", str(tmp_path))
    words = ("train", "--recipe", "retinanet_resnet18", "--data", f"voc:{data}", "--no-check", "--size", "64", "--try")
    words += ("processes=0", "batch_size=1", "model.channels=16", "model.head_depth=1")
    monkeypatch.setattr(train_try, "ITERATIONS", 4)
    assert cvzoo(*words) == 0
    out = capsys.readouterr().out
    assert "starts from random weights, not imagenet: " in out
    assert "4 iterations of 1 image: " in out
    assert "estimated end" in out
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    assert cvzoo(*words, "--pretrained", "imagenet") == 2
    assert "CVZOO_OFFLINE" in capsys.readouterr().err


@pytest.mark.slow
def test_a_compiled_training_has_the_same_numbers(data, tmp_path, capsys):
    words = ("--epochs", "3", "--batch-size", "2", "--no-check")
    rows = []
    for out, more in (("eager", ()), ("compiled", ("--compile",))):
        assert train(data, tmp_path / out, *words, *more) == 0
        lines = (tmp_path / out / "metrics.jsonl").read_text().splitlines()
        rows.append([{k: v for k, v in json.loads(line).items() if "time" not in k} for line in lines])
    assert rows[0] == rows[1]
    one, other = (load_model(tmp_path / out / "best.safetensors").state_arrays() for out in ("eager", "compiled"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.slow
def test_a_compiled_training_that_was_interrupted_goes_on_to_the_same_numbers(data, tmp_path, capsys, monkeypatch):
    words = ("--epochs", "4", "--batch-size", "2", "--no-check", "--compile")
    assert train(data, tmp_path / "whole", *words) == 0
    update, count = StandardUpdater.update, []

    def interrupted(self):
        count.append(1)
        if len(count) == 11:  # in the third of four epochs of four updates
            raise KeyboardInterrupt
        update(self)

    with monkeypatch.context() as patch:
        patch.setattr(StandardUpdater, "update", interrupted)
        assert train(data, tmp_path / "parts", *words) == 130
    assert train(data, tmp_path / "parts", *words, "--resume") == 0
    one, other = (load_model(tmp_path / out / "best.safetensors").state_arrays() for out in ("whole", "parts"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_a_folder_with_a_run_is_not_written_over(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "1", "--no-check") == 0
    assert train(data, tmp_path / "run", "--epochs", "1", "--no-check") == 2
    assert f"cvzoo train --resume {tmp_path / 'run'}, or another folder" in capsys.readouterr().err


def test_faulty_data_are_refused_before_anything_is_written(data, tmp_path, capsys):
    (data / "JPEGImages/p03.png").write_bytes((data / "JPEGImages/p03.png").read_bytes()[:200])
    assert train(data, tmp_path / "run") == 1
    err = capsys.readouterr().err
    assert "p03.png" in err
    assert "FOLDER" not in err
    (command,) = [line for line in err.splitlines() if line.startswith("  cvzoo data check")]
    assert main(shlex.split(command)[1:]) == 0
    assert not (tmp_path / "run").exists()


def test_of_coco_s_two_files_the_one_in_error_is_what_shall_be_repaired(data, tmp_path, capsys):
    for split in ("train", "val"):
        assert main(["data", "convert", "--to", "coco", f"voc:{data},split={split}", str(tmp_path / split)]) == 0
    files = [next((tmp_path / split).rglob("*.json")) for split in ("train", "val")]
    (photo,) = (tmp_path / "train").rglob("p03.*")
    photo.write_bytes(photo.read_bytes()[:200])
    capsys.readouterr()
    assert train(data, tmp_path / "run", "--data", f"coco:{files[0]},{files[1]}") == 1
    commands = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  cvzoo data check")]
    assert [shlex.split(line)[3] for line in commands] == [f"coco:{files[0]}"]


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--epochs", "0"], "epochs"),
        (["--size", "8"], "--size"),
        (["--lr", "-1"], "lr"),
        (["--epochs", "2", "--warmup", "4"], "the warm-up is not shorter than the training"),
        (["--resume", "nowhere"], "nowhere has no run"),
        (["--pretrained", "nothing.safetensors"], "nothing.safetensors"),
    ],
)
def test_what_cannot_be_is_told(data, tmp_path, capsys, more, word):
    assert train(data, tmp_path / "run", "--no-check", *more) == 2
    assert word in capsys.readouterr().err


def test_coco_s_data_are_scored_by_coco_s_metric_throughout(data, tmp_path, capsys):
    for split in ("train", "val"):
        assert main(["data", "convert", "--to", "coco", f"voc:{data},split={split}", str(tmp_path / split)]) == 0
    files = [next((tmp_path / split).rglob("*.json")) for split in ("train", "val")]
    words = ["--data", f"coco:{files[0]},{files[1]}", "--epochs", "2", "--no-check"]
    capsys.readouterr()
    assert train(data, tmp_path / "run", *words) == 0
    key = "validation/main/map/iou=0.50:0.95/area=all/max_dets=100"
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    assert f"\n{key}  {max(row[key] for row in rows):.6g}  of " in capsys.readouterr().out
    status = json.loads((tmp_path / "run/status.json").read_text())
    assert (status["best"], status["state"]) == (key, "finished")


def interrupt_at(monkeypatch, number, n):
    """A training gets the signal in its n-th update."""
    update, count = StandardUpdater.update, []

    def interrupted(self):
        count.append(1)
        if len(count) == n:
            os.kill(os.getpid(), number)
        update(self)

    monkeypatch.setattr(StandardUpdater, "update", interrupted)


def test_an_interrupted_run_is_resumed_by_its_folder_alone(data, tmp_path, capsys, monkeypatch):
    words = ("--epochs", "3", "--batch-size", "2")
    assert train(data, tmp_path / "whole", *words) == 0
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    with monkeypatch.context() as patch:
        interrupt_at(patch, signal.SIGINT, 6)
        assert train("data", "parts", *words) == 130  # paths as seen from here
    said = capsys.readouterr().err
    assert "saved in parts; resume with: cvzoo train --resume parts" in said
    assert "autoload" not in said
    monkeypatch.chdir(tmp_path / "data")  # and from elsewhere
    assert cvzoo("train", "--resume", "../parts") == 0
    err = capsys.readouterr().err
    assert "not checked again" in err
    assert "is resumed with different settings" not in err
    assert "after iteration 6" in err
    one, other = (load_model(tmp_path / name / "best.safetensors").state_arrays() for name in ("whole", "parts"))
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in ("whole", "parts")]
    assert configs[1]["command"]["arguments"][-4:] == list(words)  # so that rerun repeats it
    assert configs[1]["recipe"]["epochs"] == configs[0]["recipe"]["epochs"]


@pytest.mark.filterwarnings("default")
def test_what_contradicts_the_run_is_refused_and_what_may_change_is_said(data, tmp_path, capsys, monkeypatch):
    words = ("--epochs", "2", "--batch-size", "2", "--no-check")
    assert train(data, tmp_path / "run", *words) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    resume = ["train", "--resume", str(tmp_path / "run")]
    assert cvzoo(*resume, "--model", "retinanet_resnet18") == 2
    assert "the run trains another network" in capsys.readouterr().err
    assert cvzoo(*resume, "--out", str(tmp_path / "other")) == 2
    assert "its folder is its own" in capsys.readouterr().err
    assert train(data, tmp_path / "run", *words, "--resume", "--model", "retinanet_resnet18") == 2
    assert "the run trains another network" in capsys.readouterr().err
    lines = (data / "ImageSets/Main/train.txt").read_text().splitlines()
    (data / "ImageSets/Main/train.txt").write_text("\n".join(lines[:-1]))
    assert cvzoo(*resume) == 2
    assert "other numbers of images in train" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
    (data / "ImageSets/Main/train.txt").write_text("\n".join(lines))
    assert cvzoo(*resume, "--epochs", "3", "--lr", "0.002") == 0
    assert "epochs: 2 is now 3; lr: 0.001 is now 0.002" in capsys.readouterr().err
    assert len((tmp_path / "run/metrics.jsonl").read_text().splitlines()) == 3
    arguments = json.loads((tmp_path / "run/config.json").read_text())["command"]["arguments"]
    assert arguments[-4:] == ["--epochs", "3", "--lr", "0.002"]


def test_data_that_changed_are_examined_again(data, tmp_path, capsys):
    assert train(data, tmp_path / "run", "--epochs", "1") == 0
    (data / "JPEGImages/p03.png").write_bytes((data / "JPEGImages/p03.png").read_bytes()[:200])
    capsys.readouterr()
    assert cvzoo("train", "--resume", str(tmp_path / "run"), "--epochs", "2") == 1
    err = capsys.readouterr().err
    assert "p03" in err
    assert f"cvzoo data check voc:{data} --fix" in err


def test_a_folder_or_a_list_that_cannot_be_is_told_before_the_images_are_examined(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(train_verb, "examine_dataset", lambda *_, **__: pytest.fail("examined"))
    (tmp_path / "file").write_text("")
    assert train(data, tmp_path / "file/run") == 2
    assert "file: the output folder is not writable" in capsys.readouterr().err
    (data / "ImageSets/Main/val.txt").write_text("p08\nmissing\n")
    assert train(data, tmp_path / "run") == 2
    assert "missing" in capsys.readouterr().err
    assert cvzoo("train", "--data", f"voc:{data}", "--out", str(tmp_path / "run")) == 2
    assert "--model must be given for a new run" in capsys.readouterr().err
    assert cvzoo("train", "--resume") == 2
    assert "needs the folder of a run" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("voc:a", "voc:../x/a"),
        ("voc:/a,base=0,split=b", "voc:/a,base=0,split=b"),
        ("coco:a.json,b/c.json,photos=d", "coco:../x/a.json,../x/b/c.json,photos=../x/d"),
        ("yolo:a,lists=l,outside=1", "yolo:../x/a,lists=../x/l,outside=1"),
        ("folder", "../x/folder"),
    ],
)
def test_data_are_found_from_where_the_run_was_started(spec, expected):
    assert spec_in(spec, "../x") == expected
    assert spec_in(spec, None) == spec


def test_a_data_set_without_a_path_has_the_same_name_from_anywhere():
    recipe = RECIPES["cifar_resnet20"]
    assert data_in(recipe.with_data("cifar10"), "../x") == "cifar10"
    assert data_in(recipe.with_data("cifar10:a"), "../x") == "cifar10:../x/a"
    assert data_in(RECIPES["ssd300"].with_data("folder"), "../x") == "../x/folder"


def test_a_run_is_repeated_to_the_bit_from_its_folder(data, tmp_path):
    command = ["-m", "cvzoo", "train", "--model", "retinanet_resnet18_small", "--data", f"voc:{data}", "--size", "96"]
    command += ["--epochs", "1", "--processes", "1", "--no-check", "--out", "run"]
    root = pathlib.Path(__file__).resolve().parents[2]
    variables = dict(os.environ, PYTHONPATH=os.fspath(root))
    first = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=variables, check=False, capture_output=True, text=True
    )
    assert first.returncode == 0, first.stderr
    again = [sys.executable, "-m", "cvzoo", "rerun", "run"]
    done = subprocess.run(again, cwd=tmp_path, env=variables, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run-again: the same to the bit" in done.stdout
    compared = ["rerun", f"{tmp_path}/run", "--out", f"{tmp_path}/run-again", "--compare"]
    assert main(compared) == 0
    (tmp_path / "run-again/best.safetensors").write_bytes(b"other")
    assert main(compared) == 1


def test_a_folder_without_a_run_cannot_be_repeated(tmp_path, capsys):
    assert main(["rerun", str(tmp_path)]) == 2
    assert "config.json" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["tf32", "mixed_bf16", "mixed_fp16"])
def test_it_learns_in_fewer_bits(data, tmp_path, capsys, dtype):
    pytest.importorskip("ml_dtypes")
    assert train(data, tmp_path / "run", "--epochs", "8", "--batch-size", "2", "--no-check", "--dtype", dtype) == 0
    rows = [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()]
    losses = [row["main/loss"] for row in rows]
    assert losses[-1] < 0.9 * losses[0], losses
    arrays = load_model(tmp_path / "run/best.safetensors").state_arrays()
    assert {array.dtype.name for array in arrays.values() if array.dtype.kind == "f"} == {"float32"}
    assert json.loads((tmp_path / "run/environment.json").read_text())["dtype"] == dtype


def test_a_gpu_learns_what_the_cpu_learns(data, tmp_path, fake_gpu):
    words = ("--epochs", "1", "--batch-size", "2", "--seed", "7")
    assert train(data, tmp_path / "cpu", *words) == 0
    with fake_gpu() as machine:
        assert train(data, tmp_path / "gpu", *words, "--device", "gpu:0") == 0
        assert any(each.kind == "launch" for each in machine.recorder)
    losses = [json.loads((tmp_path / f"{name}/log").read_text())[-1]["main/loss"] for name in ("cpu", "gpu")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    mine, theirs = (load_model(tmp_path / f"{name}/best.safetensors").state_arrays() for name in ("cpu", "gpu"))
    for path, expected in mine.items():
        np.testing.assert_allclose(theirs[path], expected, rtol=0.02, atol=0.02, err_msg=path)
