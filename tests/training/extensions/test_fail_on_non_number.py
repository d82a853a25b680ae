"""Runs that lose their numbers end, and say where."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.config.randomness import random_generator, set_seed
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.optimizers.hooks.gradient_clipping import GradientClipping
from cvzoo.optimizers.sgd import SGD
from cvzoo.reporting.reporter import report
from cvzoo.training.extensions.fail_on_non_number import FailOnNonNumber
from cvzoo.training.trainer import Trainer
from cvzoo.training.updaters.standard_updater import StandardUpdater


class Net(Chain):
    """Two layers and whatever stands between them."""

    def __init__(self, between):
        super().__init__()
        self.between = between
        with self.init_scope():
            self.l1 = Linear(3, 4)
            self.l2 = Linear(4, 1)

    def forward(self, x):
        loss = F.mean(self.l2(self.between(self.l1(x))) ** 2)
        report({"loss": loss}, self)
        return loss


def data(n=12):
    return np.random.default_rng(0).normal(size=(n, 3)).astype(np.float32)


def trainer_of(between, tmp_path, *, xs=None, lr=0.01, hook=None, accumulate=1, until=(6, "iteration")):
    set_seed(0)
    net = Net(between)
    optimizer = SGD(lr=lr).setup(net).accumulate(accumulate)
    if hook is not None:
        optimizer.add_hook(hook)
    iterator = SerialIterator(data() if xs is None else xs, 4, shuffle=False, seed=0)
    return Trainer(StandardUpdater(iterator, optimizer), until, out=tmp_path, extensions=[FailOnNonNumber()])


def message_of(trainer):
    before = np.geterr()
    with pytest.raises(ValueRangeError) as caught:  # without NumPy's warnings, which would be errors here
        trainer.run()
    assert np.geterr() == before
    return str(caught.value)


def bad_on(call, function, otherwise=F.tanh):
    """A layer that is `function` on the call of that number, counted from the first by a counter's values."""
    count = iter(range(1000))
    numbers = {}

    def between(h):
        # the same batch means the same call, also when the iteration is repeated
        key = h.array.tobytes()
        number = numbers.setdefault(key, next(count))
        return function(h) if number == call else otherwise(h)

    return between


def test_a_run_that_goes_well_is_left_alone(tmp_path):
    trainer = trainer_of(F.tanh, tmp_path)
    trainer.run()
    assert trainer.updater.iteration == 6
    optimizer = trainer.updater.get_optimizer("main")
    with pytest.raises(ValueRangeError, match="no hook"):
        optimizer.get_hook("FailOnNonNumber")  # gone again, for another trainer


def test_watching_changes_no_bit(tmp_path):
    found = []
    for watched in (True, False):
        trainer = trainer_of(lambda h: F.dropout(h, 0.5), tmp_path, hook=GradientClipping(0.01))
        if not watched:
            trainer._entries.clear()
        trainer.run()
        found.append(trainer.updater.get_optimizer("main").target.state_arrays())
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_a_logarithm_of_zero_is_found(tmp_path):
    between = bad_on(2, lambda h: F.log(F.relu(h)) * 0.0)
    trainer = trainer_of(between, tmp_path)
    text = message_of(trainer)
    assert "iteration 3 of training has NaN or infinite values" in text
    assert "main/loss is nan" in text
    assert "gradient of /l1/W, and 3 more of 4" in text
    assert "first: Log (after /l1/" in text
    assert "infinite of 16 values" in text
    assert "then: " in text
    assert all(np.isfinite(x).all() for x in trainer.updater.get_optimizer("main").target.state_arrays().values())


def test_a_backward_of_a_root_at_zero_is_found(tmp_path):
    between = bad_on(1, lambda h: F.sqrt(F.relu(h)))
    text = message_of(trainer_of(between, tmp_path))
    assert "iteration 2" in text
    assert "main/loss" not in text  # the loss itself is fine
    assert "gradient of /l1/W, and 1 more of 4" in text
    assert "Sqrt" in text.split("first: ")[1].splitlines()[0]


