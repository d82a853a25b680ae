"""Architectures: kinds of models that files can describe."""

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain
from cvzoo.links.model.config import ModelConfig, checked_values, classes_field, config_from_json, config_to_json
from cvzoo.links.model.thresholds import (
    AbstractThresholds,
    ClassPreset,
    Preset,
    stored_limit,
    stored_presets,
    threshold_settings,
    use_stored_thresholds,
)

_THRESHOLDS = ("presets", "limit")


class Architecture(NamedTuple):
    """A kind of model that files can hold; the attribute `config` of its models describes how they are built.

    name: in the files
    model_class: the class; it takes a config as `config`, or its fields as keyword arguments
    config_class: a frozen dataclass
    key: name of the config in a file's settings, next to n_fg_class; None: its fields are the settings. The class
        takes such a config by this name, too
    """

    name: str
    model_class: type[Any]
    config_class: type
    key: str | None = None

    @property
    def has_thresholds(self) -> bool:
        """Whether its models detect instances: files then contain their presets and limit, too."""
        return issubclass(self.model_class, AbstractThresholds)

    def settings(self, model: Any) -> dict[str, Any]:
        """The model's current config, as JSON values."""
        fields = config_to_json(present_config(model))
        if self.key is not None:
            fields = {"n_fg_class": model.n_fg_class, self.key: fields}
        return fields | threshold_settings(model) if self.has_thresholds else fields

    def build(self, settings: Mapping[str, Any], label_names: Sequence[str] | None) -> Chain:
        """A randomly initialized model.

        settings: of a file
        Raises CvzooError, TypeError, ValueError, LookupError or AttributeError if they are invalid.
        """
        own = {name: value for name, value in settings.items() if not (self.has_thresholds and name in _THRESHOLDS)}
        if self.key is None:
            config = config_from_json(self.config_class, own)
            model: Chain = _built(self.model_class, config, label_names)
        else:
            n_fg_class, config = _keyed(self.config_class, own, self.key)
            model = self.model_class(n_fg_class, label_names=label_names, **{self.key: config})
        if isinstance(model, AbstractThresholds):
            use_stored_thresholds(model, settings)
        return model


class StoredDetector(NamedTuple):
    """The settings of a detector in a file: n_fg_class; config; presets and limit, None in older files."""

    n_fg_class: int
    config: ModelConfig
    presets: Mapping[str, Preset | ClassPreset] | None
    limit: int | None


def stored_detector(settings: Mapping[str, Any], config_class: type) -> StoredDetector:
    """A file's settings, validated; the config's name is "config" or "settings". Raises as `Architecture.build`."""
    key = "config" if "config" in settings else "settings"
    n_fg_class, config = _keyed(
        config_class, {name: settings[name] for name in ("n_fg_class", key) if name in settings}, key
    )
    return StoredDetector(n_fg_class, config, stored_presets(settings), stored_limit(settings))


def present_config(model: Any) -> ModelConfig:
    """The model's config with the current values of its adjustable attributes."""
    now = {
        field.name: getattr(model, field.name)
        for field in dataclasses.fields(model.config)
        if field.metadata.get("adjustable")
    }
    return dataclasses.replace(model.config, **now) if now else model.config


@dataclasses.dataclass(frozen=True)
class _Classes:
    n_fg_class: int = classes_field()


def _keyed(config_class: type, settings: Mapping[str, Any], key: str) -> tuple[int, ModelConfig]:
    odd = sorted(settings.keys() ^ {"n_fg_class", key})
    if odd:
        how = "unknown" if odd[0] in settings else "missing"
        raise ValueRangeError(f"{odd[0][:80]} is {how}", expected=f"n_fg_class and {key}")
    n_fg_class = checked_values(_Classes, {"n_fg_class": settings["n_fg_class"]})["n_fg_class"]
    return n_fg_class, config_from_json(config_class, settings[key])


def _built(model_class: type[Any], config: ModelConfig, label_names: Sequence[str] | None) -> Chain:
    takes = inspect.signature(model_class.__init__).parameters
    names = {"label_names": label_names} if "label_names" in takes else {}
    if "config" in takes:
        return model_class(config=config, **names)
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    model = model_class(**{name: value for name, value in values.items() if name in takes}, **names)
    for name, value in values.items():
        if name not in takes:  # an adjustable attribute
            setattr(model, name, value)
    return model
