"""Configs of models: frozen dataclasses whose fields have a help text, unit and range, and are validated."""

import dataclasses
import functools
import typing
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.typed_value import NO_LIMITS, Limits, expected_words, is_named_tuple, nested_kinds, typed_value

Config = TypeVar("Config")
ModelConfig: TypeAlias = Any  # a frozen dataclass of such fields; each family of models has a class of its own

COUNT = 100_000  # limit of channels, blocks or pixels; a file with more is damaged or malicious


def config_field(
    default: Any = dataclasses.MISSING,
    *,
    help: str,
    unit: str | None = None,
    group: str | None = None,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    adjustable: bool = False,
    stored: str | tuple[str, int] | None = None,
    inline: bool = False,
) -> Any:
    """A field of a config; the arguments are in its `metadata`. Choices are expressed by its type, `Literal["a", "b"]`.

    default: if omitted, the field is required. A file without a field that has a default is older than the field
    help: description in one line
    unit, group: for forms: the unit of the value, and the group of fields that it belongs to
    at_least, above, at_most, below: the range of the number, or of each number in a tuple
    adjustable: the model has an attribute of this name that may be changed later; files store its current value
    stored: the name in files if it differs from the field's; (name, i): item i of a list of that name
    inline: for a nested config: files store its fields next to the outer one's
    """
    metadata = {
        "help": help,
        "unit": unit,
        "group": group,
        "limits": Limits(at_least, above, at_most, below),
        "adjustable": adjustable,
        "stored": stored,
        "inline": inline,
    }
    return dataclasses.field(default=default, metadata=metadata)


def count_field(
    default: Any = dataclasses.MISSING,
    *,
    help: str,
    unit: str | None = None,
    group: str | None = None,
    at_least: int = 1,
    stored: str | tuple[str, int] | None = None,
) -> Any:
    """`config_field` of a count, or a tuple of counts: `at_least` to 100,000."""
    return config_field(default, help=help, unit=unit, group=group, at_least=at_least, at_most=COUNT, stored=stored)


def classes_field() -> Any:
    """The number of classes."""
    return count_field(help="number of classes")


def width_field() -> Any:
    """A multiplier of all channels."""
    return config_field(help="times as many channels as published", above=0, at_most=20)


def dropout_field() -> Any:
    """A dropout ratio, which may be changed during training."""
    return config_field(help="share that dropout drops in training", at_least=0, at_most=1, adjustable=True)


def preparation_field(*, stored: str | None = None) -> Any:
    """The preprocessing of an image; the model has it as its attribute."""
    return config_field(help="how an image is prepared", group="preparation", adjustable=True, stored=stored)


def short_side_field() -> Any:
    """The short side of a segmenter's input; the model has it as its attribute."""
    return config_field(
        help="the image's short side is made so long",
        unit="pixels",
        group="preparation",
        at_least=1,
        at_most=COUNT,
        adjustable=True,
    )


def resized_field(*, help: str) -> Any:
    """A side of the resized image; the model has it as its attribute."""
    return config_field(help=help, unit="pixels", group="preparation", at_least=1, at_most=COUNT, adjustable=True)


def scales_field() -> Any:
    """Scales of a segmenter's views of an image; the model has them as its attribute."""
    return config_field(help="multiples of the image's size whose scores are averaged", above=0, adjustable=True)


def flip_field() -> Any:
    """Whether segmenters average over the flipped image, too; the model has it as its attribute."""
    return config_field(help="whether predictions are averaged over the flipped image, too", adjustable=True)


@functools.cache
def field_types(config_class: Any) -> dict[str, Any]:
    """name -> type of a dataclass's or a named tuple's fields."""
    hints = typing.get_type_hints(config_class)
    names = (
        [field.name for field in dataclasses.fields(config_class)]
        if dataclasses.is_dataclass(config_class)
        else config_class._fields
    )
    return {name: hints[name] for name in names}


def limits_of(field: dataclasses.Field[Any]) -> Limits:
    """The range of a field; unlimited for one that was not created by `config_field`."""
    return field.metadata.get("limits", NO_LIMITS)