def test_clipping_does_not_hide_who_was_first(tmp_path):
    text = message_of(trainer_of(bad_on(1, lambda h: F.sqrt(F.relu(h))), tmp_path, hook=GradientClipping(1.0)))
    assert "gradient of /l1/W, and 1 more of 4" in text  # and not all four


def test_a_step_that_is_too_large_is_the_update_s_own(tmp_path):
    text = message_of(trainer_of(lambda h: h, tmp_path, xs=data() * 100, lr=1e38))
    assert "iteration 1" in text
    assert "main: parameter /l1/W, and 3 more of 4" in text
    assert "first: SGD's update, of gradients that were finite" in text
    assert "lr 1e+38" in text


def test_a_bad_example_is_named(tmp_path):
    xs = data()
    xs[6, 1] = np.nan  # the third of the second batch
    text = message_of(trainer_of(F.tanh, tmp_path, xs=xs))
    assert "iteration 2" in text
    assert "is bad from the beginning: 1 NaN of 12 values, in example 2 of 4" in text


def test_a_parameter_that_was_broken_before_is_named(tmp_path):
    trainer = trainer_of(F.tanh, tmp_path)
    trainer.updater.get_optimizer("main").target.l2.W.array[0, 0] = np.inf
    text = message_of(trainer)
    assert "first: the parameter /l2/W itself is bad from the beginning: 1 infinite of 4 values" in text


def test_random_numbers_are_drawn_again(tmp_path):
    def between(h):
        draw = random_generator().random()
        return F.log(h * 0.0 - 1.0) if 0.5 < draw < 0.6 else F.tanh(h)

    text = message_of(trainer_of(between, tmp_path, until=(200, "iteration")))
    assert "first: Log" in text
    assert "16 NaN of 16 values" in text


def test_the_iterator_stands_where_it_stood(tmp_path):
    trainer = trainer_of(bad_on(1, F.log), tmp_path, xs=-abs(data()))
    message_of(trainer)
    assert trainer.updater.iterators["main"].current_position == 8


def test_a_running_mean_is_watched_too(tmp_path):
    class Normalized(Net):
        def __init__(self):
            super().__init__(F.tanh)
            with self.init_scope():
                self.bn = BatchNormalization(4)

        def forward(self, x):
            self.bn.avg_var[0] = np.inf
            return super().forward(x)

    net = Normalized()
    updater = StandardUpdater(SerialIterator(data(), 4), SGD(lr=0.1).setup(net))
    text = message_of(Trainer(updater, (3, "iteration"), out=tmp_path, extensions=[FailOnNonNumber()]))
    assert "main: value /bn/avg_var" in text


def test_accumulated_batches_are_watched_one_by_one(tmp_path):
    trainer = trainer_of(bad_on(1, lambda h: F.log(-(h**2) - 1.0)), tmp_path, accumulate=3)
    text = message_of(trainer)
    assert "iteration 2" in text
    assert "first: Log" in text


def test_overflows_that_loss_scaling_watches_for_are_fine(tmp_path):
    trainer = trainer_of(lambda h: F.tanh(h) * 1e18, tmp_path)
    optimizer = trainer.updater.get_optimizer("main").loss_scaling()
    before = optimizer.loss_scale
    with np.errstate(all="ignore"):
        trainer.run()
    assert optimizer.loss_scale < before


def test_other_updaters_cannot_be_repeated(tmp_path, counting_trainer):
    def act(iteration):
        report({"main/loss": np.float32(np.inf)})

    text = message_of(counting_trainer([FailOnNonNumber()], act))
    assert "main/loss is inf" in text
    assert "iterations of CountingUpdater cannot be repeated" in text


def test_accuracies_of_nothing_are_no_failure(counting_trainer):
    trainer = counting_trainer([FailOnNonNumber()], lambda i: report({"main/accuracy": np.float32(np.nan)}))
    trainer.run()
    assert trainer.updater.iteration == 8


def test_what_does_not_happen_again_is_said(tmp_path):
    calls = []

    def between(h):
        calls.append(0)
        return F.log(h * 0.0 - 1.0) if len(calls) == 2 else F.tanh(h)

    text = message_of(trainer_of(between, tmp_path))
    assert "the first function is unknown: the repeated iteration has finite values" in text
