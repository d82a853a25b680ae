"""The state of an optimizer as a tree that can be serialized, and its restoration."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.backends.arrays import to_numpy
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.link import Link
from cvzoo.optimizers.entry import placed
from cvzoo.optimizers.gradient_exchange import AbstractGradientExchange
from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.hyperparameter import Hyperparameter
from cvzoo.optimizers.loss_scale import LossScale
from cvzoo.optimizers.optimizer_hook import AbstractOptimizerHook
from cvzoo.typing.aliases import Array


class HasState(Protocol):
    """The attributes of `AbstractOptimizer` that make up its state."""

    target: Link | Any  # Any stands for None, before `setup`
    epoch: int
    hyperparam: Hyperparameter
    exchange: AbstractGradientExchange | None
    _n_gradient: int
    _loss_scale: LossScale | None
    _hooks: dict[str, tuple[AbstractGradientHook | AbstractOptimizerHook | Callable[[Any], None], str]]

    @property
    def t(self) -> int: ...
    @t.setter
    def t(self, t: int) -> None: ...


def optimizer_state(optimizer: HasState) -> dict[str, Any]:
    """The state of an optimizer, see `AbstractOptimizer.state`."""
    params = {}
    for path, param in _rules(optimizer).items():
        rule = param.update_rule
        params[path] = {
            "t": rule.t,
            "enabled": rule.enabled,
            "hyperparam": dict(rule.hyperparam.own),
            "slots": {name: _on_host(slot) for name, slot in rule.state.items()},
        }
    gradients = {}
    if optimizer._n_gradient:  # gradients of an unfinished accumulation
        gradients = {path: _on_host(p.grad) for path, p in _rules(optimizer).items() if p.grad is not None}
    return {
        "kind": type(optimizer).__name__,
        "t": optimizer.t,
        "epoch": optimizer.epoch,
        "hyperparam": dict(optimizer.hyperparam.own),
        "params": params,
        "hooks": {name: hook.state() for name, hook in _stateful_hooks(optimizer).items()},
        "loss_scale": None if optimizer._loss_scale is None else optimizer._loss_scale.state(),
        "n_gradient": optimizer._n_gradient,
        "gradients": gradients,
        **({} if optimizer.exchange is None else {"exchange": optimizer.exchange.state()}),
    }


def load_optimizer_state(optimizer: HasState, state: Mapping[str, Any]) -> None:
    """Restore the state of an optimizer, see `AbstractOptimizer.load_state`."""
    rules = _rules(optimizer)
    hooks = _stateful_hooks(optimizer)
    _check(optimizer, state, rules, hooks)
    optimizer.t = int(state["t"])
    optimizer.epoch = int(state["epoch"])
    optimizer._n_gradient = int(state["n_gradient"])
    for name, value in state["hyperparam"].items():
        setattr(optimizer.hyperparam, name, value)
    for path, saved in state["params"].items():
        rule = rules[path].update_rule
        rule.t = int(saved["t"])
        rule.enabled = bool(saved["enabled"])
        rule.hyperparam.own.clear()
        for name, value in saved["hyperparam"].items():
            setattr(rule.hyperparam, name, value)
        rule.state = {name: np.array(saved["slots"][name]) for name in rule.slots if name in saved["slots"]}
    for path, grad in state["gradients"].items():
        if rules[path].is_initialized:
            rules[path].grad = placed(np.array(grad), rules[path].array)
    for name, hook in hooks.items():
        hook.load_state(state["hooks"][name])
    if optimizer._loss_scale is not None and state["loss_scale"] is not None:
        optimizer._loss_scale.load_state(state["loss_scale"])
    if optimizer.exchange is not None:
        optimizer.exchange.load_state(state.get("exchange", {}))


def _on_host(array: Array) -> np.ndarray:
    host = to_numpy(array)
    return host.copy() if host is array else host


def _rules(optimizer: HasState) -> dict[str, Parameter]:
    """The parameters with an update rule, by path; shared parameters by the first path."""
    params: dict[str, Parameter] = {}
    if optimizer.target is not None:
        visited: set[int] = set()
        for path, param in optimizer.target.namedparams():
            if param.update_rule is not None and id(param) not in visited:
                visited.add(id(param))
                params[path] = param
    return params


def _stateful_hooks(optimizer: HasState) -> dict[str, AbstractOptimizerHook]:
    return {name: hook for name, (hook, _) in optimizer._hooks.items() if isinstance(hook, AbstractOptimizerHook)}


def _check(
    optimizer: HasState,
    state: Mapping[str, Any],
    rules: Mapping[str, Parameter],
    hooks: Mapping[str, AbstractOptimizerHook],
) -> None:
    kind = type(optimizer).__name__
    if state.get("kind") != kind:
        raise WeightsMismatchError("the state is of another optimizer", expected=kind, got=state.get("kind"))
    wrong = [f"{path}: not in the state" for path in rules if path not in state["params"]]
    wrong += [f"{path}: not in the network" for path in state["params"] if path not in rules]
    wrong += [f"{path}: not in the network" for path in state["gradients"] if path not in rules]
    for path, saved in state["params"].items():
        param = rules.get(path)
        if param is not None and param.is_initialized:
            wrong += [
                f"{path}: {name} has shape {slot.shape}, the parameter {param.shape}"
                for name, slot in saved["slots"].items()
                if slot.shape != param.shape
            ]
    wrong += [f"hook {name}: not in the state" for name in hooks if name not in state["hooks"]]
    wrong += [f"hook {name}: not added to the optimizer" for name in state["hooks"] if name not in hooks]
    own = set(optimizer.hyperparam.own) ^ set(state["hyperparam"])
    wrong += [f"hyper-parameter {name}: on one side only" for name in sorted(own)]
    if wrong:
        shown = wrong[:20] + ([f"and {len(wrong) - 20} more"] if len(wrong) > 20 else [])
        raise WeightsMismatchError("the state is of another network:\n  " + "\n  ".join(shown))
