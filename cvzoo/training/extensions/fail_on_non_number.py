"""Early failure of a training with NaN or infinite values, with their origin."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.config.randomness import get_random_state, using_random_state
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.training.extension import PRIORITY_WRITER, AbstractExtension
from cvzoo.training.non_number.all_finite import all_finite
from cvzoo.training.non_number.first_non_number import FirstNonNumber, NonNumberFound, names_of
from cvzoo.training.updaters.standard_updater import StandardUpdater
from cvzoo.typing.aliases import Array

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_HOOK = "FailOnNonNumber"


class FailOnNonNumber(AbstractExtension):
    """Raises ValueRangeError at the first loss, gradient or parameter that is NaN or infinite.

    Losses (reported values with "loss" in their last name) and gradients are checked before the parameters are updated,
    parameters and running means after that, so that no snapshot has invalid values. The error names the first parameter
    and the first function with a NaN or infinite output: to find it, the iteration is repeated with the same batch and
    random numbers, with a check of the output of every function. That needs a StandardUpdater, or a subclass.

    The cost is two passes over the parameters per iteration. Overflows that loss scaling handles are not errors. While
    the training runs, NumPy does not warn of overflows and invalid values in this thread: the error says more.
    Source: Chainer's extension of this name, which checks parameters only and names none.
    """

    priority = PRIORITY_WRITER + 100  # before all that would process or save invalid values
    default_name = "FailOnNonNumber"

    def __init__(self) -> None:
        self._trainer: Trainer | None = None
        self._before: dict[str, Any] = {}  # states of iterators and random generators before the iteration
        self._looked_at: set[int] = set()  # ids of the optimizers with finite gradients in this iteration
        self._repeating = False
        self._numpy_errors: Any = {}  # how NumPy treated them before

    def initialize(self, trainer: "Trainer") -> None:
        self._trainer = trainer
        self._numpy_errors = np.seterr(over="ignore", invalid="ignore", divide="ignore")
        for optimizer in trainer.updater.get_all_optimizers().values():
            optimizer.add_hook(self._look_at_gradients, name=_HOOK, timing="first")
        self._remember(trainer)

    def finalize(self) -> None:
        if self._trainer is not None:
            for optimizer in self._trainer.updater.get_all_optimizers().values():
                optimizer.remove_hook(_HOOK)
            self._trainer = None
            np.seterr(**self._numpy_errors)

    def __call__(self, trainer: "Trainer") -> None:
        lines = _bad_losses(trainer)
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            link = optimizer.target
            values = {path: parameter.array for path, parameter in link.namedparams(include_uninit=False)}
            lines += _bad(f"{name}: parameter", values)
            lines += _bad(f"{name}: value", {path: x for path, x in link.namedpersistents() if x is not None})
            if id(optimizer) in self._looked_at and _bad("", values):
                lines.append(_about_update(optimizer))
        if lines:
            # after an update of the parameters, the iteration cannot be repeated
            self._fail(trainer, trainer.updater.iteration, lines, repeat=not self._looked_at)
        self._looked_at.clear()
        self._remember(trainer)

    def _look_at_gradients(self, optimizer: AbstractOptimizer) -> None:
        if self._repeating:
            raise NonNumberFound  # the forward and backward passes had no NaN: keep the parameters as they are
        trainer = self._trainer
        if trainer is None:
            return
        lines = _bad_losses(trainer)
        gradients = {
            path: parameter.grad
            for path, parameter in optimizer.target.namedparams(include_uninit=False)
            if parameter.grad is not None
        }
        lines += _bad("gradient of", gradients)
        if lines:
            self._fail(trainer, trainer.updater.iteration + 1, lines, repeat=True)
        self._looked_at.add(id(optimizer))

    def _remember(self, trainer: "Trainer") -> None:
        self._before = {"random": get_random_state()}
        if isinstance(trainer.updater, StandardUpdater):
            self._before["iterators"] = {name: each.state() for name, each in trainer.updater.iterators.items()}

    def _fail(self, trainer: "Trainer", iteration: int, lines: list[str], *, repeat: bool) -> None:
        if repeat:
            lines = [*lines, *self._repeat(trainer)]
        raise ValueRangeError(
            "\n  ".join([f"iteration {iteration} of training has NaN or infinite values:", *lines]),
            hint="a lower learning rate, a longer warm-up, gradient clipping; examples without NaN",
        )

    def _repeat(self, trainer: "Trainer") -> list[str]:
        """Lines on the first function with NaN or infinite outputs."""
        updater = trainer.updater
        if not isinstance(updater, StandardUpdater):
            return [f"the first function is unknown: iterations of {type(updater).__name__} cannot be repeated"]
        after = {name: each.state() for name, each in updater.iterators.items()}
        hook = FirstNonNumber([optimizer.target for optimizer in updater.get_all_optimizers().values()])
        iteration = updater.iteration
        self._repeating = True
        try:
            for name, each in updater.iterators.items():
                each.load_state(self._before["iterators"][name])
            with using_random_state(self._before["random"]), hook:
                updater.update()
        except NonNumberFound:
            pass
        finally:
            self._repeating = False
            updater.iteration = iteration
            for name, each in updater.iterators.items():
                each.load_state(after[name])
        if not hook.story:
            return ["the first function is unknown: the repeated iteration has finite values"]
        return [f"first: {hook.story[0]}", *(f"then: {line}" for line in hook.story[1:])]


def _bad_losses(trainer: "Trainer") -> list[str]:
    bad = []
    for key, value in trainer.observation.items():
        if "loss" in key.rpartition("/")[2] and np.ndim(value) == 0 and not all_finite(value):
            bad.append(f"{key} is {float(value)}")
    return bad


def _bad(what: str, arrays: dict[str, Array]) -> list[str]:
    names = names_of(arrays)
    if not names:
        return []
    return [f"{what} {names[0]}" + (f", and {len(names) - 1} more of {len(arrays)}" if len(names) > 1 else "")]


def _about_update(optimizer: AbstractOptimizer) -> str:
    largest = max(
        (float(abs(p.grad).max()) for p in optimizer.target.params() if p.grad is not None and p.grad.size),
        default=0.0,
    )
    numbers = ", ".join(f"{name} {value:g}" for name, value in optimizer.hyperparam.get_dict().items())
    kind = type(optimizer).__name__
    return f"first: {kind}'s update, of gradients that were finite (up to {largest:.4g}), with {numbers}"
