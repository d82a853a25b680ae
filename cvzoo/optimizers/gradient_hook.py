"""Gradient hooks: elementwise changes of gradients, fused into the update."""

import abc
from collections.abc import Callable, Sequence
from typing import Any

from cvzoo.autodiff.parameter import Parameter

Array = Any
Selector = Callable[[str, Parameter], bool]  # of the parameter's path ("/conv1/W") and the parameter


class AbstractGradientHook(abc.ABC):
    """A change of gradients before the update. Gradients themselves stay as they are; the update sees changed ones.

    name: how the hook is found again
    needs_norm: whether `coefficients` wants the norm of all gradients together, as the hooks before left them
    exempt: whose parameters the hook leaves alone, or None
    """

    name: str
    needs_norm = False
    exempt: Selector | None = None

    @abc.abstractmethod
    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        """The numbers that `change` needs in the update number t; None: nothing to change this time."""

    @abc.abstractmethod
    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        """Write the changed gradient of the run of parameters p (n,) into `out`, which may be g.

        scratch: (n,), may be written over
        c: the coefficients as arrays of no dimension
        """

    def coefficients_of_norm(self, t: int, norm: Any) -> tuple[Any, ...] | None:
        """`coefficients` of a norm that only a GPU knows, by NumPy's elementwise functions; where there is nothing to
        change, numbers that change nothing. None: there is no such form, and updates on a GPU wait for the norm."""
        return None

    def measured(self, norm: Any) -> None:  # noqa: B027 - most hooks do not tell of it
        """The norm, in a device's array of no dimension, which `coefficients_of_norm` was not shown."""
