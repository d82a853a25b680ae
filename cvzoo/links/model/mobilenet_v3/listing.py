"""MobileNetV3 in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: MobileNetV3) -> dict[str, Any]:
    return {
        "size": model.size,
        "n_class": model.n_class,
        "width": model.width,
        "eps": model.eps,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> MobileNetV3:
    return MobileNetV3(
        settings["size"],
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        eps=settings["eps"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("MobileNetV3", MobileNetV3, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(MobileNetV3, size), records) for size, records in WEIGHTS.items())
