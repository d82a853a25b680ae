"""What all optimizers share: rules for the parameters of a link, hooks, and the update."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np

from cvzoo.errors.exceptions import DtypeError, GraphError, ValueRangeError
from cvzoo.links.link import Link
from cvzoo.optimizers.gradient_hook import AbstractGradientHook, Selector
from cvzoo.optimizers.hyperparameter import Hyperparameter
from cvzoo.optimizers.loss_scale import LossScale
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.optimizers.plan import Entry, Plan, Step
from cvzoo.optimizers.state import load_optimizer_state, optimizer_state
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

    target: the link, None before `setup`
    t: how many updates were made
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
        "_plan",
        "accumulation",
        "epoch",
        "exempt",
        "hyperparam",
        "t",
        "target",
        "use_auto_new_epoch",
    )
    rule_class: ClassVar[type[AbstractUpdateRule]]

    def __init__(self, values: Mapping[str, float], exempt: Selector | None = None):
        self.target: Link | None = None
        self.t = 0
        self.epoch = 0
        self.hyperparam = Hyperparameter(values)
        self.exempt = exempt
        self.use_auto_new_epoch = False
        self.accumulation = 1
        self._hooks: dict[str, tuple[Hook, str]] = {}
        self._loss_scale: LossScale | None = None
        self._n_gradient = 0
        self._plan: Plan | None = None

    # --- what is optimized ------------------------------------------------------------------------------------------
    def setup(self: Self, link: Link) -> Self:
        """This optimizer, with fresh rules for the link's parameters, also for those that have no value yet.

        Raises DtypeError if it is no link.
        """
        if not isinstance(link, Link):
            raise DtypeError(f"{type(self).__name__}.setup wants a Link", got=type(link).__name__)
        self.target = link
        self.t = self.epoch = self._n_gradient = 0
        self._plan = None
        for param in link.params():
            param.update_rule = self.create_update_rule()
        return self

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
        self._plan = None

    def remove_hook(self, name: str) -> None:
        """Do without the hook of that name.

        Raises ValueRangeError if there is none.
        """
        self.get_hook(name)
        del self._hooks[name]
        self._plan = None

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
        self._loss_scale = LossScale(interval=interval, scale=scale)
        return self

    @property
    def loss_scale(self) -> float:
        """What losses are multiplied with; 1 without loss scaling."""
        return 1.0 if self._loss_scale is None else self._loss_scale.scale

    def backward(self, loss: Any) -> None:
        """Call `loss.backward()`, with loss scaling if it is asked for."""
        if self._loss_scale is not None:
            loss.grad = np.full_like(loss.array, self.loss_scale)
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
        factor = 1.0 / (self._n_gradient * self.loss_scale)
        self._n_gradient = 0
        step: Step | None = self._begin(factor)
        if self._loss_scale is not None:
            if not step.is_finite():
                self._loss_scale.overflowed()
                return
            self._loss_scale.went_well()
        number = 0
        for hook, timing in list(self._hooks.values()):
            if timing != "pre":
                continue
            if isinstance(hook, AbstractGradientHook):
                step = step or self._begin(1.0)
                step.add(number, hook)
                number += 1
            else:
                if step is not None:
                    step.write_gradients()
                    step = None
                hook(self)
        step = step or self._begin(1.0)
        self.t += 1
        step.update()
        for hook, timing in list(self._hooks.values()):
            if timing == "post":
                hook(self)

    def _begin(self, factor: float) -> Step:
        hooks = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractGradientHook)]
        frozen = [hook for hook, _ in self._hooks.values() if isinstance(hook, AbstractOptimizerHook) and hook.freezes]
        entries = []
        seen = set()
        for path, param in self.target.namedparams(False):
            rule = param.update_rule
            if rule is None or not rule.enabled or not param.requires_grad or id(param) in seen:
                continue
            grad = param.grad
            if grad is None or grad.size == 0 or any(hook.is_frozen(path, param, self.t) for hook in frozen):
                continue
            seen.add(id(param))
            array = param.array
            if not array.flags.writeable:
                array = param.array = array.copy()
            changes = tuple([hook.exempt is None or not hook.exempt(path, param) for hook in hooks])
            exempt = self.exempt is not None and self.exempt(path, param)
            own = rule.hyperparam.own
            key = (
                type(rule),
                id(rule.hyperparam.parent),
                tuple(own.items()) if own else (),
                rule.t - self.t,
                rule.hooks,
                array.dtype.char,
                changes,
                exempt,
            )
            entries.append(Entry(path, param, array, rule, key, changes, exempt))
        if self._plan is None or not self._plan.fits(entries):
            self._plan = Plan(entries)
        return Step(self._plan, self.t + 1, factor)

    # --- going on ---------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """All that a resumed run needs, as a tree of numbers, strings and arrays (copies); parameters' values apart."""
        return optimizer_state(self)

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of the same kind of optimizer on the same network; `setup` and hooks come before.

        Raises WeightsMismatchError that lists the names if the state is of another network, other hooks or another
        optimizer; nothing has been changed then.
        """
        load_optimizer_state(self, state)
        self._plan = None
