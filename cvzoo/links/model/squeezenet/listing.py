"""The SqueezeNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import Architecture
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


def _preprocessing(model: SqueezeNet) -> dict[str, Any]:
    return model.preparation.to_json()


ARCHITECTURES = (Architecture("SqueezeNet", SqueezeNet, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember(
            each.record.name,
            functools.partial(SqueezeNet, version, pretrained_model=key),
            each.record,
            (each.record,),
            "classification",
        )
        for version, records in WEIGHTS.items()
        for key, each in records.items()
    ]
