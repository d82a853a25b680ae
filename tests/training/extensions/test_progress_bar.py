"""The line that says how far training is."""

import io
import re

import pytest

from cvzoo.reporting import report
from cvzoo.training import extensions, triggers


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def lines_of(counting_trainer, out, until=(2, "epoch"), seconds=1.0, **more):
    clock = Clock()

    def act(iteration):
        clock.now += seconds
        report({"main/loss": 1 / iteration, "other": iteration})

    bar = extensions.ProgressBar(out=out, clock=clock, bar_length=8, **more)
    counting_trainer([bar], act, until, clock=clock).run()
    return out.getvalue()


def test_elsewhere_there_is_a_plain_line_now_and_then(counting_trainer):
    text = lines_of(counting_trainer, io.StringIO(), seconds=20)
    assert text.splitlines() == [
        "[##......] 25.0 %, epoch 0.50, iteration 2, main/loss 0.5, 20.0 seconds each, 2:00 left",
        "[####....] 50.0 %, epoch 1.00, iteration 4, main/loss 0.25, 20.0 seconds each, 1:20 left",
        "[######..] 75.0 %, epoch 1.50, iteration 6, main/loss 0.1667, 20.0 seconds each, 0:40 left",
        "[########] 100.0 %, epoch 2.00, iteration 8, main/loss 0.125, 20.0 seconds each",
    ]


def test_a_short_run_says_only_its_end(counting_trainer):
    assert len(lines_of(counting_trainer, io.StringIO(), seconds=0.01).splitlines()) == 1


def test_on_a_terminal_the_line_is_rewritten(counting_trainer):
    text = lines_of(counting_trainer, Terminal(), seconds=0.25)
    assert text.count("\r") == 8
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "4.0 iterations a second" in text
    assert max(len(line) for line in text.split("\r")) < 110


def test_long_times_have_hours(counting_trainer):
    text = lines_of(counting_trainer, io.StringIO(), until=(1000, "iteration"), seconds=40)
    assert re.search(r"11:05:20 left", text)


def test_values_can_be_chosen(counting_trainer):
    text = lines_of(counting_trainer, io.StringIO(), keys=("other", "absent"), interval=0)
    assert "iteration 3, other 3, 1.0 iterations a second" in text


@pytest.fixture
def told(counting_trainer):
    """A function (seconds of each update, seconds of each validation, start=0) -> {iteration: what is said of it}."""

    def run(seconds, validation=0, *, start=0, n=40):
        clock, out = Clock(), io.StringIO()

        def act(iteration):
            clock.now += seconds(iteration)

        def validate(trainer):
            clock.now += validation

        bar = extensions.ProgressBar(out=out, clock=clock, interval=0)
        trainer = counting_trainer([bar], act, (n, "iteration"), clock=clock)
        trainer.extend(validate, trigger=(1, "epoch"), priority=300)
        trainer.updater.iteration = start
        trainer.run()
        lines = out.getvalue().splitlines()
        return {start + i: line.partition(f"iteration {start + i}")[2] for i, line in enumerate(lines, 1)}

    return run


def test_the_first_update_of_a_process_is_forgotten(told):
    lines = told(lambda i: 45 if i == 1 else 3)
    assert lines[1] == ""
    assert lines[2] == ", 3.0 seconds each, 1:54 left"
    assert lines[39] == ", 3.0 seconds each, 0:03 left"


def test_a_resumed_run_forgets_its_first_update_too(told):
    lines = told(lambda i: 45 if i == 31 else 3, start=30)
    assert lines[31] == ""
    assert lines[32] == ", 3.0 seconds each, 0:24 left"


def test_validations_are_no_part_of_the_rate_but_of_the_time_left(told):
    lines = told(lambda i: 2, 60)  # after each 4 of 40 updates
    assert lines[3] == ", 2.0 seconds each, 1:14 left"  # none was seen yet
    assert all("2.0 seconds each" in line for i, line in lines.items() if i > 1)
    for i in range(8, 40):
        minutes, seconds = lines[i].split(", ")[2].removesuffix(" left").split(":")
        left = int(minutes) * 60 + int(seconds)
        assert abs(left - (2 * (40 - i) + 60 * (40 - i) / 4)) <= 1, i


def test_a_run_resumed_just_before_a_validation_does_not_expect_one_each_update(told):
    lines = told(lambda i: 2, 60, start=2)
    assert lines[4] == ", 2.0 seconds each, 10:12 left"  # 36 updates, and 9 validations


def test_the_rate_follows_but_does_not_jump(told):
    lines = told(lambda i: 11 if i == 20 else 1 if i < 30 else 2)
    assert lines[20].startswith(", 2.0 seconds each")
    assert lines[29].startswith(", 1.4 seconds each")
    assert lines[39].startswith(", 1.8 seconds each")


@pytest.mark.parametrize("until", [lambda trainer: trainer.updater.iteration == 4, (8, "iteration")])
def test_who_does_not_know_the_end_says_none(counting_trainer, until):
    text = lines_of(counting_trainer, io.StringIO(), until=until, interval=0)
    assert ("left" in text) == (until == (8, "iteration"))
    assert "iteration 4" in text


def test_the_length_can_be_told(counting_trainer):
    text = lines_of(
        counting_trainer,
        io.StringIO(),
        until=lambda t: t.updater.iteration == 4,
        training_length=(4, "epoch"),
        interval=0,
    )
    assert "25.0 %" in text
    assert "12 left" in text


def test_early_stopping_knows_its_longest(counting_trainer):
    stop = triggers.EarlyStoppingTrigger(patience=9, max_trigger=(2, "epoch"))
    assert "50.0 %" in lines_of(counting_trainer, io.StringIO(), until=stop, interval=0)
