"""MNASNet in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.mnasnet.mnasnet import MNASNet
from cvzoo.links.model.mnasnet.weights import WEIGHTS
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: MNASNet) -> dict[str, Any]:
    return {
        "width": model.width,
        "n_class": model.n_class,
        "last": model.last,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> MNASNet:
    return MNASNet(
        settings["width"],
        settings["n_class"],
        label_names=label_names,
        last=settings["last"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("MNASNet", MNASNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(MNASNet, width), records) for width, records in WEIGHTS.items())
