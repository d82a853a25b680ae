"""Plans of hyper-parameters against their formulas."""

import json
import math
import types

import pytest

from cvzoo.errors import ValueRangeError
from cvzoo.optimizers import AdamW
from cvzoo.training import StandardUpdater, Trainer, extensions
from cvzoo.training.extensions import (
    CosineShift,
    ExponentialShift,
    LinearShift,
    MultistepShift,
    OneCycleShift,
    PolynomialShift,
    StepShift,
    WarmupShift,
    make_shift,
)

# the first values of each plan, of an optimizer whose lr is 0.8
PLANS = [
    (lambda: ExponentialShift("lr", 0.5), [0.8, 0.4, 0.2, 0.1, 0.05, 0.025]),
    (lambda: ExponentialShift("lr", 0.5, init=1.0, target=0.3), [1.0, 0.5, 0.3, 0.3]),
    (lambda: ExponentialShift("lr", 2.0, target=2.0), [0.8, 1.6, 2.0, 2.0]),
    (lambda: LinearShift("lr", (1.0, 0.0), (1, 5)), [1.0, 1.0, 0.75, 0.5, 0.25, 0.0, 0.0]),
    (lambda: StepShift("lr", 0.5, 2), [0.8, 0.8, 0.4, 0.4, 0.2, 0.2]),
    (lambda: StepShift("lr", 0.5, 2, target=0.3), [0.8, 0.8, 0.4, 0.4, 0.3, 0.3]),
    (lambda: MultistepShift("lr", 0.1, [4, 2]), [0.8, 0.8, 0.08, 0.08, 0.008, 0.008]),
    (lambda: PolynomialShift("lr", 1.0, 4), [0.8, 0.6, 0.4, 0.2, 0.0, 0.0]),
    (lambda: PolynomialShift("lr", 2.0, 2, target=0.1), [0.8, 0.2, 0.1, 0.1]),
    (lambda: CosineShift("lr", 4), [0.8, 0.4 + 0.4 * math.sqrt(0.5), 0.4, 0.4 - 0.4 * math.sqrt(0.5), 0.0, 0.0]),
    (lambda: CosineShift("lr", 2, target=0.4), [0.8, 0.6, 0.4, 0.4]),
    (lambda: WarmupShift("lr", 0.0, 4), [0.0, 0.2, 0.4, 0.6, 0.8, 0.8]),
    (lambda: WarmupShift("lr", 0.2, 2, init=0.4), [0.2, 0.3, 0.4, 0.4]),
    (lambda: WarmupShift("lr", 0.0, 2, then=MultistepShift("lr", 0.5, [4])), [0.0, 0.4, 0.8, 0.8, 0.4, 0.4]),
    (lambda: WarmupShift("lr", 0.0, 2, then=PolynomialShift("lr", 1.0, 4)), [0.0, 0.3, 0.4, 0.2, 0.0]),
]


class Optimizer:
    __slots__ = ("alpha", "lr")

    def __init__(self):
        self.lr = 0.8
        self.alpha = 0.1


def trainer_of(optimizer):
    updater = types.SimpleNamespace(get_optimizer=lambda name: {"main": optimizer}[name])
    return types.SimpleNamespace(updater=updater)


def used(shift, n, optimizer=None):
    """The values that the first n updates use."""
    optimizer = Optimizer() if optimizer is None else optimizer
    trainer = trainer_of(optimizer)
    shift.initialize(trainer)
    values = []
    for _ in range(n):
        values.append(optimizer.lr)
        shift(trainer)
    return values


@pytest.mark.parametrize(("make", "values"), PLANS)
def test_values(make, values):
    assert used(make(), len(values)) == pytest.approx(values, abs=1e-12)


@pytest.mark.parametrize(("make", "values"), PLANS)
@pytest.mark.parametrize("stop", [0, 1, 3])
def test_a_plan_goes_on_after_a_resume(make, values, stop):
    first = make()
    before = used(first, stop)
    resumed, optimizer = make(), Optimizer()
    optimizer.lr = 123.0  # what the script says, or the state had: the plan's own values count
    if stop:
        resumed.load_state(json.loads(json.dumps(first.state())))
    else:
        optimizer.lr = 0.8
    assert before + used(resumed, len(values) - stop, optimizer) == pytest.approx(values, abs=1e-12)


