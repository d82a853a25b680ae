"""AlexNet in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.alexnet.alexnet import AlexNet
from cvzoo.links.model.alexnet.weights import WEIGHTS
from cvzoo.links.model.architecture import Architecture
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


def _preprocessing(model: AlexNet) -> dict[str, Any]:
    return model.preparation.to_json()


ARCHITECTURES = (Architecture("AlexNet", AlexNet, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember(
            each.record.name,
            functools.partial(AlexNet, pretrained_model=key),
            each.record,
            (each.record,),
            "classification",
        )
        for key, each in WEIGHTS.items()
    ]
