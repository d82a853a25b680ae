"""The parameters of an update, and the key by which they are grouped."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.backends.device import device_of, on_device_of
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import DtypeError, WeightsMismatchError
from cvzoo.optimizers.update_rule import AbstractUpdateRule
from cvzoo.typing.aliases import Array


class Entry(NamedTuple):
    """One parameter to update.

    key: parameters with the same key are updated together
    changes: for each of the optimizer's gradient hooks, whether it applies to this parameter
    exempt: whether the optimizer's `exempt` selects the parameter
    """

    path: str
    param: Parameter
    array: Array
    rule: AbstractUpdateRule
    key: tuple
    changes: tuple[bool, ...]
    exempt: bool

    @property
    def grad(self) -> Array:
        """The parameter's gradient, on the parameter's device; parameters without one have no entry."""
        return self.param.grad


def grouped(entries: Sequence[Entry]) -> list[list[int]]:
    """The indexes of the entries of each key, in the order of the first ones."""
    numbers: dict[tuple, list[int]] = {}
    for number, entry in enumerate(entries):
        numbers.setdefault(entry.key, []).append(number)
    return list(numbers.values())


def fits(olds: Sequence[Entry], news: Sequence[Entry]) -> bool:
    """Whether a plan for the entries `olds` is valid for `news`."""
    return len(news) == len(olds) and all(
        new.param is old.param and new.array is old.array and new.rule is old.rule and new.key == old.key
        for new, old in zip(news, olds)
    )


def placed(array: Array, like: Array) -> Array:
    """`array`, in C order, on the device of `like`."""
    with device_of(like) as device:
        moved = device.asarray(array)
        return moved if moved.flags.c_contiguous else moved.copy(order="C")


def prepare_state(entry: Entry) -> None:
    """Create missing slots of the rule as zeros on the parameter's device, and move existing ones to it.

    Raises DtypeError for a parameter of a dtype that is not updated, WeightsMismatchError for slots of another shape.
    """
    state, array = entry.rule.state, entry.array
    if array.dtype not in (np.float32, np.float64):
        raise DtypeError(
            f"parameters of this dtype are not updated: {entry.path}",
            expected="float32 or float64",
            got=str(array.dtype),
            hint="small steps would be lost by rounding; keep parameters in float32",
        )
    for name in entry.rule.slots:
        slot = state.get(name)
        if slot is not None and slot.shape != array.shape:
            raise WeightsMismatchError(
                f"{entry.path}: the optimizer's state {name} has another shape",
                expected=array.shape,
                got=slot.shape,
                hint="optimizer.setup(link) after a change of shapes",
            )
        if slot is None:
            with on_device_of(array):
                slot = backend_of(array).xp.zeros(array.shape, array.dtype)
        elif slot.dtype != array.dtype:
            slot = slot.astype(array.dtype)
        if device_of(slot) != device_of(array):
            slot = placed(slot, array)
        if not slot.flags.c_contiguous:
            slot = slot.copy(order="C")
        state[name] = slot
