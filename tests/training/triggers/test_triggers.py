"""When triggers fire, and that they fire alike after a resume."""

import json
import math
import types

import numpy as np
import pytest

from cvzoo.errors import DtypeError, ValueRangeError
from cvzoo.training import AbstractTrigger, get_trigger, triggers

PER_EPOCH = 4


def trainer_at(iteration, per_epoch=PER_EPOCH, elapsed=0.0, **observation):
    updater = types.SimpleNamespace(
        iteration=iteration,
        epoch=iteration // per_epoch,
        epoch_detail=iteration / per_epoch,
        previous_epoch_detail=max(iteration - 1, 0) / per_epoch,
    )
    return types.SimpleNamespace(
        updater=updater, observation=observation, elapsed_time=elapsed, is_before_training=iteration == 0
    )


def firings(trigger, n=16, per_epoch=PER_EPOCH, key="v", values=None):
    """The iterations at which it fires."""
    return [
        i
        for i in range(1, n + 1)
        if trigger(
            trainer_at(i, per_epoch, **({} if values is None or values[i - 1] is None else {key: values[i - 1]}))
        )
    ]


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        ((5, "iteration"), [5, 10, 15]),
        ((1, "epoch"), [4, 8, 12, 16]),
        ((2, "epoch"), [8, 16]),
        ((0.5, "epoch"), [2, 4, 6, 8, 10, 12, 14, 16]),
        (None, []),
        (lambda trainer: trainer.updater.iteration == 3, [3]),
        (triggers.OnceTrigger(), [1]),
        (triggers.ManualScheduleTrigger([2, 7], "iteration"), [2, 7]),
        (triggers.ManualScheduleTrigger([0.3, 2], "epoch"), [2, 8]),
        (triggers.ManualScheduleTrigger(3, "epoch"), [12]),
        (triggers.ManualScheduleTrigger([1.1, 1.2], "epoch"), [5]),  # both within one iteration
        (triggers.UntilTrigger(3.5, "epoch"), [14, 15, 16]),
    ],
)
def test_firings(trigger, fires):
    assert firings(get_trigger(trigger)) == fires


def test_an_epoch_of_uneven_batches_fires_when_it_is_passed():
    assert firings(get_trigger((1, "epoch")), n=10, per_epoch=3.5) == [4, 7]


@pytest.mark.parametrize("per_epoch", [10, 100, 300, 469])
@pytest.mark.parametrize("period", [0.1, 0.2, 0.3, 0.7])
def test_fractions_of_an_epoch_are_not_missed_or_doubled_by_rounding(per_epoch, period):
    n = 3 * per_epoch
    fires = firings(triggers.IntervalTrigger(period, "epoch"), n=n, per_epoch=per_epoch)
    count = int(3 / period + 1e-6)
    assert len(fires) == count
    assert fires == [-int(-(k * period * per_epoch - 1e-6) // 1) for k in range(1, count + 1)]


def test_an_interval_fires_not_before_training():
    assert not get_trigger((2, "iteration"))(trainer_at(0))
    assert not get_trigger((1, "epoch"))(trainer_at(0))


@pytest.mark.parametrize("pair", [(0, "epoch"), (-1, "iteration"), (1, "epochs"), (float("nan"), "epoch")])
def test_intervals_without_sense_are_refused(pair):
    with pytest.raises(ValueRangeError):
        get_trigger(pair)


@pytest.mark.parametrize("wrong", ["epoch", 3, (1, 2, 3)])
def test_what_is_no_trigger_is_refused(wrong):
    with pytest.raises(DtypeError, match="not a trigger"):
        get_trigger(wrong)


def test_a_trigger_stays_itself():
    trigger = triggers.OnceTrigger()
    assert get_trigger(trigger) is trigger


def test_once_can_come_again_on_resume():
    for call_on_resume in (False, True):
        first = triggers.OnceTrigger(call_on_resume)
        assert first(trainer_at(1))
        second = triggers.OnceTrigger(call_on_resume)
        second.load_state(first.state())
        assert second(trainer_at(2)) == call_on_resume


def test_time_fires_when_it_is_passed():
    trigger = triggers.TimeTrigger(10)
    assert [t for t in range(0, 40, 3) if trigger(trainer_at(1, elapsed=t))] == [12, 24, 36]


#                     epoch 1          2             3             4
VALUES = [1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0, 3.0]


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        (triggers.MaxValueTrigger("v"), [4, 8, 16]),
        (triggers.MinValueTrigger("v"), [4]),
        (triggers.MinValueTrigger("v", (3, "iteration")), [3]),
        (triggers.BestValueTrigger("v", lambda best, value: value < best + 1.5), [4, 12]),
    ],
)
def test_best_values(trigger, fires):
    assert firings(trigger, values=VALUES) == fires


