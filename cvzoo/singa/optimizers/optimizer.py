"""Base class of SINGA's optimizers: `optimizer(loss)` computes gradients, updates parameters and counts the step."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cvzoo.autodiff.parameter import Parameter
from cvzoo.errors.exceptions import GraphError, ShapeError, UnsupportedError
from cvzoo.links.link import Link
from cvzoo.optimizers.hooks.weight_decay import WeightDecay
from cvzoo.optimizers.optimizer import AbstractOptimizer
from cvzoo.optimizers.update_rule import AbstractUpdateRule
from cvzoo.singa.backward import backward, fill_gradients
from cvzoo.singa.optimizers.schedule import DecayScheduler, as_schedule
from cvzoo.singa.tensor_class import Tensor, float32, hold


class Optimizer:
    """Base class: implement `apply(param_name, param_value, param_grad)`, which updates one parameter in place.

    lr: learning rate, a number or a schedule
    dtype: tensor.float32, the dtype of parameters

    step_counter: (1,), number of steps; lr_value: (1,), the current learning rate
    """

    def __init__(self, lr: float | DecayScheduler, dtype: npt.DTypeLike = float32):
        if dtype != float32:
            raise UnsupportedError(
                f"{type(self).__name__}: parameters are float32", got=dtype, hint="dtype=tensor.float32"
            )
        self.dtype = dtype
        self.lr = as_schedule(lr, "lr")
        self.step_counter: Tensor = Tensor((1,))
        self.lr_value = self.lr(self.step_counter)

    def __call__(self, loss: Tensor) -> None:
        self.call(loss)
        self.step()

    def call(self, loss: Tensor) -> None:
        """Update all parameters by the gradients of the loss, without counting a step."""
        for parameter, grad in backward(loss):
            self.apply(parameter.name or str(id(parameter)), parameter, grad)

    def step(self) -> None:
        """Count a step, and update the scheduled hyperparameters."""
        self.step_counter += 1.0
        self.lr_value = self.lr(self.step_counter)

    def apply(self, param_name: str, param_value: Parameter, param_grad: Tensor) -> None:
        """Update one parameter by its gradient."""
        raise GraphError(f"{type(self).__name__} has no apply", hint="write apply(self, name, value, grad)")

    def update(self, param: Tensor, grad: Tensor) -> None:
        """The same as `apply`, with the parameter's own name."""
        self.apply(param.name or str(id(param)), param, grad)

    def backward_and_update(self, loss: Tensor) -> None:
        """The same as `optimizer(loss)`."""
        self(loss)

    def device_check(self, *inputs: Any) -> None:
        """No-op: functions check the devices of their arguments."""

    def get_states(self) -> dict[str, Any]:
        """The state that a resumed run needs: the number of steps, and arrays by the parameters' names."""
        return {"step_counter": self.step_counter.item()}

    def set_states(self, states: Mapping[str, Any]) -> None:
        """Restore the state of `get_states`."""
        self.step_counter.set_value(float(states["step_counter"]))
        self.lr_value = self.lr(self.step_counter)


class _ParameterList(Link):
    """A link of the parameters that a loss depends on."""

    def __init__(self, parameters: Sequence[Parameter]):
        self._parameters = parameters

    def namedparams(self, include_uninit: bool = True) -> Iterator[tuple[str, Parameter]]:
        for number, parameter in enumerate(self._parameters):
            yield f"/{number}", parameter


