"""Base class of the optimizers: update rules for the parameters of a link, hooks, and the update step."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import device_number
from cvzoo.backends.device import Device
from cvzoo.errors.attributes import ReplacedAttribute
from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.optimizers.entry import Entry
from cvzoo.optimizers.gradient_exchange import AbstractGradientExchange
from cvzoo.optimizers.gradient_hook import AbstractGradientHook, Selector
from cvzoo.optimizers.hyperparameter import Hyperparameter
from cvzoo.optimizers.loss_scale import LossScale
from cvzoo.optimizers.on_device.plan import DevicePlan
from cvzoo.optimizers.on_device.scaling import ScalingOnDevice
from cvzoo.optimizers.on_device.step import DeviceStep
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.optimizers.plan import Step, UpdatePlan
from cvzoo.optimizers.state import load_optimizer_state, optimizer_state
from cvzoo.optimizers.steps import Steps
from cvzoo.optimizers.update_rule import AbstractUpdateRule

Hook = AbstractGradientHook | AbstractOptimizerHook | Callable[[Any], None]
Self = TypeVar("Self", bound="AbstractOptimizer")


class AbstractOptimizer(abc.ABC):
    """Base class of the optimizers: updates the parameters of a link by their gradients.

    >>> optimizer = optimizers.Adam(alpha=1e-3).setup(model)
    >>> optimizer.add_hook(optimizers.WeightDecay(1e-4))
    >>> optimizer.update(lambda x, t: F.softmax_cross_entropy(model(x), t), x, t)

    Parameters without a gradient, with `requires_grad` False, without a rule (`param.update_rule = None`) or with
    `param.update_rule.enabled` False are not updated. Values are updated in place; a replaced value
    (`param.array = ...`) is noticed, a read-only one is replaced by a copy. A shared parameter is updated once.
    Optimizers have fixed attributes: a misspelled hyperparameter raises.

    On a GPU one kernel launch updates all parameters of a rule, without synchronization: the check for finite gradients
    and their norm stay on the device (`loss_scaling`, GradientClipping). With loss scaling, your own hook functions
    synchronize, since they are not called when an update is skipped. Your own rules and hooks are compiled to kernels,
    too, if they consist of NumPy's elementwise functions without data-dependent branches; others run on GPU arrays.

    target: the link, None before `setup`
    t: number of updates; reading it synchronizes with a GPU that may skip updates
    epoch: number of calls of `new_epoch()`
    hyperparam: the hyperparameters of all parameters; also attributes of the optimizer
    exempt: (path, param) -> bool, parameters without decoupled weight decay and trust ratio; or None
    use_auto_new_epoch: whether the updater calls `new_epoch(auto=True)`
    exchange: exchanges gradients with other processes before each update, see `create_multi_node_optimizer`; or None
    accumulation: gradient accumulation: number of calls of `update` per update, by the mean gradient (`accumulate`)

    Source: Chainer's contract. Where we differ: built-in gradient hooks do not write into gradients.
    """

    __slots__ = (
        "_hooks",
        "_loss_scale",
        "_n_gradient",
        "_plans",
        "_t",
        "accumulation",
        "epoch",
        "exchange",
        "exempt",
        "hyperparam",
        "target",
        "use_auto_new_epoch",
    )
    rule_class: ClassVar[type[AbstractUpdateRule]]

    accumulate_grads = ReplacedAttribute("accumulate(count), or target.addgrads(link)")
    call_hook = ReplacedAttribute("update(), which calls the hooks")
    call_hooks = ReplacedAttribute("update(), which calls the hooks")
    check_nan_in_grads = ReplacedAttribute("the extension cvzoo.training.extensions.FailOnNonNumber")
    clip_grads = ReplacedAttribute("add_hook(cvzoo.optimizer_hooks.GradientClipping(threshold))")
    compute_grads_norm = ReplacedAttribute("add_hook(cvzoo.optimizer_hooks.GradientClipping(threshold))")
    serialize = ReplacedAttribute("cvzoo.serializers.save_npz and load_npz")
    set_loss_scale = ReplacedAttribute("loss_scaling(scale=...)")
    update_loss_scale = ReplacedAttribute("loss_scaling(), which adapts the scale")
    use_cleargrads = ReplacedAttribute("nothing: gradients are cleared, never filled with zeros")
    use_fp32_update = ReplacedAttribute("nothing: parameters are float32 in mixed precision")
    weight_decay = ReplacedAttribute("add_hook(cvzoo.optimizer_hooks.WeightDecay(rate))")
    zero_grads = ReplacedAttribute("target.cleargrads()")

    def __init__(self, values: Mapping[str, float], exempt: Selector | None = None):
        self.target: Link | Any = None  # Any stands for None, before `setup`
        self._t = 0
        self.epoch = 0
        self.hyperparam = Hyperparameter(values)
        self.exempt = exempt
        self.use_auto_new_epoch = False
        self.accumulation = 1
        self.exchange: AbstractGradientExchange | None = None
        self._hooks: dict[str, tuple[Hook, str]] = {}
        self._loss_scale: LossScale | None = None
        self._n_gradient = 0
        self._plans: dict[int, UpdatePlan | DevicePlan] = {}  # by device; -1: the CPU

    # --- setup ------------------------------------------------------------------------------------------
    def setup(self: Self, link: Link) -> Self:
        """This optimizer, with new update rules for the link's parameters, also for uninitialized ones.

        Raises DtypeError if it is no link, GraphError if it is quantized.
        """
        if not isinstance(link, Link):
            raise DtypeError(f"{type(self).__name__}.setup takes a Link", got=type(link).__name__)
        link.check_learns(f"{type(self).__name__}.setup")
        self.target = link
        self._forget_plans()
        self._t = self.epoch = self._n_gradient = 0
        for param in link.params():
            param.update_rule = self.create_update_rule()
        return self

    @property
    def t(self) -> int:
        self._sync_counts()
        return self._t

    @t.setter
    def t(self, t: int) -> None:
        self._sync_counts()
        self._t = t

    def _link(self) -> Link:
        if self.target is None:
            raise GraphError(f"{type(self).__name__}: update before setup", hint="optimizer.setup(model)")
        return self.target

    def _forget_plans(self) -> None:
        self._sync_counts()
        self._plans.clear()

    def _sync_counts(self) -> None:
        """Subtract the updates that a GPU skipped from the counts."""
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
        """An update rule for another parameter: `param.update_rule = optimizer.create_update_rule()`."""
        return self.rule_class(self.hyperparam)

    def new_epoch(self, auto: bool = False) -> None:
        """Count an epoch; `auto`: called by the updater."""
        if auto != self.use_auto_new_epoch:
            raise GraphError(
                "new_epoch() is called by the updater and by you",
                hint="optimizer.use_auto_new_epoch = False to count yourself",
            )
        self.epoch += 1

    # --- hooks ------------------------------------------------------------------------------------------------------
    def add_hook(self, hook: Hook, name: str | None = None, timing: str | None = None) -> None:
        """Call `hook` at every update, after the hooks added before it.

        hook: a gradient hook (WeightDecay ...), an optimizer hook, or a function of the optimizer
        name: by default the hook's own name
        timing: of a function: "pre" or "post", before or after the update; "first": before all hooks, to see the
            gradients of backward(). Other hooks have their own
        Raises ValueRangeError if the name is taken.
        """
        if not callable(hook) and not isinstance(hook, AbstractGradientHook):
            raise DtypeError("a hook is called with the optimizer", got=type(hook).__name__)
        is_hook_class = isinstance(hook, AbstractGradientHook | AbstractOptimizerHook)
        if name is None:
            name = getattr(hook, "name" if is_hook_class else "__name__")
            assert isinstance(name, str)
        if timing is None:
            timing = hook.timing if isinstance(hook, AbstractOptimizerHook) else "pre"
        if timing not in ("first", "pre", "post") or (timing != "pre" and isinstance(hook, AbstractGradientHook)):
            expected = "'pre' or, unless it changes gradients, 'first' or 'post'"
            raise ValueRangeError(f"add_hook: wrong timing {timing!r}", expected=expected)
        if name in self._hooks:
            raise ValueRangeError(f"there is a hook {name!r} already", hint="add_hook(hook, name=...)")
        if timing == "first":
            self._hooks = {name: (hook, "pre"), **self._hooks}
        else:
            self._hooks[name] = (hook, timing)
        self._forget_plans()

    def remove_hook(self, name: str) -> None:
        """Remove the hook of that name.

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
        """Gradient accumulation: this optimizer, updating at every `count`th call of `update` by the mean gradient.

        With `update()` without a loss, do not clear gradients between the calls: backward() adds to them.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueRangeError("accumulate: count must be 1 or more", got=repr(count))
        self.accumulation = count
        return self

    def loss_scaling(self: Self, *, interval: int = 1000, scale: float | None = None) -> Self:
        """This optimizer with loss scaling, so that small gradients do not underflow in half precision.

        scale: a fixed factor; None: dynamic, doubled after `interval` updates without overflow and halved at an
            overflow, whose update is skipped
        """
        self._sync_counts()
        self._loss_scale = LossScale(interval=interval, scale=scale)
        return self

    @property
    def is_scaling(self) -> bool:
        """Whether losses are scaled."""
        return self._loss_scale is not None

    @property
    def loss_scale(self) -> float:
        """The factor of the loss; 1 without loss scaling."""
        return 1.0 if self._loss_scale is None else self._loss_scale.scale

    def scaling_on(self, device: Device) -> ScalingOnDevice | None:
        """The loss scaling state on that GPU, which decides on skipping; None if the host does."""
        return None if self._loss_scale is None else self._loss_scale.if_on(device)

    def backward(self, loss: Variable) -> None:
        """Call `loss.backward()`, with loss scaling if it is enabled."""
        if self._loss_scale is not None:
            loss.grad = self._loss_scale.fill(loss.array)
        loss.backward()

    # --- the update -------------------------------------------------------------------------------------------------
    def update(self, lossfun: Callable[..., Variable] | None = None, *args: Any, **kwds: Any) -> None:
        """Update the parameters by their gradients, after computing these from `lossfun(*args, **kwds)` if given.

        Raises GraphError before `setup`.
        """
        link = self._link()
        if lossfun is not None:
            if self._n_gradient == 0:
                link.cleargrads()
            if self.exchange is not None:
                self.exchange.backward(self, lossfun, args, kwds, self._n_gradient + 1 >= self.accumulation)
            else:
                loss = lossfun(*args, **kwds)
                self.backward(loss)
                # frees the graph before the update needs memory
                del loss
        self._n_gradient += 1
        if self._n_gradient < self.accumulation:
            return
        count, self._n_gradient = self._n_gradient, 0
        if self.exchange is None or self.exchange.exchange(self):
            self._update(count)

    def _update(self, count: int) -> None:
        step: Step | Steps | DeviceStep | None = self._begin(count)
        assert step is not None
        if self._loss_scale is not None and not self._check(step, self._loss_scale):
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
                # the hook reads `param.grad`, and may replace it
                step.write_gradients()
                step = None
            hook(self)
        step = step or self._begin(None)
        self._t += 1
        step.update()
        for hook, timing in list(self._hooks.values()):
            if timing == "post" and not isinstance(hook, AbstractGradientHook):
                hook(self)

    def _check(self, step: Step | Steps | DeviceStep, scale: LossScale) -> bool:
        """Whether to continue with the update: gradients are finite, or only the GPU knows."""
        if isinstance(step, DeviceStep):
            synchronizes = not all(_runs_on_device(hook) for hook, _ in self._hooks.values())
            if synchronizes:
                self._sync_counts()
            step.check()
            scale.changed()
            if not (synchronizes and step.was_skipped()):
                return True
            scale.take_skipped()  # discarded: this update was not counted
            return False
        finite = step.is_finite()
        if finite:
            scale.record_finite()
        else:
            scale.record_overflow()
        return finite

    def _begin(self, count: int | None) -> Step | Steps | DeviceStep:
        """A step for the current gradients, divided by `count` and the loss scale; None: already divided."""
        entries = self._entries()
        by_device: dict[int, list[Entry]] = {}
        for entry in entries:
            by_device.setdefault(device_number(entry.array), []).append(entry)
        if not by_device:
            by_device[-1] = []
        known = {device: self._plans[device] for device in by_device if device in self._plans}
        if not len(known) == len(by_device) == len(self._plans) or any(
            not p.fits(by_device[k]) for k, p in known.items()
        ):
            self._sync_counts()
            known = {device: (UpdatePlan if device < 0 else DevicePlan)(group) for device, group in by_device.items()}
            self._plans = known
        t = self._t + 1
        plan, *others = known.values()
        if isinstance(plan, DevicePlan) and not others:
            scaling = None if self._loss_scale is None else self._loss_scale.on_device(plan.device)
            return DeviceStep(plan, t, count, scaling=scaling)
        if self._loss_scale is not None:
            self._sync_counts()
            self._loss_scale.on_host()
        divisor = None if count is None else count * self.loss_scale
        steps = [
            Step(plan, t, 1.0 if divisor is None else 1.0 / divisor)
            if isinstance(plan, UpdatePlan)
            else DeviceStep(plan, t, divisor)
            for plan in known.values()
        ]
        return steps[0] if len(steps) == 1 else Steps(steps)

    def _entries(self) -> list[Entry]:
        hooks = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractGradientHook)]
        frozen = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractOptimizerHook) and hook.freezes]
        t = self.t if frozen else self._t
        entries = []
        visited = set()
        for path, param in self._link().namedparams(False):
            rule = param.update_rule
            if rule is None or not rule.enabled or not param.requires_grad or id(param) in visited:
                continue
            grad = param.grad
            if grad is None or grad.size == 0 or any(hook.is_frozen(path, param, t) for hook in frozen):
                continue
            # a parameter that several links share is updated once
            visited.add(id(param))
            array = param.array
            if not getattr(array.flags, "writeable", True):  # a GPU's have no such flag
                # locked by its owner, such as a memory-mapped file
                array = param.array = array.copy()
            changes = tuple([hook.exempt is None or not hook.exempt(path, param) for hook in hooks])
            exempt = self.exempt is not None and self.exempt(path, param)
            own = rule.hyperparam.own
            key = (
                type(rule),
                id(rule.hyperparam.parent),
                tuple(own.items()) if own else (),
                # parameters that were added later have made fewer updates, and have other bias corrections
                rule.t - self._t,
                rule.hooks,
                array.dtype.char,
                changes,
                exempt,
            )
            entries.append(Entry(path, param, array, rule, key, changes, exempt))
        return entries

    # --- state ---------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """The state that a resumed run needs, as a tree of numbers, strings and copied arrays, without the weights."""
        self._sync_counts()
        return optimizer_state(self)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Restore a state of the same kind of optimizer on the same network, after `setup` and `add_hook`.

        Raises WeightsMismatchError that lists the names if network, hooks or kind of optimizer differ; then nothing is
        changed.
        """
        load_optimizer_state(self, state)
        self._forget_plans()


def _runs_on_device(hook: Hook) -> bool:
    """Whether a hook needs no synchronization when a GPU decides to skip an update."""
    return isinstance(hook, AbstractGradientHook) or (isinstance(hook, AbstractOptimizerHook) and hook.runs_on_device)
