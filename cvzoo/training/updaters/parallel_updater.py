"""Data-parallel training on several devices of one process."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import get_device
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.links.link import Link
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.reporting.reporter import Reporter
from cvzoo.training.concat_examples import concat_examples
from cvzoo.training.updaters.standard_updater import Converter, StandardUpdater


class ParallelUpdater(StandardUpdater):
    """Data-parallel updater: each device computes the gradients of its part of the batch on a copy of the model.

    iterator, optimizer, converter: as for StandardUpdater
    devices: by name, with "main": {"main": "gpu:0", "second": "gpu:1"}; the target is moved to the main one
    loss_func: None: the copy of the target, called; else a function of the copy and the batch's arrays

    A batch is distributed to the devices in turn. The gradient is that of the mean over the whole batch, so that of one
    device up to rounding if the loss is a mean over examples; statistics of batch normalization are those of the main
    device's part. Reports are the main device's.

    Source: data parallelism as in Chainer's tutorial (Tokui et al., LearningSys 2015) and its ParallelUpdater. Where we
    differ: there the gradients of the parts are summed, so that the step size grows with the number of devices.
    """

    def __init__(
        self,
        iterator: AbstractIterator[Any] | Mapping[str, AbstractIterator[Any]],
        optimizer: AbstractOptimizer | Mapping[str, AbstractOptimizer],
        converter: Converter = concat_examples,
        *,
        devices: Mapping[str, str],
        loss_func: Callable[..., Any] | None = None,
    ):
        if "main" not in devices:
            raise ValueRangeError("ParallelUpdater: one device must be called 'main'", got=sorted(devices))
        if len({get_device(name) for name in devices.values()}) < len(devices):
            raise ValueRangeError("ParallelUpdater: devices must not repeat a device", got=dict(devices))
        super().__init__(iterator, optimizer, converter, devices["main"], loss_func, update_core=_update)
        self.devices = {"main": devices["main"], **devices}
        self._copies: dict[str, Link] = {}

    def model_on(self, name: str) -> Link:
        """The target for "main", its copy for the name of another device, created on first use."""
        main = self.optimizers["main"].target
        if name == "main":
            return main
        if name not in self._copies:
            self._copies[name] = main.copy("share").to_device(self.devices[name])
        return self._copies[name]


def _update(updater: ParallelUpdater) -> None:
    optimizer = updater.optimizers["main"]
    batch = updater.iterators["main"].next()
    losses, models = [], []
    # the main one first: parameters that it initializes in its first call are then copied
    for k, (name, device) in enumerate(updater.devices.items()):
        part = batch[k :: len(updater.devices)]
        if part:
            model = updater.model_on(name)
            model.cleargrads()
            with contextlib.nullcontext() if name == "main" else _discarded_reports(model):
                losses.append(_loss(updater, model, part, device) * (len(part) / len(batch)))
            models.append(model)
    for loss in losses:  # after all forward passes, so that the devices run concurrently
        optimizer.backward(loss)
    main, *others = models
    for model in others:
        main.addgrads(model)
    optimizer.update()
    for name in updater.devices:
        if name != "main":
            updater.model_on(name).copyparams(main, copy_persistent=False)


def _discarded_reports(model: Link) -> Reporter:
    """A reporter as context manager that discards the model's reports."""
    reporter = Reporter()
    reporter.add_observer("", model)
    reporter.add_observers("", model.namedlinks(skipself=True))
    return reporter


def _loss(updater: ParallelUpdater, model: Link, part: list, device: str) -> Variable:
    place = get_device(device)
    with using_config("device", place.name), place:
        arrays = updater.converter(part, device)
        given = () if updater.loss_func is None else (model,)
        loss_func = model if updater.loss_func is None else updater.loss_func
        if isinstance(arrays, tuple):
            return loss_func(*given, *arrays)
        if isinstance(arrays, dict):
            return loss_func(*given, **arrays)
        return loss_func(*given, arrays)
