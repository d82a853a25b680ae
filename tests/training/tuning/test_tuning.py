"""A search in a folder: files, budgets, failures, resuming; a trial paused and resumed."""

import csv
import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from cvzoo.errors import ConfigError, FileFormatError, ValueRangeError
from cvzoo.serializers import load_model
from cvzoo.training.extensions import run_report
from cvzoo.training.extensions.plot_report import PlotReport
from cvzoo.training.recipes.config_file import read_recipe, recipe_to_toml
from cvzoo.training.recipes.listing import RECIPES
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.recipes.training import Training
from cvzoo.training.run.run_status import RunStatus, folder_lock, write_status
from cvzoo.training.tuning import trial_process, tuning_report
from cvzoo.training.tuning.new_tuning import new_tuning, resume_tuning
from cvzoo.training.tuning.trial_process import TrialProcess, train_trial
from cvzoo.training.tuning.tuning import Tuning, best_score

KEY = "validation/main/accuracy"
WORDS = {"lr": "log:1e-4..1", "weight_decay": [0, 0.001], "epochs": 9, "batch_size": 2, "processes": 0}


@pytest.fixture
def data(tmp_path):
    """folder:ROOT of dark and light images."""
    rng = np.random.default_rng(1)
    for split, n in (("train", 3), ("val", 1)):
        for k, name in enumerate(("dark", "light")):
            folder = tmp_path / "classes" / split / name
            folder.mkdir(parents=True)
            for i in range(n):
                Image.fromarray(rng.integers(120 * k, 120 * k + 100, (32, 32, 3), np.uint8)).save(folder / f"{i}.png")
    return f"folder:{tmp_path / 'classes'}"


@pytest.fixture(autouse=True)
def without_plots(monkeypatch):
    """Plots take longer than all else here; tests of their own have them."""
    monkeypatch.setattr(tuning_report, "parallel_coordinates", lambda axes, title: f"<svg>{len(axes)} axes</svg>")
    monkeypatch.setattr(tuning_report, "line_plot", lambda *args, **kwargs: "")
    monkeypatch.setattr(PlotReport, "__call__", lambda self, trainer: None)
    monkeypatch.setattr(run_report, "write_run_report", lambda folder: None)


class Stub:
    """A process that has trained as soon as it is looked at; its score is a function of the trial."""

    def __init__(self, job, folder, score):
        self.was_interrupted = False
        self.said = ""
        self.status = 0
        found = score(job.trial)
        if isinstance(found, str):
            self.status, self.said = 1, found
            return
        row = {"epoch": job.epochs, "iteration": 3 * job.epochs, KEY: found}
        with open(folder / "metrics.jsonl", "a") as file:
            file.write(json.dumps(row) + "\n")
        write_status(folder, RunStatus(state="finished", epoch=job.epochs + 0.01, iteration=1, reason="paused after"))
        (folder / "best.safetensors").write_bytes(b"model of trial %d" % job.trial.number)

    def poll(self):
        return self.status

    def stop(self):
        self.was_interrupted, self.status = True, 143

    kill = stop

    def reason(self):
        return self.said


