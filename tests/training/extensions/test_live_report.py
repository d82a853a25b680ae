"""Rows for programs that show a training."""

import itertools
import json

import pytest

from cvzoo.optimizers import AdamW
from cvzoo.reporting.reporter import report
from cvzoo.training import StandardUpdater, Trainer
from cvzoo.training.extensions.live_report import LiveReport


def rows(path):
    return [json.loads(line) for line in (path / "live.jsonl").read_text().splitlines()]


def ticking(step):
    """A clock that is `step` seconds later at each look."""
    return itertools.count(0, step).__next__


def act(iteration):
    report({"main/loss": 1.0 * iteration, "main/other": 2.0})


def test_a_row_is_written_when_its_time_has_come(counting_trainer, tmp_path):
    # of each iteration the clock is asked once, and once more after a row
    counting_trainer([LiveReport(seconds=2.0, clock=ticking(1.0))], act).run()
    found = rows(tmp_path)
    assert [row["iteration"] for row in found] == [1, 3, 5, 7]
    assert [row["main/loss"] for row in found] == [1.0, 2.5, 4.5, 6.5]  # the mean since the row before
    assert set(found[0]) == {"epoch", "iteration", "elapsed_time", "main/loss"}
    assert found[1]["epoch"] == 0.75


def test_the_learning_rate_is_in_it(small, tmp_path):
    made = small(stop=(2, "iteration"))
    made.trainer.extend(LiveReport(seconds=0.0, clock=ticking(1.0)))
    made.trainer.run()
    assert [row["lr"] for row in rows(tmp_path / "result")] == [0.1, 0.1]


def test_the_learning_rate_of_adamw_has_its_schedule(small, tmp_path):
    made = small(stop=(1, "iteration"))
    optimizer = AdamW(0.1, eta=0.5).setup(made.model)
    updater = StandardUpdater(made.iterator, optimizer)
    trainer = Trainer(updater, (1, "iteration"), out=tmp_path, extensions=[LiveReport(seconds=0.0, clock=ticking(1.0))])
    trainer.run()
    assert [row["lr"] for row in rows(tmp_path)] == [0.05]


def test_a_resumed_run_removes_the_rows_after_its_snapshot(counting_trainer, tmp_path):
    counting_trainer([LiveReport(seconds=0.0, clock=ticking(1.0))], act, (6, "iteration")).run()
    with open(tmp_path / "live.jsonl", "a") as file:
        file.write('{"epoch": 9')
    resumed = counting_trainer([LiveReport(seconds=0.0, clock=ticking(1.0))], act)
    resumed.updater.iteration = 4
    resumed.run()
    assert [row["iteration"] for row in rows(tmp_path)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_new_run_begins_a_new_file(counting_trainer, tmp_path):
    for _ in range(2):
        counting_trainer([LiveReport(seconds=0.0, clock=ticking(1.0))], act).run()
    assert len(rows(tmp_path)) == 8


def test_a_disk_that_is_full_ends_no_training(counting_trainer, tmp_path):
    live = LiveReport(seconds=0.0, clock=ticking(1.0))
    trainer = counting_trainer([live], lambda i: i == 1 and (tmp_path / "live.jsonl").unlink(), (2, "iteration"))
    with pytest.warns(RuntimeWarning, match="could not be written"):
        trainer.run()
