"""Validation of values against the types of a config's fields."""

import dataclasses
import math
import numbers
import operator
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple


class Limits(NamedTuple):
    """The range of a number; None: unbounded."""

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None

    def hold(self, value: float) -> bool:
        """Whether a number is in the range."""
        return not (
            (self.at_least is not None and value < self.at_least)
            or (self.above is not None and value <= self.above)
            or (self.at_most is not None and value > self.at_most)
            or (self.below is not None and value >= self.below)
        )

    def words(self) -> str:
        """Such as "at least 1, below 10"; empty without bounds."""
        named = self._asdict().items()
        return ", ".join(f"{name.replace('_', ' ')} {bound}" for name, bound in named if bound is not None)


NO_LIMITS = Limits()


def typed_value(kind: Any, value: Any, limits: Limits = NO_LIMITS) -> Any:
    """The value, with lists as tuples, if it is of the type; an int is a valid float, and stays an int.

    kind: a class, a dataclass or a named tuple, Literal, a union, tuple[T, ...], tuple[T, U] or Mapping[str, T]
    limits: of each number in it
    Raises TypeError, ValueError or OverflowError.
    """
    origin = typing.get_origin(kind)
    if kind is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(kind), value, limits)
    if origin is Literal:
        if not any(type(value) is type(choice) and value == choice for choice in typing.get_args(kind)):
            raise ValueError("none of the choices")
        return value
    if origin is tuple:
        return _tuple(typing.get_args(kind), value, limits)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key_kind, value_kind = typing.get_args(kind)
        if not isinstance(value, Mapping):
            raise TypeError("not a mapping")
        return {typed_value(key_kind, key): typed_value(value_kind, each, limits) for key, each in value.items()}
    if kind in (int, float):
        return _number(kind, value, limits)
    if not isinstance(value, kind):
        raise TypeError(f"not of type {kind.__name__}")
    return value


def expected_words(kind: Any, limits: Limits = NO_LIMITS) -> str:
    """A description of the values that `typed_value` accepts."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(expected_words(each, limits) for each in typing.get_args(kind))
    if origin is Literal:
        return " or ".join(map(repr, typing.get_args(kind)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"{expected_words(typing.get_args(kind)[1], limits)}, by name"
    if origin is tuple:
        args = typing.get_args(kind)
        many = "a list" if args[-1] is Ellipsis else f"{len(args)}"
        return f"{many}, each {expected_words(args[0], limits)}"
    if kind in (int, float):
        what = "a whole number" if kind is int else "a number"
        return ", ".join(filter(None, (what, limits.words())))
    plain: dict[Any, str] = {bool: "True or False", str: "a text", type(None): "None", Any: "anything"}
    return plain[kind] if kind in plain else str(getattr(origin or kind, "__name__", kind))


def _one_of(kinds: tuple[Any, ...], value: Any, limits: Limits) -> Any:
    failures: list[Exception] = []
    for kind in kinds:
        try:
            return typed_value(kind, value, limits)
        except (TypeError, ValueError, OverflowError) as error:
            failures.append(error)
    raise failures[-1]


def _tuple(kinds: tuple[Any, ...], value: Any, limits: Limits) -> tuple[Any, ...]:
    if not isinstance(value, tuple | list):
        raise TypeError("not a list")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple([typed_value(kinds[0], each, limits) for each in value])
    if len(value) != len(kinds):
        raise ValueError("of another length")
    return tuple([typed_value(kind, each, limits) for kind, each in zip(kinds, value)])


def _number(kind: type, value: Any, limits: Limits) -> int | float:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral if kind is int else numbers.Real):
        raise TypeError("no such number")
    if isinstance(value, numbers.Integral):
        value = operator.index(value)  # NumPy's, too
        if kind is float:
            float(value)  # OverflowError for integers beyond the range of float
    elif not math.isfinite(value := float(value)):
        raise ValueError("the value is not finite")
    if not limits.hold(value):
        raise ValueError("the value is out of range")
    return value


def is_named_tuple(kind: Any) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def nested_kinds(kind: Any) -> list[type]:
    """The dataclasses and named tuples that a value of the type may be."""
    kinds = typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)
    classes = [each for each in kinds if isinstance(each, type)]
    return [each for each in classes if dataclasses.is_dataclass(each) or is_named_tuple(each)]
