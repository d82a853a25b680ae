"""EfficientNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.efficientnet.efficientnet import EfficientNet
from cvzoo.links.model.efficientnet.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: EfficientNet) -> dict[str, Any]:
    return {
        "variant": model.variant,
        "n_class": model.n_class,
        "width": model.width,
        "depth": model.depth,
        "drop": model.drop,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> EfficientNet:
    return EfficientNet(
        settings["variant"],
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        depth=settings["depth"],
        drop=settings["drop"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("EfficientNet", EfficientNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members(
        (functools.partial(EfficientNet, variant), records) for variant, records in WEIGHTS.items()
    )
