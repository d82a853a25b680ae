"""How one parameter changes in one step."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from cvzoo.errors.exceptions import DtypeError
from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.hyperparameter import Hyperparameter

Array = Any
Coefficients = tuple[Any, ...]


class AbstractUpdateRule(abc.ABC):
    """The formula of an optimizer, and what it remembers of one parameter.

    A rule of your own writes `coefficients` and `update_block`. Parameters of one rule whose hyper-parameters and
    number of updates are equal are updated together, in blocks that fit into the processor's cache: `update_block`
    sees a run of numbers and not a parameter. On a GPU it is called once with stand-ins, and becomes a kernel, if it
    is made of NumPy's elementwise functions (with `np.where`, `np.copyto`, operators) and looks at no number; otherwise
    it gets a GPU's arrays, parameter by parameter. Numbers that change belong into `coefficients`: others are taken
    as they were when the kernel was made.

    slots: names of the arrays that are remembered of each parameter; zeros at first. Numbers in them that are nearly
        denormal (1e-33 in float32) become zero now and then on the CPU, since processors are slow at those
    hyperparam: the parameter's own numbers in front of the optimizer's
    enabled: False leaves the parameter as it is
    t: how many times the parameter was updated
    state: the arrays by their slot, of the parameter's shape; empty before the first update
    hooks: gradient hooks of this parameter alone
    """

    slots: ClassVar[tuple[str, ...]] = ()

    def __init__(self, hyperparam: Hyperparameter):
        self.hyperparam = Hyperparameter(parent=hyperparam)
        self.enabled = True
        self.t = 0
        self.state: dict[str, np.ndarray] = {}
        self.hooks: tuple[AbstractGradientHook, ...] = ()

    @abc.abstractmethod
    def coefficients(self, hp: Mapping[str, float], t: int, exempt: bool) -> Coefficients:
        """The numbers that `update_block` needs in the update number t (from 1); None stays None: "leave that out".

        exempt: the parameter is one of those that the optimizer's `exempt` names
        """

    @abc.abstractmethod
    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Any
    ) -> None:
        """Change p (n,) by the gradient g (n,), and the slots' arrays (n,) with it, in place; g is left as it is.

        c: the coefficients as numbers of p's dtype: arrays of no dimension, or what stands for them
        scratch: two arrays (n,) that may be written over
        ratio: what `AbstractLayerwiseRule.ratio` gave; None for other rules
        """

    def add_hook(self, hook: AbstractGradientHook) -> None:
        """Change this parameter's gradient by `hook` before each update, after the optimizer's own hooks.

        Raises DtypeError if it is no gradient hook, or one that looks at all gradients together.
        """
        if not isinstance(hook, AbstractGradientHook) or hook.needs_norm:
            raise DtypeError(
                "a hook of one parameter changes a gradient number by number",
                expected="a hook such as WeightDecay",
                got=type(hook).__name__,
                hint="optimizer.add_hook(hook)",
            )
        self.hooks = (*self.hooks, hook)

    def remove_hook(self, hook: AbstractGradientHook) -> None:
        """Do without a hook that was added."""
        self.hooks = tuple(other for other in self.hooks if other is not hook)


class AbstractLayerwiseRule(AbstractUpdateRule):
    """A rule whose step depends on norms of the whole parameter (LARS, LAMB): two passes over the blocks."""

    @abc.abstractmethod
    def measure_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array]
    ) -> tuple[Array, Array]:
        """The first pass: two arrays (n,) whose norms over the whole parameter `ratio` wants; may change the state."""

    @abc.abstractmethod
    def ratio(self, first: np.ndarray, second: np.ndarray, hp: Mapping[str, float], exempt: bool) -> np.ndarray:
        """(K,) float64, a number a parameter, of the norms (K,) float64 of the two arrays of `measure_block`."""
