"""The log: what stands in it, and that a file of it is always whole."""

import errno
import json
import os

import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.reporting import report
from cvzoo.training import extensions


def test_lines_are_means_over_epochs(counting_trainer, tmp_path):
    log = extensions.LogReport()
    counting_trainer([log], act=lambda i: report({"x": i, "text": "no number"})).run()
    for line in log.log:
        assert line.pop("elapsed_time") >= 0
    assert log.log == [{"x": 2.5, "epoch": 1, "iteration": 4}, {"x": 6.5, "epoch": 2, "iteration": 8}]
    assert [line["x"] for line in json.loads((tmp_path / "log").read_text())] == [2.5, 6.5]


def test_keys_can_be_chosen(counting_trainer):
    log = extensions.LogReport(["b", "absent"], trigger=(3, "iteration"), filename=None)
    counting_trainer([log], act=lambda i: report({"a": i, "b": -i})).run()
    assert [sorted(line) for line in log.log] == [["b", "elapsed_time", "epoch", "iteration"]] * 2
    assert [line["b"] for line in log.log] == [-2, -5]


def test_lines_can_be_changed(counting_trainer):
    log = extensions.LogReport(postprocess=lambda line: line.update(twice=2 * line["x"]))
    counting_trainer([log], act=lambda i: report({"x": i})).run()
    assert [line["twice"] for line in log.log] == [5, 13]


def test_without_a_filename_there_is_no_file(counting_trainer, tmp_path):
    counting_trainer([extensions.LogReport(filename=None)]).run()
    assert not list(tmp_path.iterdir())


def test_no_number_is_null_in_the_file(counting_trainer, tmp_path):
    counting_trainer([extensions.LogReport()], act=lambda i: report({"x": float("nan"), "y": float("inf")})).run()
    line = json.loads((tmp_path / "log").read_text(), parse_constant=pytest.fail)[0]
    assert line["x"] is line["y"] is None


def test_a_full_disk_is_told_and_the_log_comes_whole_later(counting_trainer, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def act(iteration):
        report({"x": iteration})
        if iteration == 2:
            monkeypatch.setattr(os, "fsync", full)
        if iteration == 7:
            monkeypatch.undo()

    log = extensions.LogReport(trigger=(1, "iteration"))
    trainer = counting_trainer([log], act=act)
    with pytest.warns(RuntimeWarning, match="log could not be written: No space left on device"):
        trainer.run()
    assert [line["x"] for line in json.loads((tmp_path / "log").read_text())] == [1, 2, 3, 4, 5, 6, 7, 8]


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, is_terminal=True):
        self.text = ""
        self.is_terminal = is_terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return self.is_terminal


def test_a_table_is_printed(counting_trainer):
    out = Terminal(False)
    table = extensions.PrintReport(["epoch", "x", "a/rather/long/name", "absent"], out=out)
    # the table comes first and is written last
    counting_trainer([table, extensions.LogReport()], act=lambda i: report({"x": i / 3, "a/rather/long/name": 1})).run()
    assert out.text.splitlines() == [
        "epoch       x           a/rather/long/name  absent",
        "1           0.833333    1",
        "2           2.16667     1",
    ]


def test_without_entries_all_are_printed(counting_trainer):
    out = Terminal(False)
    counting_trainer([extensions.LogReport(), extensions.PrintReport(out=out)], act=lambda i: report({"x": i})).run()
    assert out.text.splitlines()[0].split() == ["epoch", "iteration", "x", "elapsed_time"]


def test_on_a_terminal_the_progress_line_is_cleared(counting_trainer):
    out = Terminal()
    counting_trainer([extensions.LogReport(), extensions.PrintReport(["epoch"], out=out)]).run()
    assert out.text == "\r\033[Kepoch\n\r\033[K1\n\r\033[K2\n"


def test_a_table_without_a_log_is_told_before_training(counting_trainer):
    trainer = counting_trainer([extensions.PrintReport(["epoch"])])
    with pytest.raises(ValueRangeError, match="the trainer has no extension 'LogReport'"):
        trainer.run()
    assert trainer.updater.iteration == 0


def test_a_table_can_be_of_a_log_of_another_name(counting_trainer):
    out = Terminal(False)
    log = extensions.LogReport(trigger=(4, "iteration"))
    counting_trainer([log, extensions.PrintReport(["iteration"], log, out)]).run()
    assert out.text.split() == ["iteration", "4", "8"]


@pytest.mark.parametrize("stop", [1, 4, 5, 7])
def test_logs_and_tables_go_on(counting_trainer, tmp_path, stop):
    def extend():
        return [extensions.LogReport(), extensions.PrintReport(["epoch", "x"], out=Terminal(False))]

    def act(iteration):
        report({"x": iteration})

    first = extend()
    before = counting_trainer(first, act, (stop, "iteration"))
    before.run()
    (tmp_path / "log").write_text("what was written after the snapshot")
    after = counting_trainer(extend(), act)
    assert after.load_state(before.state()) == []
    after.run()
    log = after.get_extension("LogReport").log
    assert [(line["x"], line["iteration"]) for line in log] == [(2.5, 4), (6.5, 8)]
    assert json.loads((tmp_path / "log").read_text()) == log
    printed = [
        line.split()
        for table in (first[1], after.get_extension("PrintReport"))
        for line in table._out.text.splitlines()
    ]
    assert [row for row in printed if row[0] != "epoch"] == [["1", "2.5"], ["2", "6.5"]]
