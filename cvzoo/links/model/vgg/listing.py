"""The VGG networks in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.vgg.vgg import VGG
from cvzoo.links.model.vgg.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: VGG) -> dict[str, Any]:
    return {
        "n_layer": model.n_layer,
        "n_class": model.n_class,
        "norm": model.norm,
        "base_channels": model.base_channels,
        "fc_channels": model.fc_channels,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> VGG:
    return VGG(
        settings["n_layer"],
        settings["n_class"],
        label_names=label_names,
        norm=settings["norm"],
        base_channels=settings["base_channels"],
        fc_channels=settings["fc_channels"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("VGG", VGG, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(VGG, n_layer, norm=norm), records) for (n_layer, norm), records in WEIGHTS.items()
    )
