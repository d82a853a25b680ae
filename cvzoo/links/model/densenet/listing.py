"""The DenseNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.densenet.densenet import DenseNet
from cvzoo.links.model.densenet.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: DenseNet) -> dict[str, Any]:
    return {
        "n_layer": model.n_layer,
        "n_class": model.n_class,
        "growth": model.growth,
        "stem_channels": model.stem_channels,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> DenseNet:
    return DenseNet(
        settings["n_layer"],
        settings["n_class"],
        label_names=label_names,
        growth=settings["growth"],
        stem_channels=settings["stem_channels"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("DenseNet", DenseNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(DenseNet, n_layer), records) for n_layer, records in WEIGHTS.items())
