"""What all optimizers share: rules for the parameters of a link, hooks, and the update."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from cvzoo.backends.arrays import device_number, is_array
from cvzoo.backends.device import Device, device_of
from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.optimizers.entry import Entry
from cvzoo.optimizers.gradient_hook import AbstractGradientHook, Selector
from cvzoo.optimizers.hyperparameter import Hyperparameter
from cvzoo.optimizers.loss_scale import LossScale
from cvzoo.optimizers.on_device.plan import DevicePlan
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice
from cvzoo.optimizers.on_device.step import DeviceStep
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.optimizers.plan import Plan, Step
from cvzoo.optimizers.state import load_optimizer_state, optimizer_state
from cvzoo.optimizers.steps import Steps
from cvzoo.optimizers.update_rule import AbstractUpdateRule

Hook = AbstractGradientHook | AbstractOptimizerHook | Callable[[Any], None]
Self = TypeVar("Self", bound="AbstractOptimizer")


class AbstractOptimizer(abc.ABC):
    """Changes the parameters of a link by their gradients.

    >>> optimizer = optimizers.Adam(alpha=1e-3).setup(model)
    >>> optimizer.add_hook(optimizers.WeightDecay(1e-4))
    >>> optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), x, t)

    Parameters without a gradient, with `requires_grad` False, without a rule (`param.update_rule = None`) or with
    `param.update_rule.enabled` False are left as they are. Values are changed where they lie; a value that was replaced
    (`param.array = ...`) is found, one that is read-only is replaced by a copy. A parameter that stands in two places
    is updated once. Optimizers cannot be given attributes that they do not have: a misspelt hyper-parameter raises.

    On a GPU one launch updates all parameters of a rule, and nothing waits: whether gradients are finite and how long
    they are is found and used there (`loss_scaling`, GradientClipping). With loss scaling, hooks that are functions of
    your own make an update wait, since they are not called when it is left out. Rules and hooks of your own run as
    kernels too if they are made of NumPy's elementwise functions and look at no number; others run on a GPU's arrays.

    target: the link, None before `setup`
    t: how many updates were made; asking waits for a GPU that decides about them
    epoch: how many times `new_epoch()` was called
    hyperparam: the numbers of all parameters; also attributes of the optimizer
    exempt: (path, param) -> bool, the parameters that decoupled weight decay and trust ratios leave alone; or None
    use_auto_new_epoch: whether the updater calls `new_epoch(auto=True)`
    accumulation: how many calls of `update` make one update, by the mean of their gradients (`accumulate`)

    Source: Chainer's contract. Where we differ: built-in gradient hooks do not write into gradients.
    """

    __slots__ = (
        "_hooks",
        "_loss_scale",
        "_n_gradient",
        "_plans",
        "_recorded",
        "_t",
        "accumulation",
        "epoch",
        "exempt",
        "hyperparam",
        "mode",
        "target",
        "use_auto_new_epoch",
    )
    rule_class: ClassVar[type[AbstractUpdateRule]]

    def __init__(self, values: Mapping[str, float], exempt: Selector | None = None):
        self.target: Link | None = None
        self._t = 0
        self.epoch = 0
        self.hyperparam = Hyperparameter(values)
        self.exempt = exempt
        self.use_auto_new_epoch = False
        self.accumulation = 1
        self._hooks: dict[str, tuple[Hook, str]] = {}
        self._loss_scale: LossScale | None = None
        self._n_gradient = 0
        self._plans: dict[int, Plan | DevicePlan] = {}  # by the device's number
        self._recorded: list[tuple] | None = None  # what the graph that was captured last launches
        self.mode = "run"

    # --- what is optimized ------------------------------------------------------------------------------------------
    def setup(self: Self, link: Link) -> Self:
        """This optimizer, with fresh rules for the link's parameters, also for those that have no value yet.

        Raises DtypeError if it is no link, GraphError if it is quantized.
        """
        if not isinstance(link, Link):
            raise DtypeError(f"{type(self).__name__}.setup wants a Link", got=type(link).__name__)
        link.check_learns(f"{type(self).__name__}.setup")
        self.target = link
        self._forget_plans()
        self._t = self.epoch = self._n_gradient = 0
        for param in link.params():
            param.update_rule = self.create_update_rule()
        return self

    @property
    def t(self) -> int:
        self._settle()
        return self._t

    @t.setter
    def t(self, t: int) -> None:
        self._settle()
        self._t = t

    def _forget_plans(self) -> None:
        self._settle()
        self._plans.clear()
        self._recorded = None

    def _settle(self) -> None:
        """Take back updates that were counted and that a GPU left out."""
        skipped = 0 if self._loss_scale is None else self._loss_scale.take_skipped()
        if skipped:
            self._t -= skipped
            for plan in self._plans.values():
                for entry in plan.entries:
                    entry.rule.t -= skipped
            for hook, _ in self._hooks.values():
                if isinstance(hook, AbstractOptimizerHook):
                    hook.left_out(skipped)

    def create_update_rule(self) -> AbstractUpdateRule:
        """A rule for one more parameter: `param.update_rule = optimizer.create_update_rule()`."""
        return self.rule_class(self.hyperparam)

    def new_epoch(self, auto: bool = False) -> None:
        """Count an epoch; `auto` is the updater's word."""
        if auto != self.use_auto_new_epoch:
            raise GraphError(
                "new_epoch() is called by the updater and by you",
                hint="optimizer.use_auto_new_epoch = False to count yourself",
            )
        self.epoch += 1

    # --- hooks ------------------------------------------------------------------------------------------------------
    def add_hook(self, hook: Hook, name: str | None = None, timing: str | None = None) -> None:
        """Call `hook` at every update, after those that were added before it.

        hook: a gradient hook (WeightDecay ...), an optimizer hook, or a function of the optimizer
        name: how to find it again; by default the hook's own name
        timing: "pre" or "post" the update, for functions; other hooks know theirs. "first": before all hooks, for a
            function that looks at gradients as backward() left them
        Raises ValueRangeError if the name is taken.
        """
        if not callable(hook) and not isinstance(hook, AbstractGradientHook):
            raise DtypeError("a hook is called with the optimizer", got=type(hook).__name__)
        own = isinstance(hook, AbstractGradientHook | AbstractOptimizerHook)
        if name is None:
            name = hook.name if own else hook.__name__
        if timing is None:
            timing = hook.timing if isinstance(hook, AbstractOptimizerHook) else "pre"
        if timing not in ("first", "pre", "post") or (timing != "pre" and isinstance(hook, AbstractGradientHook)):
            expected = "'pre' or, unless it changes gradients, 'first' or 'post'"
            raise ValueRangeError("add_hook: timing", expected=expected, got=timing)
        if name in self._hooks:
            raise ValueRangeError(f"there is a hook {name!r} already", hint="add_hook(hook, name=...)")
        if timing == "first":
            self._hooks = {name: (hook, "pre"), **self._hooks}
        else:
            self._hooks[name] = (hook, timing)
        self._forget_plans()

    def remove_hook(self, name: str) -> None:
        """Do without the hook of that name.

        Raises ValueRangeError if there is none.
        """
        self.get_hook(name)
        del self._hooks[name]
        self._forget_plans()

    def get_hook(self, name: str) -> Hook:
        """The hook of that name.

        Raises ValueRangeError if there is none.
        """
        if name not in self._hooks:
            raise ValueRangeError(f"there is no hook {name!r}", expected=", ".join(self._hooks) or "none was added")
        return self._hooks[name][0]

    # --- gradients --------------------------------------------------------------------------------------------------
    def accumulate(self: Self, count: int) -> Self:
        """This optimizer, updating at every `count`th call of `update`, by the mean of the gradients since the last.

        Who calls `update()` without a loss leaves the gradients between the calls: backward() adds to them.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueRangeError("accumulate: how many batches make one update", expected="1 or more", got=count)
        self.accumulation = count
        return self

    def loss_scaling(self: Self, *, interval: int = 1000, scale: float | None = None) -> Self:
        """This optimizer, multiplying losses before backward() so that small gradients survive half precision.

        scale: a fixed factor; None lets it grow twofold after `interval` updates without overflow, and halves it at an
            overflow, whose update is left out
        """
        self._settle()
        self._loss_scale = LossScale(interval=interval, scale=scale)
        return self

    @property
    def is_scaling(self) -> bool:
        """Whether losses are scaled."""
        return self._loss_scale is not None

    @property
    def loss_scale(self) -> float:
        """What losses are multiplied with; 1 without loss scaling."""
        return 1.0 if self._loss_scale is None else self._loss_scale.scale

    def scaling_on(self, device: Device) -> ScalingOnDevice | None:
        """What decides on that GPU whether an update is made; None if the host does."""
        return None if self._loss_scale is None else self._loss_scale.if_on(device)

    def backward(self, loss: Any) -> None:
        """Call `loss.backward()`, with loss scaling if it is asked for."""
        if self._loss_scale is not None:
            loss.grad = self._loss_scale.fill(loss.array)
        loss.backward()

    # --- the update -------------------------------------------------------------------------------------------------
    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwds: Any) -> None:
        """Change the parameters by their gradients, or first compute these from `lossfun(*args, **kwds)`, a Variable.

        Raises GraphError before `setup`.
        """
        if self.target is None:
            raise GraphError(f"{type(self).__name__} has nothing to update", hint="optimizer.setup(model)")
        if lossfun is not None:
            if self._n_gradient == 0:
                self.target.cleargrads()
            loss = lossfun(*args, **kwds)
            self.backward(loss)
            del loss
        self._n_gradient += 1
        if self._n_gradient < self.accumulation:
            return
        count, self._n_gradient = self._n_gradient, 0
        self.mode = "record" if self._is_captured() else "run"
        try:
            self._update(count)
        finally:
            self.mode = "run"

    def _update(self, count: int) -> None:
        step = self._begin(count)
        if self._loss_scale is not None and not self._check(step):
            return
        number = 0
        for hook, timing in list(self._hooks.values()):
            if timing != "pre":
                continue
            if isinstance(hook, AbstractGradientHook):
                step = step or self._begin(None)
                step.add(number, hook)
                number += 1
                continue
            if step is not None and not (isinstance(hook, AbstractOptimizerHook) and not hook.sees_gradients):
                step.write_gradients()
                step = None
            hook(self)
        step = step or self._begin(None)
        if self.mode == "prepare" and [launch.what for launch in step.launches_of_update()] != self._recorded:
            raise _CaptureAgain
        if self.mode != "record":
            self._t += 1
        step.update()
        if self.mode == "record":
            self._recorded = [launch.what for launch in step.launches]
        for hook, timing in list(self._hooks.values()):
            if timing == "post":
                hook(self)

    def _check(self, step: Step | Steps | DeviceStep) -> bool:
        """Whether the update goes on: gradients are finite, or only the GPU knows."""
        scale = self._loss_scale
        if isinstance(step, DeviceStep):
            waits = self.mode == "run" and not all(_runs_on_device(hook) for hook, _ in self._hooks.values())
            if waits:
                self._settle()
            step.check()
            scale.changed()
            if not (waits and step.was_skipped()):
                return True
            scale.take_skipped()  # it is not counted here either
            return False
        finite = step.is_finite()
        if finite:
            scale.went_well()
        else:
            scale.overflowed()
        return finite

    def _begin(self, count: int | None) -> Step | Steps | DeviceStep:
        """A step for the gradients at hand; they are divided by `count` and the factor of losses, None: they were."""
        entries = self._entries()
        by_place: dict[int, list[Entry]] = {}
        for entry in entries:
            by_place.setdefault(device_number(entry.array), []).append(entry)
        if not by_place:
            by_place[-1] = []
        plans = {place: self._plans.get(place) for place in by_place}
        if len(plans) != len(self._plans) or any(p is None or not p.fits(by_place[k]) for k, p in plans.items()):
            if self.mode == "record":
                raise GraphError("an update is captured that was not made before", hint="update once, then capture")
            if self.mode == "prepare":
                raise _CaptureAgain
            self._settle()
            make = {place: Plan if place < 0 else DevicePlan for place in by_place}
            self._plans = plans = {place: make[place](mine) for place, mine in by_place.items()}
        t = self._t + 1
        ((first, plan), *others) = plans.items()
        if first >= 0 and not others:
            scaling = None if self._loss_scale is None else self._loss_scale.on_device(plan.device)
            return DeviceStep(plan, t, count, scaling=scaling, mode=self.mode)
        if self._loss_scale is not None:
            self._settle()
            self._loss_scale.on_host()
        divisor = None if count is None else count * self.loss_scale
        steps = [
            Step(plan, t, 1.0 if divisor is None else 1.0 / divisor)
            if place < 0
            else DeviceStep(plan, t, divisor, mode=self.mode)
            for place, plan in plans.items()
        ]
        return steps[0] if len(steps) == 1 else Steps(steps)

    def _entries(self) -> list[Entry]:
        hooks = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractGradientHook)]
        frozen = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractOptimizerHook) and hook.freezes]
        t = self.t if frozen else self._t
        entries = []
        seen = set()
        for path, param in self.target.namedparams(False):
            rule = param.update_rule
            if rule is None or not rule.enabled or not param.requires_grad or id(param) in seen:
                continue
            grad = param.grad
            if grad is None or grad.size == 0 or any(hook.is_frozen(path, param, t) for hook in frozen):
                continue
            seen.add(id(param))
            array = param.array
            if isinstance(array, np.ndarray) and not array.flags.writeable:
                array = param.array = array.copy()
            changes = tuple([hook.exempt is None or not hook.exempt(path, param) for hook in hooks])
            exempt = self.exempt is not None and self.exempt(path, param)
            own = rule.hyperparam.own
            key = (
                type(rule),
                id(rule.hyperparam.parent),
                tuple(own.items()) if own else (),
                rule.t - self._t,
                rule.hooks,
                array.dtype.char,
                changes,
                exempt,
            )
            entries.append(Entry(path, param, array, rule, key, changes, exempt))
        return entries

    # --- captured updates -------------------------------------------------------------------------------------------
    def prepare_replay(self) -> bool:
        """Whether the graph that was captured last, with an `update` in it, may be launched: the GPU has the numbers of
        the next update then, and it counts as made.

        False: capture it again, since it would not do what is asked for by now: a rate that became 0, another hook, a
        frozen parameter. Nothing waits. Call it on the stream that the graph is launched on.
        """
        if self._recorded is None or self._n_gradient or not all(_replays(h, self) for h, _ in self._hooks.values()):
            return False
        self.mode = "prepare"
        try:
            self._update(1)
        except _CaptureAgain:
            return False
        finally:
            self.mode = "run"
        return True

    def _is_captured(self) -> bool:
        """Whether a graph is being captured, so that nothing of what is launched happens now."""
        grads = [param.grad for param in self.target.params(False)]
        first = next((grad for grad in grads if is_array(grad) and not isinstance(grad, np.ndarray)), None)
        if not device_of(first).is_capturing():
            return False
        for name, (hook, _) in self._hooks.items():
            if not _replays(hook, self):
                raise GraphError(f"an update with the hook {name!r} cannot be captured", hint="update without a graph")
        if self.accumulation != 1:
            raise GraphError("an update of accumulated gradients cannot be captured", hint="accumulate(1)")
        return True

    # --- going on ---------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as a tree of numbers, strings and arrays (copies); parameters' values apart."""
        self._settle()
        return optimizer_state(self)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the same kind of optimizer on the same network; `setup` and hooks come before.

        Raises WeightsMismatchError that lists the names if the state is of another network, other hooks or another
        optimizer; nothing has been changed then.
        """
        load_optimizer_state(self, state)
        self._forget_plans()


class _CaptureAgain(Exception):
    """A captured graph does not do what is asked for any more."""


def _runs_on_device(hook: Hook) -> bool:
    """Whether a hook heeds a GPU's decision to leave an update out."""
    return isinstance(hook, AbstractGradientHook) or (isinstance(hook, AbstractOptimizerHook) and hook.runs_on_device)


def _replays(hook: Hook, optimizer: AbstractOptimizer) -> bool:
    if isinstance(hook, AbstractGradientHook):
        return not hook.needs_norm or hook.coefficients_of_norm(1, np.float64(1)) is not None
    return isinstance(hook, AbstractOptimizerHook) and hook.replays(optimizer)
