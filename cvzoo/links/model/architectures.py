"""Which models can be built again from what a file says: a list of real objects."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from cvzoo.links.chain import Chain
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.resnet.storage import resnet_from_settings, resnet_preprocessing, resnet_settings
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.storage import retinanet_from_settings, retinanet_preprocessing, retinanet_settings


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


def architectures() -> tuple[Architecture, ...]:
    """All kinds of models that files can hold."""
    return (
        Architecture("ResNet", ResNet, resnet_settings, resnet_preprocessing, resnet_from_settings),
        Architecture("RetinaNet", RetinaNet, retinanet_settings, retinanet_preprocessing, retinanet_from_settings),
    )
