"""Metrics as CSV."""

import csv

import pytest

from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.csv_report import CSVReport


def act(iteration):
    values = {"main/loss": 1 / iteration}
    if iteration >= 5:
        values['validation, "main"/map'] = iteration / 10
    report(values)


def read(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_a_value_that_comes_later_gets_a_column(counting_trainer, tmp_path):
    counting_trainer([CSVReport(trigger=(2, "iteration"))], act).run()
    head, *rows = read(tmp_path / "metrics.csv")
    assert head == ["epoch", "iteration", "elapsed_time", "main/loss", 'validation, "main"/map']
    assert [row[:2] for row in rows] == [["0", "2"], ["1", "4"], ["1", "6"], ["2", "8"]]
    assert [row[4] for row in rows] == ["", "", "0.55", "0.75"]
    assert float(rows[0][3]) == (1 + 1 / 2) / 2


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 7])
def test_a_run_that_goes_on_has_the_rows_of_one_never_stopped(counting_trainer, tmp_path, stop):
    def make():
        return counting_trainer([CSVReport(trigger=(2, "iteration"))], act, (10, "iteration"))

    make().run()
    whole = read(tmp_path / "metrics.csv")
    states = []
    first = make()
    first.extend(lambda trainer: states.append(trainer.state()), trigger=(stop, "iteration"), priority=-1000)
    first.run()
    second = make()
    second.load_state(states[0])
    second.run()
    again = read(tmp_path / "metrics.csv")
    assert [row[:2] + row[3:] for row in again] == [row[:2] + row[3:] for row in whole]


def test_lost_rows_are_told(counting_trainer, tmp_path):
    first = counting_trainer([CSVReport()], act)
    first.run()
    (tmp_path / "metrics.csv").unlink()
    second = counting_trainer([CSVReport()], act, (3, "epoch"))
    second.load_state(first.state())
    with pytest.warns(RuntimeWarning, match="only 0 of its 2 rows"):
        second.run()
    assert [row[0] for row in read(tmp_path / "metrics.csv")] == ["epoch", "3"]


def test_a_run_of_no_epochs_has_a_head(counting_trainer, tmp_path):
    counting_trainer([CSVReport()], act, (1, "iteration")).run()
    assert read(tmp_path / "metrics.csv") == [["epoch", "iteration", "elapsed_time"]]