class AbstractRuleOptimizer(Optimizer):
    """Base class of optimizers that use an update rule of cvzoo.

    slot_names: SINGA's names of the rule's state arrays, by cvzoo's names
    """

    slot_names: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        lr: float | DecayScheduler,
        dtype: npt.DTypeLike,
        weight_decay: float | DecayScheduler,
        rules: AbstractOptimizer,
    ):
        super().__init__(lr, dtype)
        self.weight_decay = as_schedule(weight_decay, "weight_decay", at_least=0)
        self._rules = rules
        self._decay = WeightDecay(0.0)
        rules.add_hook(self._decay)
        self._schedules: dict[str, tuple[str, DecayScheduler]] = {"lr": ("lr_value", self.lr)}
        self._decays = self.weight_decay.init_value != 0
        self._known: dict[int, tuple[Parameter, AbstractUpdateRule]] = {}
        self._pending: dict[str, dict[str, np.ndarray]] = {}  # loaded states of parameters that had no update yet

    def _schedule(self, name: str, attribute: str, schedule: DecayScheduler) -> None:
        """Set the rule's hyperparameter `name` by the schedule; attribute: SINGA's name of the value."""
        self._schedules[name] = attribute, schedule

    def _apply_schedules(self) -> None:
        """Set the schedules' current values as attributes and as hyperparameters of the rule."""
        for name, (attribute, schedule) in self._schedules.items():
            value = schedule(self.step_counter)
            setattr(self, attribute, value)
            setattr(self._rules.hyperparam, name, value.item())
        self.decay_value = self.weight_decay(self.step_counter)
        self._decay.rate = self.decay_value.item() if self._decays else 0.0

    def step(self) -> None:
        """Count a step, and update the scheduled hyperparameters."""
        self.step_counter += 1.0
        self._apply_schedules()

    def call(self, loss: Tensor) -> None:
        """Update all parameters by the gradients of the loss, without counting a step."""
        start = time.perf_counter()
        parameters = fill_gradients(loss)
        self._update(parameters)
        device = loss.device
        if device.verbosity:
            device.add_seconds("backward", time.perf_counter() - start)

    def apply(self, param_name: str, param_value: Parameter, param_grad: Tensor) -> None:
        """Update one parameter by its gradient.

        Raises ShapeError if they have different shapes.
        """
        if param_value.shape != param_grad.shape:
            raise ShapeError("a gradient has its parameter's shape", expected=param_value.shape, got=param_grad.shape)
        param_value.grad = param_grad._array
        self._update([param_value])

    def _update(self, parameters: Sequence[Parameter]) -> None:
        rules = self._rules
        rules.t = int(self.step_counter.item())
        for parameter in parameters:
            known = self._known.get(id(parameter))
            if known is None:
                known = self._known[id(parameter)] = parameter, self._new_rule(parameter)
            rule = known[1]
            rule.t = rules.t
            parameter.update_rule = rule
        rules.target = _ParameterList(parameters)
        rules.update()
        rules.target = None
        for parameter in parameters:
            parameter.cleargrad()

    def _new_rule(self, parameter: Parameter) -> AbstractUpdateRule:
        rule = self._rules.create_update_rule()
        rule.state = self._pending.pop(parameter.name or "", {})
        return rule

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # a copy is for other parameters
        self._known = {id(parameter): (parameter, rule) for parameter, rule in self._known.values()}

    def _names(self) -> dict[str, AbstractUpdateRule]:
        names: dict[str, AbstractUpdateRule] = {}
        for parameter, rule in self._known.values():
            name = parameter.name or str(len(names))
            while name in names:
                name += "'"
            names[name] = rule
        return names

    def get_states(self) -> dict[str, Any]:
        """The state that a resumed run needs: the number of steps, and copied arrays by the parameters' names."""
        states = super().get_states()
        for slot, name in self.slot_names.items():
            if slot in self._rules.rule_class.slots:
                states[name] = {
                    each: hold(rule.state[slot].copy()) for each, rule in self._names().items() if slot in rule.state
                }
        return states

    def set_states(self, states: Mapping[str, Any]) -> None:
        """Restore the state of `get_states`; parameters are matched by name."""
        self.step_counter.set_value(float(states["step_counter"]))
        self._apply_schedules()
        self._pending = {}
        for slot, name in self.slot_names.items():
            for each, value in states.get(name, {}).items():
                array = value._array if isinstance(value, Tensor) else np.asarray(value)
                self._pending.setdefault(each, {})[slot] = np.array(array, np.float32)
        self._known.clear()
