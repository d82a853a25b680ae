"""Configs as JSON has them, and configs from foreign JSON, checked."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.config import checked_values, field_types
from cvzoo.links.model.typed_value import is_named_tuple, nested_kinds


def config_to_json(config: Any) -> dict[str, Any]:
    """The fields of a config by their names in files, in their order; tuples are lists.

    config: a dataclass or a named tuple
    """
    if is_named_tuple(type(config)):
        return {name: _plain(value) for name, value in config._asdict().items()}
    found: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value = _plain(getattr(config, field.name))
        stored = field.metadata.get("stored")
        if field.metadata.get("inline"):
            found |= value
        elif isinstance(stored, tuple):
            found.setdefault(stored[0], []).append(value)
        else:
            found[stored or field.name] = value
    return found


def config_from_json(config_class: type, values: Mapping[str, Any]) -> Any:
    """The config that `config_to_json` wrote.

    Raises ValueRangeError that names the field that is missing, unknown, of another type or out of its range.
    """
    if not isinstance(values, Mapping):
        raise ValueRangeError(f"{config_class.__name__}", expected="fields by name", got=repr(values)[:80])
    older = getattr(config_class, "from_older", None)
    left = dict(values if older is None else older(values))
    taken: set[str] = set()
    types = field_types(config_class)
    found: dict[str, Any] = {}
    for field in dataclasses.fields(config_class):
        if field.metadata.get("inline"):
            (kind,) = nested_kinds(types[field.name])
            inner = {name: left[name] for name in field_types(kind) if name in left}
            taken |= inner.keys()
            found[field.name] = _built(kind, inner)
            continue
        stored = field.metadata.get("stored") or field.name
        name, at = stored if isinstance(stored, tuple) else (stored, None)
        if name in left:
            taken.add(name)
            found[field.name] = _typed(types[field.name], _at(config_class, name, left[name], at))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ValueRangeError(f"{config_class.__name__}: {name} is missing")
    unknown = sorted(left.keys() - taken)
    if unknown:
        raise ValueRangeError(f"{config_class.__name__}: there is no field {unknown[0][:80]!r}")
    return config_class(**checked_values(config_class, found))


def _plain(value: Any) -> Any:
    own = getattr(value, "to_json", None)
    if own is not None:
        return own()
    if dataclasses.is_dataclass(value) or is_named_tuple(type(value)):
        return config_to_json(value)
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _at(config_class: type, name: str, value: Any, at: int | None) -> Any:
    if at is None:
        return value
    lists = [field.metadata.get("stored") for field in dataclasses.fields(config_class)]
    n = sum(isinstance(stored, tuple) and stored[0] == name for stored in lists)
    if not isinstance(value, list | tuple) or len(value) != n:
        raise ValueRangeError(f"{config_class.__name__}: {name}", expected=f"a list of {n}", got=repr(value)[:80])
    return value[at]


def _typed(kind: Any, value: Any) -> Any:
    """A nested config of its JSON; all else as it is."""
    for each in nested_kinds(kind):
        if isinstance(value, Mapping) or (isinstance(value, list) and is_named_tuple(each)):
            return _built(each, value)
    return value


def _built(kind: Any, value: Any) -> Any:
    own = getattr(kind, "from_json", None)
    if own is not None:
        try:
            return own(value)
        except KeyError as error:
            raise ValueRangeError(f"{kind.__name__}: {error} is missing") from error
        except (TypeError, AttributeError, ArithmeticError) as error:
            raise ValueRangeError(f"{kind.__name__}: {error}", got=repr(value)[:80]) from error
    if not is_named_tuple(kind):
        return config_from_json(kind, value)
    fields = value if isinstance(value, Mapping) else dict(zip(kind._fields, value, strict=False))
    missing = [name for name in kind._fields if name not in fields and name not in kind._field_defaults]
    if missing or len(fields) != len(value) or fields.keys() - set(kind._fields):
        raise ValueRangeError(kind.__name__, expected=", ".join(kind._fields), got=repr(value)[:80])
    return kind(**checked_values(kind, fields))
