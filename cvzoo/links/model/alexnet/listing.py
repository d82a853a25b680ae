"""AlexNet in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.alexnet.alexnet import AlexNet
from cvzoo.links.model.alexnet.weights import WEIGHTS
from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: AlexNet) -> dict[str, Any]:
    return {
        "n_class": model.n_class,
        "width": model.width,
        "fc_channels": model.fc_channels,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> AlexNet:
    return AlexNet(
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        fc_channels=settings["fc_channels"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("AlexNet", AlexNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members([(AlexNet, WEIGHTS)])
