"""A kind of model that files can describe."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.links.chain import Chain
from cvzoo.links.model.thresholds import threshold_settings, use_stored_thresholds


class Architecture(NamedTuple):
    """A kind of model that files can hold.

    name: in the files
    model_class: of its models
    settings: from a model, what it is built with, as JSON has it
    preprocessing: from a model, how it prepares a photo, as JSON has it
    build: from settings and names of classes, the model with random values; raises ConfigError, TypeError, KeyError or
        ValueError for settings that it does not know
    """

    name: str
    model_class: type[Chain]
    settings: Callable[[Any], dict[str, Any]]
    preprocessing: Callable[[Any], dict[str, Any]]
    build: Callable[[Mapping[str, Any], Sequence[str] | None], Chain]

    def with_thresholds(self) -> "Architecture":
        """The same for models that find instances: files keep their presets and limit, too."""
        build = self.build

        def built(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> Chain:
            model = build(settings, label_names)
            use_stored_thresholds(model, settings)
            return model

        return self._replace(settings=lambda model: self.settings(model) | threshold_settings(model), build=built)
