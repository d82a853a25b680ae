"""Hyperparameters, with per-parameter values in front of the optimizer's."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import DtypeError, ValueRangeError

Number = float | int | bool
LR_FACTOR = "lr_factor"


class Hyperparameter:
    """Hyperparameters as attributes; those that are not set here are the parent's. Where there is `alpha` and no `lr`,
    `lr` is an alias of it.

    values: the initial values by name, of an optimizer
    parent: the optimizer's hyperparameters, for one parameter: `param.update_rule.hyperparam.lr = 0.01` is for that
        parameter only, and `del param.update_rule.hyperparam.lr` reverts it; `hyperparam.lr_factor = 0.1` multiplies
        the parameter's learning rate at each update (see `scale_learning_rate`)
    Raises ValueRangeError for an unknown name or a value that is not finite; DtypeError for a value that is no number.
    """

    __slots__ = ("own", "parent")

    def __init__(self, values: Mapping[str, Number] | None = None, *, parent: "Hyperparameter | None" = None):
        object.__setattr__(self, "own", {})
        object.__setattr__(self, "parent", parent)
        for name, value in (values or {}).items():
            self.own[name] = _checked(name, value)

    def get(self, name: str) -> Number:
        """The value by name, here or of the parent."""
        if name in self.own:
            return self.own[name]
        if name == "lr" and self.name_of("lr") == "alpha":
            return self.get("alpha")
        if self.parent is not None:
            return self.parent.get(name)
        raise AttributeError(f"there is no hyperparameter {name!r}; available are {', '.join(sorted(self.own))}")

    def name_of(self, name: str) -> str:
        """The name with aliases resolved."""
        known = self.get_dict()
        return "alpha" if name == "lr" and "lr" not in known and "alpha" in known else name

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __setattr__(self, name: str, value: Number) -> None:
        known = self.get_dict()
        name = self.name_of(name)
        if name == LR_FACTOR and self.parent is not None:
            if _rate_of(known) is None:
                raise ValueRangeError("the optimizer has no learning rate to multiply", got=", ".join(sorted(known)))
        elif name not in known:
            raise ValueRangeError(
                f"there is no hyperparameter {name!r}", expected=", ".join(sorted(known)), got=f"{name} = {value!r}"
            )
        self.own[name] = _checked(name, value)

    def __delattr__(self, name: str) -> None:
        name = self.name_of(name)
        if self.parent is None or name not in self.own:
            raise AttributeError(f"{name} is not set here")
        del self.own[name]

    def get_dict(self) -> dict[str, Number]:
        """All hyperparameters by name, with the parent's; the learning rate is multiplied by its factor."""
        values = {**(self.parent.get_dict() if self.parent is not None else {}), **self.own}
        factor, rate = values.pop(LR_FACTOR, None), _rate_of(values)
        if factor is not None and rate is not None:
            values[rate] *= factor
        return values

    def __reduce__(self) -> tuple:
        return _rebuild, (dict(self.own), self.parent)

    def __repr__(self) -> str:
        return f"Hyperparameter({', '.join(f'{name}={value}' for name, value in self.get_dict().items())})"


class HyperparameterProxy:
    """An attribute of an optimizer that reads and writes one of its hyperparameters."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, optimizer: Any, owner: type) -> Any:
        return self if optimizer is None else optimizer.hyperparam.get(self.name)

    def __set__(self, optimizer: Any, value: Number) -> None:
        setattr(optimizer.hyperparam, self.name, value)


def _rate_of(values: Mapping[str, Number]) -> str | None:
    """The name of what a step is proportional to; None if there is none."""
    return next((name for name in ("eta", "lr", "alpha") if name in values), None)


def _rebuild(own: dict[str, Number], parent: Hyperparameter | None) -> Hyperparameter:
    return Hyperparameter(own, parent=parent)


def _checked(name: str, value: object) -> Number:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if not isinstance(value, int | float | np.integer | np.floating):
        raise DtypeError(f"the hyper-parameter {name} is a number", got=type(value).__name__)
    if not math.isfinite(value):
        raise ValueRangeError(f"the hyper-parameter {name} is finite", got=value)
    return value.item() if isinstance(value, np.generic) else value
