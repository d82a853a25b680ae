"""The standard training step: batch, loss, gradients, update."""

from collections.abc import Callable, Mapping
from typing import Any

from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.training.concat_examples import batch_device, concat_examples
from cvzoo.training.updaters.abstract import AbstractUpdater

Converter = Callable[[list, str | int | None], Any]


class StandardUpdater(AbstractUpdater):
    """The standard updater: one step of the optimizer on `loss_func` of the next batch.

    iterator: an iterator, or several by name, of which "main" counts the epochs
    optimizer: an optimizer that was set up, or several by name
    converter: called with a batch, a list of examples, and the device; its result is passed to `loss_func`: a tuple as
        arguments, a dictionary as keyword arguments, anything else as the only argument
    device: to which the targets and the batches are moved: "cpu", "gpu:0"; None: targets are not moved, and batches are
        moved to the GPU of the main one, if any
    loss_func: the loss; None: the main optimizer's target
    update_core: the step itself, a function of this updater, for steps with several iterators or optimizers; None: the
        above, with the main ones. A subclass may override the method of that name instead, as in Chainer

    The state includes all iterators, optimizers and their targets. `new_epoch()` of optimizers is called here. If
    config.dtype is "mixed_fp16", the main optimizer scales losses (`loss_scaling`), unless there is an `update_core`.
    """

    def __init__(
        self,
        iterator: AbstractIterator[Any] | Mapping[str, AbstractIterator[Any]],
        optimizer: AbstractOptimizer | Mapping[str, AbstractOptimizer],
        converter: Converter = concat_examples,
        device: str | int | None = None,
        loss_func: Callable[..., Any] | None = None,
        *,
        update_core: Callable[[Any], object] | None = None,
    ):
        self.iterators = dict(iterator) if isinstance(iterator, Mapping) else {"main": iterator}
        self.optimizers: dict[str, Any] = dict(optimizer) if isinstance(optimizer, Mapping) else {"main": optimizer}
        for what, given in (("iterator", self.iterators), ("optimizer", self.optimizers)):
            if "main" not in given:
                raise ValueRangeError(f"StandardUpdater: one {what} must be called 'main'", got=sorted(given))
        for name, each in self.optimizers.items():
            if each.target is None:
                raise ValueRangeError(f"the optimizer {name!r} has no target", hint="optimizer.setup(model)")
            each.use_auto_new_epoch = True
        self.converter = converter
        self.device = device
        self.loss_func = loss_func
        self._update_core = update_core
        self.iteration = 0
        self._previous_epoch_detail = self.iterators["main"].epoch_detail
        if device is not None:
            for each in self.optimizers.values():
                each.target.to_device(device)
        self._scale_losses()

    def _scale_losses(self) -> None:
        """Turns loss scaling on for float16, where small gradients underflow; an `update_core` must do so itself."""
        optimizer = self.optimizers["main"]
        is_standard = self._update_core is None and type(self).update_core is StandardUpdater.update_core
        if switches.dtype == "mixed_fp16" and is_standard and not optimizer.is_scaling:
            optimizer.loss_scaling()

    def update(self) -> None:
        before = self.epoch_detail
        self.update_core()
        if self.is_new_epoch:
            for optimizer in self.optimizers.values():
                optimizer.new_epoch(auto=True)
        self._previous_epoch_detail = before
        self.iteration += 1

    def update_core(self) -> None:
        """One step: the constructor's `update_core`, or by default a step of the main optimizer on the next batch."""
        if self._update_core is not None:
            self._update_core(self)
            return
        iterator, optimizer = self.iterators["main"], self.optimizers["main"]
        loss_func = optimizer.target if self.loss_func is None else self.loss_func
        self._scale_losses()
        batch = self.converter(iterator.next(), batch_device(self.device, optimizer.target))
        if isinstance(batch, tuple):
            optimizer.update(loss_func, *batch)
        elif isinstance(batch, dict):
            optimizer.update(loss_func, **batch)
        else:
            optimizer.update(loss_func, batch)

    @property
    def epoch(self) -> int:
        return self.iterators["main"].epoch

    @property
    def epoch_detail(self) -> float:
        return self.iterators["main"].epoch_detail

    @property
    def previous_epoch_detail(self) -> float:
        return self._previous_epoch_detail

    @property
    def is_new_epoch(self) -> bool:
        return self.iterators["main"].is_new_epoch

    def get_iterator(self, name: str) -> AbstractIterator[Any]:
        """The iterator of that name."""
        return self.iterators[name]

    def get_optimizer(self, name: str) -> Any:  # an optimizer, whose hyperparameters are attributes
        return self.optimizers[name]

    def get_all_optimizers(self) -> dict[str, Any]:
        return dict(self.optimizers)

    def finalize(self) -> None:
        for iterator in self.iterators.values():
            iterator.finalize()

    def state(self) -> dict[str, Any]:
        return {
            "iteration": self.iteration,
            "previous_epoch_detail": self._previous_epoch_detail,
            "iterators": {name: each.state() for name, each in self.iterators.items()},
            "targets": {name: each.target.state_arrays() for name, each in self.optimizers.items()},
            "optimizers": {name: each.state() for name, each in self.optimizers.items()},
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restores a state. Raises ValueRangeError or WeightsMismatchError if it is of a different training."""
        for what, mine in (("iterators", self.iterators), ("optimizers", self.optimizers)):
            if set(state[what]) != set(mine):
                raise ValueRangeError(
                    f"the state is of different {what}", expected=sorted(mine), got=sorted(state[what])
                )
        for name, each in self.optimizers.items():
            each.target.load_arrays(state["targets"][name])
        for name, each in self.optimizers.items():
            each.load_state(state["optimizers"][name])
        for name, each in self.iterators.items():
            each.load_state(state["iterators"][name])
        self.iteration = int(state["iteration"])
        self._previous_epoch_detail = float(state["previous_epoch_detail"])
