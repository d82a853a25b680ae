"""A run's page while it goes on, and when it ends."""

import errno
import itertools
import json
import os

import pytest

from cvzoo.reporting.reporter import report
from cvzoo.training.extensions import run_report
from cvzoo.training.extensions.json_lines_report import JSONLinesReport
from cvzoo.training.extensions.run_report import RunReport
from cvzoo.training.run.run_status import read_status
from cvzoo.training.triggers import EarlyStoppingTrigger


def act(iteration):
    report({"main/loss": 1 / iteration})


def test_the_page_says_how_the_run_ended(counting_trainer, tmp_path):
    seen = []
    trainer = counting_trainer([JSONLinesReport(), RunReport()], act)
    trainer.extend(
        lambda trainer: seen.append((tmp_path / "report.html").read_text()), trigger=(1, "epoch"), priority=-600
    )
    trainer.run()
    assert "running, " in seen[0]
    assert "<b>1</b>epochs" in seen[0]
    assert "finished" in (tmp_path / "report.html").read_text()


def test_the_page_and_the_terminal_say_why_a_run_ended_early(counting_trainer, tmp_path, capsys):
    stop = EarlyStoppingTrigger((1, "iteration"), "main/loss", patience=2, mode="max", max_trigger=(2, "epoch"))
    trainer = counting_trainer([RunReport()], act, stop)
    trainer.run()
    assert trainer.updater.iteration == 3
    why = "early stopping: main/loss has not improved in the last 2 checks; best: 1 after iteration 1"
    assert why in (tmp_path / "report.html").read_text()
    assert read_status(tmp_path).reason == why
    assert capsys.readouterr().err == why + "\n"


ENDS = [
    (ValueError("<bad>\nmore"), "failed: ValueError: &lt;bad&gt;"),
    (KeyboardInterrupt(), "stopped by Ctrl-C"),
    (SystemExit(143), "stopped by SIGTERM"),
    (SystemExit(3), "stopped by exit status 3"),
]


@pytest.mark.parametrize(("error", "says"), ENDS)
def test_errors_and_interrupts_are_told_apart(counting_trainer, tmp_path, error, says):
    def end(trainer):
        raise error

    trainer = counting_trainer([JSONLinesReport(), RunReport()], act)
    trainer.extend(end, trigger=(1, "epoch"))
    with pytest.raises(type(error)):
        trainer.run()
    assert says in (tmp_path / "report.html").read_text()


def test_the_page_is_written_at_once_after_the_first_iteration_and_then_now_and_then(counting_trainer, tmp_path):
    now, seen = [0.0], []

    def look(trainer):
        seen.append(json.loads((tmp_path / "status.json").read_text())["iteration"])

    def work(iteration):
        now[0] += 7.0
        if iteration == 1:
            seen.append((tmp_path / "report.html").is_file())

    trainer = counting_trainer([RunReport(trigger=(9, "epoch"), clock=lambda: now[0])], work, (11, "iteration"))
    trainer.extend(look, trigger=(1, "iteration"), priority=-600)
    trainer.run()
    assert seen == [True, 1, 1, 1, 1, 1, 6, 6, 6, 6, 6, 11]  # every 30 seconds


def test_a_page_that_takes_long_is_written_less_often(counting_trainer, tmp_path, monkeypatch):
    now, written = [0.0], []

    def slow(folder):
        written.append(now[0])
        now[0] += 2.0

    monkeypatch.setattr(run_report, "write_run_report", slow)
    trainer = counting_trainer([RunReport(trigger=(999, "epoch"), clock=lambda: now[0])], None, (500, "iteration"))
    trainer.extend(lambda trainer: now.append(now.pop() + 1.0))
    trainer.run()
    assert [round(b - a) for a, b in itertools.pairwise(written[1:-1])] == [32, 202, 202]


def test_a_page_that_cannot_be_written_ends_nothing(counting_trainer, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    trainer = counting_trainer([RunReport()], act)
    with pytest.warns(RuntimeWarning, match=r"report.html could not be written: No space left"):
        trainer.run()
    assert trainer.updater.iteration == 8
    assert list(tmp_path.iterdir()) == []