class Clock:
    """Seconds that pass by waiting only."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


def stubbed(tuning, score, *, clock=None):
    """The search with stand-ins for processes."""
    clock = Clock() if clock is None else clock
    told = []
    made = Tuning(
        tuning.out,
        tuning.settings,
        tuning.recipe,
        trials=tuple(tuning.search.trials),
        seconds=tuning.seconds,
        start=lambda job, folder: Stub(job, folder, score),
        tell=told.append,
        clock=clock,
        wait=clock.wait,
    )
    return made, told


def rows_of(out):
    with open(out / "trials.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_search_leaves_its_table_its_report_and_the_best_model(data, tmp_path):
    out = tmp_path / "tuned"
    tuning, told = stubbed(
        new_tuning("cifar_resnet20", {**WORDS, "data": data}, out, trials=9, factor=3, first=1),
        lambda trial: 1 - abs(np.log10(trial.settings["lr"]) + 2) / 4,
    )
    best = tuning.run()
    assert tuning.settings.rungs == (1, 3, 9)
    rows = rows_of(out)
    assert [int(row["trial"]) for row in rows] == list(range(9))
    assert {float(row["epochs"]) for row in rows} == {1, 3, 9}
    assert (best.epochs, float(rows[best.number][KEY])) == (9, max(float(row[KEY]) for row in rows))
    assert rows[0]["lr"] == f"{tuning.search.trials[0].settings['lr']:g}"
    assert (out / "best.safetensors").read_bytes() == b"model of trial %d" % best.number
    name, recipe = read_recipe(out / "best.toml")
    assert (name, recipe.lr, recipe.epochs) == ("cifar_resnet20", best.settings["lr"], 9)
    page = (out / "report.html").read_text()
    for words in ("4 axes", "lr", "log:0.0001..1", "finished", "cvzoo predict", "cvzoo train --config"):
        assert words in page
    assert any(line.startswith(f"trial {best.number} resumed after 3, until epoch 9 of 9") for line in told)


def test_a_failed_trial_is_recorded_with_its_reason_and_the_search_continues(data, tmp_path):
    words = {**WORDS, "data": data, "warmup": [0, 1000]}  # 1000 is longer than the training, which its process finds
    fails = lambda trial: "the loss is nan" if trial.number == 1 else 0.5  # noqa: E731
    tuning, told = stubbed(new_tuning("cifar_resnet20", words, tmp_path / "t", method="random", trials=4), fails)
    tuning.run()
    rows = rows_of(tmp_path / "t")
    assert [row["state"] for row in rows] == ["finished", "failed", "finished", "finished"]
    assert (rows[1]["reason"], rows[1][KEY]) == ("the loss is nan", "")
    assert "trial 1 failed: the loss is nan" in told


def test_settings_that_exclude_each_other_are_a_failed_trial(data, tmp_path):
    words = {"data": data, "model.min_size": [400, 2000], "epochs": 2}
    base = RECIPES["retinanet_resnet18_small"]
    settings = new_tuning("retinanet_resnet18_small", words, tmp_path / "t", method="random", trials=2)
    tuning, _ = stubbed(settings, lambda trial: 0.5)
    assert base.model.max_size < 2000
    tuning.run()
    failed = [trial for trial in tuning.search.trials if trial.settings["model.min_size"] == 2000]
    assert [trial.state for trial in failed] == ["failed"]
    assert "max_size" in failed[0].reason or "min_size" in failed[0].reason


def test_a_search_whose_trials_all_fail_ends(data, tmp_path):
    made = new_tuning("cifar_resnet20", {**WORDS, "data": data}, tmp_path / "t", hours=100)
    tuning, _ = stubbed(made, lambda trial: "no memory")
    assert tuning.run() is None
    assert len(tuning.search.trials) == 5
    assert "all of the first 5 trials failed, the last one: no memory" in tuning.stopped


class Endless(Stub):
    """A process that trains until it is stopped."""

    def __init__(self, job, folder, score):
        super().__init__(job, folder, score)
        self.status = None


def test_the_budget_of_hours_stops_trials_which_a_larger_one_resumes(data, tmp_path):
    out = tmp_path / "t"
    tuning, _ = stubbed(
        new_tuning("cifar_resnet20", {**WORDS, "data": data}, out, hours=0.001, processes=2, method="random"),
        lambda trial: 0.5,
    )
    tuning._start = lambda job, folder: Endless(job, folder, lambda trial: 0.5)
    assert tuning.run() is None
    assert tuning.stopped == "the budget of 0.001 hours is spent"
    assert [trial.state for trial in tuning.search.trials] == ["interrupted", "interrupted"]
    assert 3.6 <= tuning.seconds < 4.2
    stored = resume_tuning(out, trials=3, hours=1)
    assert stored.seconds == pytest.approx(tuning.seconds)
    again, told = stubbed(stored, lambda trial: 0.5)
    again.run()
    assert [trial.number for trial in again.search.trials] == [0, 1, 2]
    assert {trial.state for trial in again.search.trials} == {"finished"}
    assert again.settings.hours == 1
    assert told[0].startswith("trial 0 started")


def test_no_trial_is_lost_when_the_process_ends_anywhere(data, tmp_path):
    out = tmp_path / "t"
    made = new_tuning("cifar_resnet20", {**WORDS, "data": data}, out, trials=5, first=3)
    score = lambda trial: trial.settings["lr"]  # noqa: E731
    whole, _ = stubbed(new_tuning("cifar_resnet20", {**WORDS, "data": data}, tmp_path / "w", trials=5, first=3), score)
    whole.run()
    count = 0

    class Killed(BaseException):
        """What ends the process, for this test."""

    def killed(job, folder):
        nonlocal count
        count += 1
        if count % 2:
            raise Killed
        return Stub(job, folder, score)

    for _ in range(20):
        tuning, _ = stubbed(made, score)
        tuning._start = killed
        try:
            tuning.run()
        except Killed:
            made = resume_tuning(out)
            continue
        break
    drop = lambda rows: [{**row, "seconds": 0} for row in rows]  # noqa: E731
    assert drop(rows_of(out)) == drop(rows_of(tmp_path / "w"))


def test_ctrl_c_stops_the_trials_and_leaves_a_search_to_resume(data, tmp_path):
    made = new_tuning("cifar_resnet20", {**WORDS, "data": data}, tmp_path / "t", trials=2)
    tuning, _ = stubbed(made, lambda trial: 0.5)
    tuning._start = lambda job, folder: Endless(job, folder, lambda trial: 0.5)
    tuning._wait = lambda seconds: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        tuning.run()
    assert [trial.state for trial in resume_tuning(tmp_path / "t").search.trials] == ["interrupted"]


@pytest.mark.parametrize(
    ("changes", "settings", "error", "says"),
    [
        ({}, {}, ConfigError, "no end"),
        ({"lr": 0.1, "weight_decay": 0}, {"trials": 1}, ConfigError, "no settings to search"),
        ({"data": ""}, {"trials": 1}, ConfigError, "names no data"),
        ({"rl": [1, 2]}, {"trials": 1}, ConfigError, "no setting 'rl'"),
        ({}, {"trials": 1, "first": 10}, ValueRangeError, "first rung"),
        ({}, {"trials": 1, "factor": 1}, ValueRangeError, "factor must be at least 2"),
        ({}, {"hours": 0}, ValueRangeError, "must be positive"),
        ({}, {"hours": float("nan")}, ValueRangeError, "must be positive"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused(changes, settings, error, says, data, tmp_path):
    with pytest.raises(error, match=says):
        new_tuning("cifar_resnet20", {**WORDS, "data": data, **changes}, tmp_path / "t", **{"first": 3, **settings})
    assert not (tmp_path / "t").exists()


def test_a_folder_with_a_search_is_refused_and_a_damaged_one_is_named(data, tmp_path):
    made, _ = stubbed(new_tuning("cifar_resnet20", {**WORDS, "data": data}, tmp_path / "t", trials=1), lambda _: 0.5)
    made.run()
    with pytest.raises(ValueRangeError, match="already has a search"):
        new_tuning("cifar_resnet20", {**WORDS, "data": data}, tmp_path / "t", trials=1)
    with pytest.raises(FileFormatError, match="has no search"):
        resume_tuning(tmp_path)
    with folder_lock(tmp_path / "t"), pytest.raises(ValueRangeError, match="another process"):
        made.run()
    for text in ("{", "[]", '{"settings": {}}', '{"settings": {"rungs": [1]}, "trials": [], "seconds": 1}'):
        (tmp_path / "t" / "search.json").write_text(text)
        with pytest.raises(FileFormatError, match="is damaged"):
            resume_tuning(tmp_path / "t")


@pytest.fixture
def trial(data, tmp_path):
    """The folder of a trial that is not trained yet."""
    recipe = with_settings(
        RECIPES["cifar_resnet20"],
        {"data": data, "pretrained": None, "epochs": 3, "batch_size": 3, "processes": 0, "lr": 0.01},
    )
    folder = tmp_path / "trials" / "0000"
    folder.mkdir(parents=True)
    (folder / "recipe.toml").write_text(recipe_to_toml("cifar_resnet20", recipe))
    return folder


OPTIONS = {"compile": False, "device": "cpu", "dtype": "float32"}


def test_a_trial_paused_at_a_rung_ends_with_the_bits_of_a_whole_training(trial, tmp_path):
    Training(read_recipe(trial / "recipe.toml")[1], None, tmp_path / "whole").trainer.run()
    train_trial(trial, 1, **OPTIONS)
    paused = json.loads((trial / "status.json").read_text())
    assert (paused["epoch"], paused["reason"]) == (1, "paused after 1 epoch")
    train_trial(trial, 1, **OPTIONS)  # a rung that was completed just before a kill
    assert json.loads((trial / "status.json").read_text())["epoch"] == 1
    train_trial(trial, 3, **OPTIONS)
    one, other = (load_model(folder / "best.safetensors").state_arrays() for folder in (tmp_path / "whole", trial))
    for path in one:
        np.testing.assert_array_equal(one[path], other[path], err_msg=path)
    lines = [(folder / "metrics.jsonl").read_text().splitlines() for folder in (tmp_path / "whole", trial)]
    whole, parts = ([{**json.loads(line), "elapsed_time": 0} for line in each] for each in lines)
    assert whole == parts
    assert best_score(trial, KEY) == max(row[KEY] for row in whole)
    assert json.loads((trial / "config.json").read_text())["command"]["arguments"][0] == "train"


def test_a_process_says_why_it_failed_in_a_line(trial, monkeypatch, capsys):
    monkeypatch.setattr(trial_process, "_end_with_parent", lambda: None)
    text = (trial / "recipe.toml").read_text()
    (trial / "recipe.toml").write_text(text.replace("folder:", "folder:nowhere"))
    assert trial_process.main([json.dumps({"folder": str(trial), "epochs": 1, **OPTIONS})]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("failed: ")
    assert "nowhere" in line


@pytest.mark.slow
def test_a_process_trains_its_trial_and_one_without_data_says_why(trial, tmp_path):
    process = TrialProcess(trial, 1, start=tmp_path, n_thread=1, options=OPTIONS)
    process._process.wait(120)
    assert process.poll() == 0
    assert not process.was_interrupted
    assert best_score(trial, KEY) >= 0
    text = (trial / "recipe.toml").read_text()
    (trial / "recipe.toml").write_text(text.replace("folder:", "folder:nowhere"))
    process = TrialProcess(trial, 2, start=tmp_path, n_thread=1, options=OPTIONS)
    process._process.wait(120)
    assert process.poll() == 1
    assert "nowhere" in process.reason()


@pytest.mark.slow
def test_a_process_without_its_parent_ends_by_itself(trial, tmp_path):
    program = (
        "import pathlib, os\n"
        "from cvzoo.training.tuning.trial_process import TrialProcess\n"
        "start = pathlib.Path('.')\n"
        f"made = TrialProcess(pathlib.Path({str(trial)!r}), 3, start=start, n_thread=1, options={OPTIONS})\n"
        "print(made._process.pid, flush=True)\n"
        "os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 9, done.stderr
    trial_process._wait_for_lock(trial)  # whether it has begun or not
    train_trial(trial, 3, **OPTIONS)
    assert json.loads((trial / "status.json").read_text())["epoch"] == 3


def test_a_killed_process_is_named_by_its_signal(trial, tmp_path):
    process = TrialProcess(trial, 3, start=tmp_path, n_thread=1, options=OPTIONS)
    process.kill()
    assert process.reason() == "its process was ended by SIGKILL, perhaps out of memory"
    assert not process.was_interrupted