def checked_values(config_class: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a config's or a named tuple's fields, lists as tuples. Raises ValueRangeError with the name."""
    types = field_types(config_class)
    fields = getattr(config_class, "__dataclass_fields__", {})
    checked = {}
    for name, value in values.items():
        limits = limits_of(fields[name]) if name in fields else NO_LIMITS
        try:
            checked[name] = typed_value(types[name], value, limits)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueRangeError(
                f"{config_class.__name__}: {name} is invalid",
                expected=expected_words(types[name], limits),
                got=repr(value)[:80],
            ) from error
    return checked


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbstractConfig:
    """The configuration of a model as plain values, for constructors, headers of files, JSON and forms.

    Subclasses are frozen dataclasses with fields of `config_field`; `check_together` validates combinations of values.
    Raises ValueRangeError for a value of the wrong type, out of its range, or not finite.
    """

    def __post_init__(self) -> None:
        for name, value in checked_values(type(self), vars(self)).items():
            object.__setattr__(self, name, value)
        self.check_together()

    def check_together(self) -> None:
        """Raises ValueRangeError for an invalid combination of values."""

    def require(self, right: bool, name: str, expected: str) -> None:
        """Raises ValueRangeError that names the field unless `right`."""
        if not right:
            got = repr(vars(self).get(name))[:80]
            raise ValueRangeError(f"{type(self).__name__}: {name} is invalid", expected=expected, got=got)


def one_config(config: Config | None, settings: Config | None) -> Config | None:
    """The config under either name: `settings` is its former one. Raises ValueRangeError for both."""
    if config is not None and settings is not None:
        raise ValueRangeError("config and settings are two names of one argument", expected="one of them")
    return settings if config is None else config


def config_to_json(config: ModelConfig) -> dict[str, Any]:
    """The fields of a config by their names in files, in order; tuples as lists.

    config: a dataclass or a named tuple
    """
    if is_named_tuple(type(config)):
        return {name: _plain(value) for name, value in config._asdict().items()}
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value = _plain(getattr(config, field.name))
        stored = field.metadata.get("stored")
        if field.metadata.get("inline"):
            fields |= value
        elif isinstance(stored, tuple):
            fields.setdefault(stored[0], []).append(value)
        else:
            fields[stored or field.name] = value
    return fields


def config_from_json(config_class: type, values: Mapping[str, Any]) -> ModelConfig:
    """The config from the output of `config_to_json`.

    Raises ValueRangeError that names the field that is missing, unknown, of the wrong type or out of its range.
    """
    if not isinstance(values, Mapping):
        raise ValueRangeError(
            f"{config_class.__name__} must be made of a mapping", expected="fields by name", got=repr(values)[:80]
        )
    older = getattr(config_class, "from_older", None)
    left = dict(values if older is None else older(values))
    taken: set[str] = set()
    types = field_types(config_class)
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(config_class):
        if field.metadata.get("inline"):
            (kind,) = nested_kinds(types[field.name])
            inner = {name: left[name] for name in field_types(kind) if name in left}
            taken |= inner.keys()
            fields[field.name] = _built(kind, inner)
            continue
        stored = field.metadata.get("stored") or field.name
        name, at = stored if isinstance(stored, tuple) else (stored, None)
        if name in left:
            taken.add(name)
            fields[field.name] = _typed(types[field.name], _at(config_class, name, left[name], at))
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ValueRangeError(f"{config_class.__name__}: {name} is missing")
    unknown = sorted(left.keys() - taken)
    if unknown:
        raise ValueRangeError(f"{config_class.__name__}: there is no field {unknown[0][:80]!r}")
    return config_class(**checked_values(config_class, fields))


def _plain(value: object) -> Any:
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
        raise ValueRangeError(
            f"{config_class.__name__}: {name} is invalid", expected=f"a list of {n}", got=repr(value)[:80]
        )
    return value[at]


def _typed(kind: Any, value: Any) -> Any:
    """A nested config from its JSON; other values unchanged."""
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
            raise ValueRangeError(f"{kind.__name__} is invalid: {error}", got=repr(value)[:80]) from error
    if not is_named_tuple(kind):
        return config_from_json(kind, value)
    fields = value if isinstance(value, Mapping) else dict(zip(kind._fields, value, strict=False))
    missing = [name for name in kind._fields if name not in fields and name not in kind._field_defaults]
    if missing or len(fields) != len(value) or fields.keys() - set(kind._fields):
        raise ValueRangeError(kind.__name__, expected=", ".join(kind._fields), got=repr(value)[:80])
    return kind(**checked_values(kind, fields))