def test_equal_is_not_better_and_nan_never_is():
    values = [float("nan")] * 4 + [2.0] * 8 + [float("nan")] * 4
    assert firings(triggers.MaxValueTrigger("v"), values=values) == [8]


def test_a_value_reported_once_an_interval_counts_once():
    values = [None, None, None, 1.0, None, None, None, 3.0]
    assert firings(triggers.MaxValueTrigger("v"), n=8, values=values) == [4, 8]


def test_a_key_that_nobody_reports_is_told_once():
    trigger = triggers.MaxValueTrigger("main/acuracy")
    with pytest.warns(RuntimeWarning, match=r"'main/acuracy'.*reported now: v") as caught:
        assert firings(trigger, values=VALUES) == []
    assert len(caught) == 1


def test_the_best_value_can_be_read():
    trigger = triggers.MaxValueTrigger("v")
    firings(trigger, values=VALUES)
    assert trigger.best_value == 4.5


@pytest.mark.parametrize(
    ("kwargs", "stops"),
    [
        ({"monitor": "v", "patience": 2, "mode": "min"}, 12),
        ({"monitor": "v", "patience": 2, "mode": "max"}, 17),
        ({"monitor": "v", "patience": 1, "mode": "max"}, 12),
        ({"monitor": "v", "patience": 9, "max_trigger": (7, "iteration")}, 7),
        ({"monitor": "v", "patience": 1, "check_trigger": (2, "iteration")}, 4),
    ],
)
def test_early_stopping(kwargs, stops):
    trigger = triggers.EarlyStoppingTrigger(**kwargs)
    fires = firings(trigger, values=VALUES)
    assert (fires or [17])[0] == stops
    assert fires == list(range(stops, 17))  # once stopped, always stopped


def test_early_stopping_knows_what_is_a_score():
    mode = {
        key: triggers.EarlyStoppingTrigger(monitor=key).mode for key in ("a/map", "x/accuracy", "main/loss", "miou")
    }
    assert mode == {"a/map": "max", "x/accuracy": "max", "main/loss": "min", "miou": "max"}


def test_early_stopping_counts_one_look_when_asked_twice():
    trigger = triggers.EarlyStoppingTrigger((1, "iteration"), "v", patience=2)
    for iteration, value in ((1, 1.0), (2, 2.0), (2, 2.0), (2, 2.0)):
        assert not trigger(trainer_at(iteration, v=value))
    assert trigger(trainer_at(3, v=2.0))


def test_early_stopping_does_not_look_before_training():
    trigger = triggers.EarlyStoppingTrigger((1, "iteration"), "v", patience=1)
    assert not trigger(trainer_at(0))
    assert trigger.count == 0


def test_early_stopping_says_what_it_finds(capsys):
    firings(triggers.EarlyStoppingTrigger(monitor="v", patience=2, verbose=True), n=8, values=VALUES)
    assert "v 3, best 1, 1 of 2 without a better one" in capsys.readouterr().err


