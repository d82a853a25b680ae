"""Gradient hooks: elementwise changes of gradients, fused into the update."""

import abc
from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.typing.aliases import Array

Selector = Callable[[str, Parameter], bool]  # takes the parameter's path ("/conv1/W") and the parameter


class AbstractGradientHook(abc.ABC):
    """Base class of gradient hooks: change the gradients that the update reads; the parameters' `grad` stay unchanged.

    name: of the hook in the optimizer
    needs_norm: whether `coefficients` needs the norm of all gradients together, after the earlier hooks
    exempt: selects parameters that the hook does not apply to, or None
    """

    name: str
    needs_norm = False
    exempt: Selector | None = None

    @abc.abstractmethod
    def coefficients(self, t: int, norm: float | None) -> tuple[float, ...] | None:
        """The scalars of `change` in update t (from 1); None: no change in this update."""

    @abc.abstractmethod
    def change(self, p: Array, g: Array, out: Array, scratch: Array, c: Sequence[Array]) -> None:
        """Write the changed gradient of the parameters p (n,) into `out`, which may be g.

        scratch: (n,), for temporaries
        c: the coefficients as 0-d arrays
        """

    def coefficients_of_norm(self, t: int, norm: Array | np.float64) -> tuple[Array, ...] | None:
        """`coefficients` for a norm on the GPU, computed by NumPy's elementwise functions without branches; scalars of
        the identity where nothing changes. None: not supported, so that updates on a GPU synchronize for the norm."""
        return None

    def measured(self, norm: Array) -> None:  # noqa: B027 - most hooks do not report it
        """Called with the norm as a 0-d array on the device, for hooks that report it."""
