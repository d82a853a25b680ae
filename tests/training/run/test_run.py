"""A run's folder."""

import dataclasses
import json
import os
import random
import signal
import sys
import types

import numpy as np
import pytest

import cvzoo.links as L
from cvzoo.config.randomness import random_generator
from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.optimizers import MomentumSGD
from cvzoo.training.extensions.evaluator import Evaluator
from cvzoo.training.run.data_fingerprint import data_fingerprint
from cvzoo.training.run.run import Run, differences
from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.standard_updater import StandardUpdater
from cvzoo.weights.formats.safetensors import read_safetensors, read_safetensors_metadata


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Settings."""

    lr: float = 0.1
    epochs: int = 3


def examples(n=22, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    points = rng.normal(0, 0.7, (n, 4)) + 2 * np.eye(3, 4)[labels]
    return [(x, t) for x, t in zip(points.astype(np.float32), labels.astype(np.int32))]


def train(out, recipe=None, *, resume=False, crash_at=None, seed=5, extend=None, **more):
    """What a train script does."""
    recipe = recipe or Recipe()
    data = {"train": examples(), "val": examples(10, seed=1)}
    run = Run(out, recipe, seed=seed, data=data, resume=resume, **more)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = MomentumSGD(lr=recipe.lr).setup(model)
    updater = StandardUpdater(SerialIterator(data["train"], 5), optimizer)
    trainer = Trainer(updater, (recipe.epochs, "epoch"), out=run.out)
    trainer.extend(Evaluator(SerialIterator(data["val"], 4, repeat=False, shuffle=False), model))
    run.extend(trainer, model.predictor, best="validation/main/accuracy", label_names=("a", "b", "c"))
    if crash_at is not None:

        def crash(trainer):
            raise ZeroDivisionError("on purpose")

        trainer.extend(crash, trigger=(crash_at, "iteration"))
    if extend is not None:
        extend(trainer)
    trainer.run()
    return trainer


def load(path):
    return json.loads(path.read_text())


def rows(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        del row["elapsed_time"]
    return found


def test_a_run_leaves_all_its_files(tmp_path):
    out = tmp_path / "run"
    train(out)
    names = {path.name.split(".tfevents")[0] for path in out.iterdir()}
    assert names == {
        *("config.json", "data.json", "environment.json", "log", "metrics.csv", "metrics.jsonl", "events.out"),
        *("plots", "best.safetensors", "report.html", "snapshot_iter_9.npz", "snapshot_iter_14.npz"),
        *("status.json", "iterations.jsonl", "live.jsonl"),
    }
    assert {path.name for path in (out / "plots").iterdir()} == {"loss.svg", "best.svg"}
    config = load(out / "config.json")
    assert config["recipe"] == {"lr": 0.1, "epochs": 3}
    assert config["seed"] == 5
    data = load(out / "data.json")
    assert (data["train"]["n_example"], data["val"]["n_example"]) == (22, 10)
    environment = load(out / "environment.json")
    assert {"Python", "NumPy", "backend", "processor name"} <= set(environment)
    assert not any(str(tmp_path) in text for text in environment.values())


def test_the_best_model_knows_its_score_and_its_classes(tmp_path):
    trainer = train(tmp_path)
    scores = [line["validation/main/accuracy"] for line in trainer.get_extension("LogReport").log]
    metadata = read_safetensors_metadata(tmp_path / "best.safetensors")
    training = json.loads(metadata["training"])
    assert training["value"] == max(scores)
    assert training["metric"] == "validation/main/accuracy"
    assert json.loads(metadata["label_names"]) == ["a", "b", "c"]
    assert set(read_safetensors(tmp_path / "best.safetensors")) == {"W", "b"}


def test_the_seed_is_set_before_anything_is_drawn(tmp_path):
    drawn = []
    for name in "ab":
        Run(tmp_path / name, seed=7)
        drawn.append((random_generator().random(), np.random.random(), random.random()))
    assert drawn[0] == drawn[1]


def test_a_folder_with_a_run_is_refused(tmp_path):
    train(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(ValueRangeError, match="already has a run"):
        Run(tmp_path, Recipe())
    with pytest.raises(ValueRangeError, match=r"try: +python train\.py --resume, or another folder"):
        Run(tmp_path, Recipe(), resume_with="python train.py --resume")
    assert before == {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}


def test_a_script_s_own_resume_is_what_ctrl_c_advises(tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text('parser.add_argument("--resume", action="store_true")')
    main = types.ModuleType("__main__")
    main.__file__, main.__spec__ = str(tmp_path / "train.py"), None
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(sys, "argv", ["train.py", "--out", "mine"])
    monkeypatch.chdir(tmp_path)
    assert Run("mine").resume_with == "python train.py --out mine --resume"


def test_a_damaged_run_is_told(tmp_path):
    train(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FileFormatError, match=r"config\.json is damaged"):
        Run(tmp_path, Recipe(), resume=True)


@pytest.mark.parametrize("crash_at", [3, 6, 12])
def test_a_resumed_run_has_the_files_of_one_never_stopped(tmp_path, crash_at):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train(whole)
    with pytest.raises(ZeroDivisionError):
        train(broken, crash_at=crash_at)
    assert "failed: ZeroDivisionError: on purpose" in (broken / "report.html").read_text()
    train(broken, resume=True)
    assert (whole / "best.safetensors").read_bytes() == (broken / "best.safetensors").read_bytes()
    for name in ("metrics.jsonl", "iterations.jsonl"):
        assert rows(whole / name) == rows(broken / name)
    assert load(broken / "status.json")["state"] == "finished"
    assert len((broken / "metrics.csv").read_text().splitlines()) == 4
    for name in ("plots/loss.svg", "plots/best.svg"):
        assert (whole / name).read_bytes() == (broken / name).read_bytes()
    assert "failed" not in (broken / "report.html").read_text()
    assert len(list(broken.glob("events.*"))) == 1


def test_values_of_single_iterations_are_kept_ever_less_often(tmp_path):
    train(tmp_path, Recipe(epochs=30))  # 132 iterations
    assert [row["iteration"] for row in rows(tmp_path / "iterations.jsonl")] == [*range(1, 100), 100, 110, 120, 130]


def test_what_a_killed_start_left_is_swept_up(tmp_path):
    (tmp_path / "plots").mkdir()
    left = [tmp_path / ".environment.json.1a_b2c3d.part", tmp_path / "plots/.loss.svg.abcdefgh.part"]
    kept = [tmp_path / ".mine.part", tmp_path / ".notes.1a_b2c3d"]
    for path in left + kept:
        path.write_bytes(b"half")
    Run(tmp_path)
    assert not any(path.exists() for path in left)
    assert all(path.exists() for path in kept)


def test_a_killed_run_is_told_with_its_last_sign_of_life(tmp_path):
    train(tmp_path)
    status = load(tmp_path / "status.json")
    status |= {"state": "running", "seen": "2026-01-02 03:04:05 UTC", "iteration": 7}
    (tmp_path / "status.json").write_text(json.dumps(status))
    with pytest.raises(ValueRangeError, match=r"killed at iteration 7, 2026-01-02 03:04:05 UTC"):
        Run(tmp_path)
    assert load(tmp_path / "status.json") == status | {"state": "killed"}
    page = (tmp_path / "report.html").read_text()
    assert "killed, 2026-01-02 03:04:05 UTC" in page
    assert "best validation/main/accuracy" in page  # chosen as before


def test_a_folder_in_which_a_process_trains_is_refused(tmp_path):
    refused = []

    def again(trainer):
        with pytest.raises(ValueRangeError, match="another process is training in this folder"):
            Run(tmp_path, resume=True)
        refused.append(load(tmp_path / "status.json")["state"])

    train(tmp_path, extend=lambda trainer: trainer.extend(again, trigger=(3, "iteration")))
    assert refused == ["running"] * 4


def test_fingerprints_stand_in_for_data_sets(tmp_path):
    found = data_fingerprint(examples())
    assert Run(tmp_path, data={"train": found}).data == {"train": found}


def test_ctrl_c_says_how_to_resume_in_the_words_of_the_command(tmp_path, capsys):
    def stop(trainer):
        trainer.extend(lambda t: os.kill(os.getpid(), signal.SIGINT), trigger=(3, "iteration"))

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, extend=stop, resume_with="python train.py --resume")
    said = capsys.readouterr().err
    assert f"saved in {tmp_path}; resume with: python train.py --resume" in said
    assert "no best.safetensors yet: no validation" in said
    assert "autoload" not in said
    assert "python train.py --resume" in (tmp_path / "report.html").read_text()
    assert load(tmp_path / "status.json")["state"] == "stopped by Ctrl-C"


def test_resuming_where_there_is_no_run_begins_one(tmp_path):
    trainer = train(tmp_path / "new", resume=True)
    assert trainer.updater.iteration == 14


def test_a_run_that_goes_on_with_other_settings_says_so(tmp_path):
    train(tmp_path)
    with pytest.warns(RuntimeWarning, match="epochs: 3 is now 4"):
        trainer = train(tmp_path, Recipe(epochs=4), resume=True)
    assert trainer.updater.epoch == 4
    assert len(rows(tmp_path / "metrics.jsonl")) == 4
    assert load(tmp_path / "config.json")["recipe"]["epochs"] == 4


def test_other_data_and_another_seed_are_told(tmp_path):
    Run(tmp_path, seed=1, data={"train": [1, 2, 3], "val": [1]})
    with pytest.warns(RuntimeWarning) as caught:
        Run(tmp_path, seed=2, data={"train": [1, 2, 4], "val": [1]}, resume=True)
    (warning,) = caught
    assert "seed: 1 is now 2" in str(warning.message)
    assert "the data 'train' have changed" in str(warning.message)
    assert "'val'" not in str(warning.message)


def test_a_trainer_of_another_folder_is_refused(tmp_path):
    run = Run(tmp_path / "a")
    model = L.Linear(4, 3)
    updater = StandardUpdater(SerialIterator(examples(), 5), MomentumSGD().setup(model))
    with pytest.raises(ValueRangeError, match="has a different output folder"):
        run.extend(Trainer(updater, (1, "epoch"), out=tmp_path / "b"), model)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Run(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"x": 1, "y": {"z": 2}}, {"x": 1, "y": {"z": 3}}, [("y.z", 2, 3)]),
        ({"x": 1}, {"y": 1}, [("x", 1, None), ("y", None, 1)]),
        ({"x": 1}, {"x": True}, [("x", 1, True)]),
        ({"x": [1, 2]}, {"x": [1, 2]}, []),
    ],
)
def test_differences_are_named(a, b, expected):
    assert differences(a, b) == expected


def test_a_training_that_cannot_be_prepared_leaves_no_run(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "notes.txt").write_text("mine")
    for out in (tmp_path / "new", kept):
        for _ in range(2):  # the second is not told that the folder has a run
            run = Run(out, Recipe())
            with pytest.raises(ZeroDivisionError), run.removed_on_error():
                raise ZeroDivisionError
    assert not (tmp_path / "new").exists()
    assert [path.name for path in kept.iterdir()] == ["notes.txt"]
    train(tmp_path / "run")
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    run = Run(tmp_path / "run", Recipe(), seed=5, data={"train": examples(), "val": examples(10, seed=1)}, resume=True)
    with pytest.raises(ZeroDivisionError), run.removed_on_error():
        raise ZeroDivisionError
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before
