"""ShuffleNetV2 in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2
from cvzoo.links.model.shufflenet_v2.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: ShuffleNetV2) -> dict[str, Any]:
    return {
        "width": model.width,
        "n_class": model.n_class,
        "channels": None if model.channels is None else list(model.channels),
        "counts": list(model.counts),
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> ShuffleNetV2:
    return ShuffleNetV2(
        settings["width"],
        settings["n_class"],
        label_names=label_names,
        channels=settings["channels"],
        counts=settings["counts"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("ShuffleNetV2", ShuffleNetV2, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(ShuffleNetV2, width), records) for width, records in WEIGHTS.items())