def test_early_stopping_counts_only_intervals_in_which_the_value_was_reported():
    values = [None] * 16
    values[3], values[11] = 2.0, 3.0  # a validation every second epoch, checked every epoch
    trigger = triggers.EarlyStoppingTrigger(monitor="v", patience=2, mode="min")
    with pytest.warns(RuntimeWarning, match="not reported in its interval"):
        assert firings(trigger, values=values) == []
    assert (trigger.count, trigger.best, trigger.best_iteration) == (1, 2.0, 4)


def test_early_stopping_counts_values_that_are_nan():
    trigger = triggers.EarlyStoppingTrigger((1, "iteration"), "v", patience=3, mode="max")
    assert firings(trigger, n=5, values=[1.0, math.nan, math.nan, math.nan, 9.0]) == [4, 5]
    nothing = triggers.EarlyStoppingTrigger((1, "iteration"), "v", patience=2)
    assert firings(nothing, n=3, values=[math.nan] * 3) == [2, 3]
    assert nothing.reason() == "early stopping: v has not improved in the last 2 checks; best: no value"


def test_early_stopping_wants_an_improvement_of_more_than_min_delta():
    values = [1.0, 1.4, 1.5, 2.0]
    trigger = triggers.EarlyStoppingTrigger((1, "iteration"), "v", patience=2, mode="max", min_delta=0.5)
    assert firings(trigger, n=4, values=values) == [3, 4]
    assert trigger.best == 1.0


def test_early_stopping_says_why_it_stopped_and_other_triggers_do_not():
    trigger = triggers.EarlyStoppingTrigger(monitor="v", patience=2, mode="max", max_trigger=(12, "iteration"))
    assert firings(trigger, n=12, values=VALUES) == [12]
    assert trigger.reason() is None  # it had reached its length
    trigger = triggers.EarlyStoppingTrigger(monitor="v", patience=1, mode="max")
    assert firings(trigger, n=12, values=VALUES) == [12]
    assert trigger.reason() == "early stopping: v has not improved in the last check; best: 3 after iteration 8"
    assert triggers.UntilTrigger(1, "epoch").reason() is None


@pytest.mark.parametrize("kwargs", [{"mode": "up"}, {"patience": 0}, {"min_delta": -1}])
def test_early_stopping_refuses(kwargs):
    with pytest.raises(ValueRangeError):
        triggers.EarlyStoppingTrigger(**kwargs)


def test_lengths_of_training():
    assert triggers.get_stop_trigger((20, "epoch")).training_length() == (20, "epoch")
    assert triggers.EarlyStoppingTrigger(max_trigger=(7, "epoch")).training_length() == (7, "epoch")
    assert get_trigger(lambda trainer: False).training_length() is None


MAKERS = [
    lambda: get_trigger((1, "epoch")),
    lambda: get_trigger((3, "iteration")),
    lambda: triggers.OnceTrigger(),
    lambda: triggers.ManualScheduleTrigger([3, 9], "iteration"),
    lambda: triggers.MaxValueTrigger("v"),
    lambda: triggers.MinValueTrigger("v", (3, "iteration")),
    lambda: triggers.EarlyStoppingTrigger(monitor="v", patience=2, mode="max", check_trigger=(3, "iteration")),
    lambda: triggers.TimeTrigger(2.5),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("stop", [1, 3, 4, 7, 11])
def test_a_resumed_trigger_fires_alike(make, stop):
    values = np.random.default_rng(0).normal(size=16).tolist()

    def fires(trigger, first, last):
        return [i for i in range(first, last + 1) if trigger(trainer_at(i, elapsed=float(i), v=values[i - 1]))]

    straight, before, after = make(), make(), make()
    assert isinstance(straight, AbstractTrigger)
    expected = fires(straight, 1, 16)
    found = fires(before, 1, stop)
    after.load_state(json.loads(json.dumps(before.state())))
    assert found + fires(after, stop + 1, 16) == expected