def test_one_cycle_has_the_values_of_the_usual_implementation():
    # torch 2.15, OneCycleLR(max_lr=0.8, total_steps=10), cosine, cycle_momentum=False
    values = [0.032, 0.416, 0.8, 0.7603877056107791, 0.6493965231598104, 0.48900961754903144]
    values += [0.3109935824509686, 0.1506066768401896, 0.03961549438922103, 3.2e-06]
    shift = OneCycleShift("lr", 10)
    assert used(shift, 12) == pytest.approx([*values, 3.2e-06, 3.2e-06], rel=1e-9)
    assert used(OneCycleShift("lr", 10, 0.8), 10)[2] == pytest.approx(0.8)


def test_another_hyper_parameter_and_optimizer_can_be_shifted():
    optimizer, main = Optimizer(), Optimizer()
    shift = ExponentialShift("alpha", 0.5, optimizer=optimizer)
    trainer = trainer_of(main)
    shift.initialize(trainer)
    shift(trainer)
    assert (optimizer.alpha, optimizer.lr, main.alpha) == (0.05, 0.8, 0.1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ExponentialShift("lr", 0),
        lambda: LinearShift("lr", (1, 0), (5, 5)),
        lambda: StepShift("lr", 0.1, 0),
        lambda: PolynomialShift("lr", 1, 0),
        lambda: CosineShift("lr", -1),
        lambda: OneCycleShift("lr", 0),
        lambda: OneCycleShift("lr", 10, rise=1.0),
        lambda: WarmupShift("lr", 0, 0),
        lambda: WarmupShift("lr", 0, 5, then=CosineShift("momentum", 9)),
    ],
)
def test_settings_without_sense_are_refused(make):
    with pytest.raises(ValueRangeError):
        make()


def test_an_attribute_that_the_optimizer_has_not_is_an_error():
    with pytest.raises(AttributeError, match="rl"):
        used(ExponentialShift("rl", 0.5, init=1.0), 1)


def test_in_a_trainer_the_rate_that_was_used_is_observed(small):
    seen = []
    it = small((6, "iteration"))
    it.trainer.extend(MultistepShift("lr", 0.5, [2, 4]))
    it.trainer.extend(extensions.observe_lr(), trigger=(1, "iteration"))
    it.trainer.extend(
        extensions.observe_value("t", lambda trainer: trainer.updater.iteration), trigger=(1, "iteration")
    )
    it.trainer.extend(lambda trainer: seen.append((trainer.observation["lr"], trainer.observation["t"])))
    it.trainer.run()
    assert seen == [(0.1, 1), (0.1, 2), (0.05, 3), (0.05, 4), (0.025, 5), (0.025, 6)]


def test_the_observed_rate_of_adamw_has_its_schedule(small):
    made = small(stop=(2, "iteration"))
    trainer = Trainer(StandardUpdater(made.iterator, AdamW(0.1, eta=0.5).setup(made.model)), (2, "iteration"))
    seen = []
    trainer.extend(extensions.observe_lr(), trigger=(1, "iteration"))
    trainer.extend(lambda trainer: seen.append(trainer.observation["lr"]))
    trainer.run()
    assert seen == [0.05, 0.05]


def test_a_schedule_by_epochs(small):
    it = small((3, "epoch"))
    it.trainer.extend(ExponentialShift("lr", 0.5), trigger=(1, "epoch"))
    it.trainer.run()
    assert it.optimizer.lr == 0.1 * 0.5**3


def test_a_function_of_the_trainer_becomes_a_shift():
    @make_shift("alpha")
    def twice_the_lr(trainer):
        return 2 * trainer.updater.get_optimizer("main").lr

    optimizer = Optimizer()
    assert twice_the_lr.default_name == "twice_the_lr"
    twice_the_lr.initialize(trainer_of(optimizer))
    assert optimizer.alpha == 1.6
    optimizer.lr = 1.0
    twice_the_lr(trainer_of(optimizer))
    assert optimizer.alpha == 2.0


def test_a_functions_shift_may_have_an_optimizer_of_its_own():
    own = Optimizer()
    make_shift("lr", own)(lambda trainer: 3)(trainer_of(Optimizer()))
    assert own.lr == 3
