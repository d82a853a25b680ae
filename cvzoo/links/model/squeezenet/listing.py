"""The SqueezeNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet
from cvzoo.links.model.squeezenet.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: SqueezeNet) -> dict[str, Any]:
    return {
        "version": model.version,
        "n_class": model.n_class,
        "width": model.width,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> SqueezeNet:
    return SqueezeNet(
        settings["version"],
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("SqueezeNet", SqueezeNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(SqueezeNet, version), records) for version, records in WEIGHTS.items())
