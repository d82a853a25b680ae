"""`cvzoo tune`."""

import json

import numpy as np
import pytest
from PIL import Image

from cvzoo.cli.main import main
from cvzoo.training.run.run_status import RunStatus, write_status
from cvzoo.training.tuning import tuning, tuning_report


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


@pytest.fixture
def trained(monkeypatch):
    """Stands for the processes: a trial's score is 1 - lr, and a rate above 0.5 fails."""
    jobs = []

    class Process:
        was_interrupted = False

        def __init__(self, folder, epochs, *, start, n_thread, options):
            jobs.append((folder.name, epochs, n_thread, options))
            text = (folder / "recipe.toml").read_text()
            lr = float(text.partition("\nlr = ")[2].split()[0])
            self.status = 0 if lr <= 0.5 else 1
            row = {"epoch": epochs, "iteration": epochs, "validation/main/accuracy": 1 - lr}
            (folder / "metrics.jsonl").write_text(json.dumps(row) + "\n")
            (folder / "best.safetensors").write_bytes(b"")
            write_status(folder, RunStatus(state="finished", epoch=epochs, iteration=epochs))

        def poll(self):
            return self.status

        def reason(self):
            return "main/loss is nan"

    monkeypatch.setattr(tuning, "TrialProcess", Process)
    monkeypatch.setattr(tuning_report, "parallel_coordinates", lambda axes, title: "")
    monkeypatch.setattr(tuning_report, "line_plot", lambda *args, **kwargs: "")
    return jobs


NEW = ["tune", "--recipe", "cifar_resnet20", "--no-check", "epochs=9", "pretrained=none"]


def test_the_best_trial_is_printed_with_the_commands_that_use_it(data, trained, tmp_path, capsys):
    out = str(tmp_path / "t")
    assert (
        main([*NEW, "--data", data, "--out", out, "--trials", "4", "--first", "3", "lr=0.1,0.01,0.6", "--hours", "9"])
        == 0
    )
    printed = capsys.readouterr().out
    for words in (
        "successive halving by 3, rungs at epochs 3, 9; validation/main/accuracy; at most 4 trials and 9 hours",
        "failed: main/loss is nan",
        "lr=0.01",
        "3 trials, 1 without a score",
        f"report: {out}/report.html",
        f"cvzoo predict IMAGE.jpg --model {out}/best.safetensors",
        f"cvzoo train --config {out}/best.toml --out FOLDER epochs=27",
    ):
        assert words in printed, words
    assert [epochs for _, epochs, _, _ in trained] == [3, 3, 3, 9]
    assert trained[0][3] == {"compile": False, "device": "cpu", "dtype": "float32"}
    assert main(["tune", "--resume", out, "--trials", "5"]) == 0
    assert "resumes the search" in capsys.readouterr().out
    assert len(trained) == 4  # all three values are tried


def test_a_file_has_the_recipe_and_the_search_spaces(data, trained, tmp_path):
    text = f'recipe = "cifar_resnet20"\ndata = "{data}"\nepochs = 4\npretrained = "none"\n'
    path = tmp_path / "mine.toml"
    path.write_text(text + '[tune]\nlr = [0.1, 0.2]\nmomentum = "0.8..0.9"\n')
    words = ["--config", str(path), "--out", str(tmp_path / "t"), "--method", "random", "--trials", "2", "--no-check"]
    assert main(["tune", *words, "lr=0.3,0.4"]) == 0
    settings = json.loads((tmp_path / "t" / "search.json").read_text())["settings"]
    assert settings["spaces"] == {"lr": "0.3,0.4", "momentum": "0.8..0.9"}
    assert main(["train", "--config", str(path), "--show-config"]) == 0


def test_threads_and_data_loading_workers_are_divided_among_trials(data, trained, tmp_path, monkeypatch):
    for module in ("cvzoo.training.tuning.tuning", "cvzoo.cli.tune", "cvzoo.cli.options.tune"):
        monkeypatch.setattr(f"{module}.thread_count", lambda: (6, "a test"))
    words = ["--data", data, "--out", str(tmp_path / "t"), "--method", "random", "--trials", "2", "lr=0.1,0.2"]
    assert main([*NEW, *words, "--processes", "3"]) == 0
    assert {n_thread for _, _, n_thread, _ in trained} == {2}
    assert "\nprocesses = 1 " in (tmp_path / "t" / "recipe.toml").read_text()


def test_ray_starts_the_trials_if_asked(data, trained, tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "RayTrialProcess", tuning.TrialProcess)
    monkeypatch.setattr(tuning, "TrialProcess", None)
    words = ["--data", data, "--out", str(tmp_path / "t"), "--method", "random", "--trials", "1", "lr=0.1,0.2"]
    assert main([*NEW, *words, "--engine", "ray"]) == 0
    assert len(trained) == 1
    assert json.loads((tmp_path / "t" / "search.json").read_text())["settings"]["engine"] == "ray"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--recipe must be given"),
        (["--recipe", "retinanet"], "no recipe 'retinanet'"),
        ([*NEW[1:], "lr=0.1,0.2"], "--data and --out must be given"),
        ([*NEW[1:], "--data", "DATA", "--out", "OUT", "lr=0.1,0.2"], "the search has no end"),
        ([*NEW[1:], "--data", "DATA", "--out", "OUT", "--trials", "2"], "no settings to search"),
        ([*NEW[1:], "--data", "DATA", "--out", "OUT", "--trials", "2", "rl=1,2"], "no setting 'rl'"),
        ([*NEW[1:], "--data", "DATA", "--out", "OUT", "--trials", "2", "lr=log:1e-1..1e-4"], "is empty"),
        ([*NEW[1:], "--data", "DATA", "--out", "OUT", "--trials", "2", "lr"], "no setting of the recipe"),
        ([*NEW[1:], "--data", "folder:nowhere", "--out", "OUT", "--trials", "2", "lr=0.1,0.2"], "nowhere"),
        ([*NEW[1:], "--trials", "0"], "positive"),
        (["--resume", "nowhere"], "has no search"),
        (["--resume", "nowhere", "lr=1,2"], "cannot be combined with --resume"),
        (["--resume", "nowhere", "--method", "random"], "--method cannot be combined"),
    ],
)
def test_what_cannot_be_searched_is_an_error_and_leaves_nothing(words, says, data, tmp_path, capsys):
    words = [{"DATA": data, "OUT": str(tmp_path / "t")}.get(word, word) for word in words]
    try:
        status = main(["tune", *words])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "t").exists()
