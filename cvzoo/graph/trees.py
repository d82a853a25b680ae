"""Flattening of nested arguments and results into arrays, and the inverse."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import device_number, is_array
from cvzoo.backends.device import Device, device_of
from cvzoo.backends.float_types import is_float
from cvzoo.typing.aliases import Array

_PLAIN = (bool, int, float, str, type(None), np.integer, np.floating)


# nested tuples of kinds and plain values, with "array" and "variable" for leaves; hashable
Structure: TypeAlias = Any


class NotATreeError(TypeError):
    """A value that is neither an array, a number nor a container of them."""


def flatten(tree: Any, leaves: list[Variable | Array]) -> Structure:
    """Returns the tree's hashable structure, without array values; appends its arrays and Variables to `leaves`.

    A tree is made of tuples, lists, dictionaries, plain numbers, texts, None, arrays and Variables.
    Raises NotATreeError for anything else.
    """
    if isinstance(tree, Variable):
        leaves.append(tree)
        return "variable"
    if is_array(tree):
        leaves.append(tree)
        return "array"
    kind = type(tree)
    if isinstance(tree, tuple | list):
        return kind, tuple([flatten(each, leaves) for each in tree])
    if kind is dict:
        return kind, tuple(tree), tuple([flatten(each, leaves) for each in tree.values()])
    if isinstance(tree, _PLAIN):
        return "plain", kind, tree
    raise NotATreeError(kind.__name__)


def unflatten(structure: Structure, leaves: Iterator[Any], make: Callable[[Any], Any]) -> Any:
    """Rebuilds the tree with the arrays of `leaves`; those that were Variables are passed to `make`."""
    if structure == "array":
        return next(leaves)
    if structure == "variable":
        return make(next(leaves))
    kind, *rest = structure
    if kind == "plain":
        return rest[1]
    if kind is dict:
        return {name: unflatten(each, leaves, make) for name, each in zip(*rest)}
    parts = [unflatten(each, leaves, make) for each in rest[0]]
    if kind in (tuple, list):
        return kind(parts)
    named: Any = kind
    return named._make(parts) if issubclass(kind, tuple) else kind(parts)


class CallArguments(NamedTuple):
    """The arguments of a call that can be compiled.

    structure: see `flatten`; leaves: its arrays and Variables; arrays: those of the leaves
    metadata: hashable, each array's shape, strides, dtype and device
    """

    structure: Structure
    leaves: list[Variable | Array]
    arrays: list[Array]
    metadata: tuple[Hashable, ...]


def call_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallArguments | None:
    """The arguments; None for a call that stays eager, whose arrays are not all of floats, or are empty or none."""
    leaves: list[Variable | Array] = []
    try:
        structure = flatten((args, kwargs), leaves)
    except NotATreeError:
        return None
    arrays = [x._array if isinstance(x, Variable) else x for x in leaves]
    # integers are often indices, with which Python code may do anything between functions
    if not arrays or any(not is_float(a.dtype) or a.size == 0 for a in arrays):
        return None
    metadata = tuple([(a.shape, _steps(a), a.dtype, device_number(a)) for a in arrays])
    return CallArguments(structure, leaves, arrays, metadata)


def _steps(array: Array) -> tuple[int, ...]:
    """The strides without those of axes of size 1, which have no meaning."""
    if 1 not in array.shape:
        return array.strides
    return tuple([stride if n > 1 else 0 for n, stride in zip(array.shape, array.strides)])


def device_of_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Device:
    """The device of the first array among the arguments."""
    leaves: list[Variable | Array] = []
    flatten((args, kwargs), leaves)
    return device_of(leaves[0]._array if isinstance(leaves[0], Variable) else leaves[0])


def moved_beside(parameters: Iterable[Parameter], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with host arrays copied to the GPU of the first parameter, if it is on one."""
    first = next((each._array for each in parameters if each._array is not None), None)
    device = device_of(first)
    if device.index < 0:
        return args
    leaves: list[Variable | Array] = []
    structure = flatten(args, leaves)
    return unflatten(structure, iter([device.asarray(x) if is_array(x) else x for x in leaves]), lambda x: x)


def structure_has_arrays(structure: Structure) -> bool:
    """Whether the tree had an array that was no Variable."""
    if isinstance(structure, str):
        return structure == "array"
    if structure[0] == "plain":
        return False
    return any(structure_has_arrays(each) for each in structure[-1])
