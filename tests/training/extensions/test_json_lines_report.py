"""Metrics as JSON lines."""

import json
import math

import pytest

from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.json_lines_report import JSONLinesReport
from cvzoo.training.row_file import RowFile


def act(iteration):
    values = {"main/loss": 1 / iteration, "name": "a text"}
    if iteration % 4 == 0:
        values["validation/main/accuracy"] = iteration / 10
    report(values)


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_epoch_is_a_line_of_means(counting_trainer, tmp_path):
    counting_trainer([JSONLinesReport()], act).run()
    lines = read(tmp_path / "metrics.jsonl")
    assert [(line["epoch"], line["iteration"]) for line in lines] == [(1, 4), (2, 8)]
    assert lines[0]["main/loss"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert lines[1]["validation/main/accuracy"] == pytest.approx(0.8)
    assert 0 <= lines[0]["elapsed_time"] <= lines[1]["elapsed_time"]
    assert list(lines[0]) == ["epoch", "iteration", "elapsed_time", "main/loss", "validation/main/accuracy"]


def test_only_the_wanted_values_are_written(counting_trainer, tmp_path):
    counting_trainer([JSONLinesReport(["main/loss", "absent"], (3, "iteration"), filename="a.jsonl")], act).run()
    lines = read(tmp_path / "a.jsonl")
    assert [list(line)[3:] for line in lines] == [["main/loss"], ["main/loss"]]
    assert [line["iteration"] for line in lines] == [3, 6]


def test_what_is_not_finite_is_null(counting_trainer, tmp_path):
    counting_trainer([JSONLinesReport()], lambda i: report({"a": math.nan, "b": math.inf}), (1, "epoch")).run()
    (line,) = read(tmp_path / "metrics.jsonl")
    assert line["a"] is None
    assert line["b"] is None


def test_a_new_run_begins_a_new_file(counting_trainer, tmp_path):
    for _ in range(2):
        counting_trainer([JSONLinesReport()], act).run()
    assert len(read(tmp_path / "metrics.jsonl")) == 2


@pytest.mark.parametrize("stop", range(1, 9))
def test_a_run_that_goes_on_has_the_lines_of_one_never_stopped(counting_trainer, tmp_path, stop):
    counting_trainer([JSONLinesReport(trigger=(3, "iteration"))], act, (10, "iteration")).run()
    whole = read(tmp_path / "metrics.jsonl")

    states = []
    first = counting_trainer([JSONLinesReport(trigger=(3, "iteration"))], act, (10, "iteration"))
    first.extend(lambda trainer: states.append(trainer.state()), trigger=(stop, "iteration"), priority=-1000)
    first.extend(lambda trainer: (_ for _ in ()).throw(ZeroDivisionError), trigger=(9, "iteration"), name="crash")
    with pytest.raises(ZeroDivisionError):
        first.run()
    with open(tmp_path / "metrics.jsonl", "ab") as file:
        file.write(b'{"epoch": 7, "torn')

    second = counting_trainer([JSONLinesReport(trigger=(3, "iteration"))], act, (10, "iteration"))
    second.load_state(states[0])
    second.run()
    again = read(tmp_path / "metrics.jsonl")
    for line in (*whole, *again):
        del line["elapsed_time"]
    assert again == whole


def test_run_called_again_goes_on(counting_trainer, tmp_path):
    trainer = counting_trainer([JSONLinesReport()], act, (1, "epoch"))
    trainer.run()
    trainer.stop_trigger.period = 2
    trainer.run()
    assert [line["epoch"] for line in read(tmp_path / "metrics.jsonl")] == [1, 2]


def test_lost_lines_are_told(counting_trainer, tmp_path):
    first = counting_trainer([JSONLinesReport()], act)
    first.run()
    state = first.state()
    (tmp_path / "metrics.jsonl").unlink()
    second = counting_trainer([JSONLinesReport()], act, (3, "epoch"))
    second.load_state(state)
    with pytest.warns(RuntimeWarning, match="only 0 of its 2 lines"):
        second.run()
    assert [line["epoch"] for line in read(tmp_path / "metrics.jsonl")] == [3]


def test_a_line_that_cannot_be_written_is_told_and_training_goes_on(counting_trainer, tmp_path, monkeypatch):
    whole = RowFile.append

    def full(self, row):
        if '"epoch": 1' in row:
            raise OSError(28, "No space left on device")
        whole(self, row)

    monkeypatch.setattr(RowFile, "append", full)
    with pytest.warns(RuntimeWarning, match=r"metrics\.jsonl could not be written: No space left"):
        counting_trainer([JSONLinesReport()], act).run()
    assert [line["epoch"] for line in read(tmp_path / "metrics.jsonl")] == [2]


def test_a_file_that_somebody_takes_away_keeps_nobody_from_saving(counting_trainer, tmp_path):
    states = []
    trainer = counting_trainer([JSONLinesReport()], act)
    trainer.extend(lambda trainer: (tmp_path / "metrics.jsonl").unlink(), trigger=(5, "iteration"), name="unlink")
    trainer.extend(lambda trainer: states.append(trainer.state()), trigger=(6, "iteration"), name="save")
    with pytest.warns(RuntimeWarning, match=r"metrics\.jsonl could not be written"):
        trainer.run()
    assert len(states) == 1
