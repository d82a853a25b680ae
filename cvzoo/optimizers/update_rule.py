"""Update rules: the formula of an optimizer for one parameter."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from cvzoo.errors.exceptions import DtypeError
from cvzoo.optimizers.gradient_hook import AbstractGradientHook
from cvzoo.optimizers.hyperparameter import Hyperparameter
from cvzoo.typing.aliases import Array

Coefficients = tuple[Any, ...]  # each a number, an array () or a cell, and None where a term is left out
Ratio = Array | Any  # of a layer-wise rule, one number or one per element; Any stands for None, of other rules


class AbstractUpdateRule(abc.ABC):
    """The update formula of an optimizer and its state for one parameter.

    Your own rule implements `coefficients` and `update_block`. Parameters of one rule with equal hyperparameters and
    number of updates are updated together, in blocks that fit into the CPU's cache: `update_block` gets a range of
    elements, not a parameter. On a GPU it is called once with symbolic arrays, and compiled to a kernel, if it consists
    of NumPy's elementwise functions (with `np.where`, `np.copyto`, operators) without data-dependent branches;
    otherwise it gets GPU arrays, parameter by parameter. Changing scalars belong into `coefficients`: others are
    constants of the kernel.

    slots: names of the state arrays of each parameter; initially zeros. Values that are nearly denormal (1e-33 in
        float32) are flushed to zero now and then on the CPU, where denormal arithmetic is slow
    hyperparam: the parameter's own hyperparameters in front of the optimizer's
    enabled: False: the parameter is not updated
    t: number of updates of the parameter
    state: the arrays by slot, of the parameter's shape; empty before the first update
    hooks: gradient hooks of this parameter only
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
        """The scalars of `update_block` in update t (from 1); None stays None: the term is left out.

        exempt: whether the optimizer's `exempt` selects the parameter
        """

    @abc.abstractmethod
    def update_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array], ratio: Ratio
    ) -> None:
        """Update p (n,) by the gradient g (n,), and the state (n,), in place; g is not changed.

        c: the coefficients in p's dtype: 0-d arrays, or symbolic scalars
        scratch: two arrays (n,) for temporaries
        ratio: of `AbstractLayerwiseRule.ratio`; None for other rules
        """

    def add_hook(self, hook: AbstractGradientHook) -> None:
        """Apply `hook` to this parameter's gradient before each update, after the optimizer's own hooks.

        Raises DtypeError if it is no gradient hook, or one that needs the norm of all gradients.
        """
        if not isinstance(hook, AbstractGradientHook) or hook.needs_norm:
            raise DtypeError(
                "a hook of one parameter must be an elementwise gradient hook",
                expected="a hook such as WeightDecay",
                got=type(hook).__name__,
                hint="optimizer.add_hook(hook)",
            )
        self.hooks = (*self.hooks, hook)

    def remove_hook(self, hook: AbstractGradientHook) -> None:
        """Remove a hook."""
        self.hooks = tuple(other for other in self.hooks if other is not hook)


class AbstractLayerwiseRule(AbstractUpdateRule):
    """A rule whose step depends on norms of the whole parameter (LARS, LAMB): two passes over the blocks."""

    @abc.abstractmethod
    def measure_block(
        self, p: Array, g: Array, state: Sequence[Array], c: Sequence[Array], scratch: Sequence[Array]
    ) -> tuple[Array, Array]:
        """The first pass: two arrays (n,), whose norms over the parameter are the arguments of `ratio`; may change the
        state."""

    @abc.abstractmethod
    def ratio(self, first: np.ndarray, second: np.ndarray, hp: Mapping[str, float], exempt: bool) -> np.ndarray:
        """(K,) float64, one ratio per parameter, from the norms (K,) float64 of the two arrays of `measure_block`."""
