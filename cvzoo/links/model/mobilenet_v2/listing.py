"""MobileNetV2 in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2
from cvzoo.links.model.mobilenet_v2.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: MobileNetV2) -> dict[str, Any]:
    return {
        "n_class": model.n_class,
        "arch": model.arch,
        "width": model.width,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> MobileNetV2:
    return MobileNetV2(
        settings["n_class"],
        label_names=label_names,
        arch=settings["arch"],
        width=settings["width"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("MobileNetV2", MobileNetV2, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(MobileNetV2, arch=arch, width=width), records) for (arch, width), records in WEIGHTS.items()
    )
