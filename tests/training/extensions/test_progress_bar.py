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
    counting_trainer([bar], act, until).run()
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


def test_the_rate_follows_but_does_not_jump(counting_trainer):
    clock, out = Clock(), io.StringIO()

    def act(iteration):
        clock.now += 1 if iteration != 5 else 11

    bar = extensions.ProgressBar(out=out, clock=clock, interval=0)
    counting_trainer([bar], act).run()
    assert "iteration 5, 2.0 seconds each" in out.getvalue()


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
