"""GoogLeNet and Inception v3 in listings and in files."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.googlenet.googlenet import GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.googlenet.weights import GOOGLENET, INCEPTION_V3
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.zoo_member import ZooMember

Model = GoogLeNet | InceptionV3


def _settings(model: Model) -> dict[str, Any]:
    return {
        "n_class": model.n_class,
        "aux": model.has_aux,
        "width": model.width,
        "dropout": model.dropout,
        "preparation": model.preparation.to_json(),
    }


def _build(make: Callable[..., Model], settings: Mapping[str, Any], label_names: Sequence[str] | None) -> Model:
    return make(
        settings["n_class"],
        label_names=label_names,
        aux=settings["aux"],
        width=settings["width"],
        dropout=settings["dropout"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (
    HandWritten("GoogLeNet", GoogLeNet, _settings, classifier_preprocessing, functools.partial(_build, GoogLeNet)),
    HandWritten(
        "InceptionV3", InceptionV3, _settings, classifier_preprocessing, functools.partial(_build, InceptionV3)
    ),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members([(GoogLeNet, GOOGLENET), (InceptionV3, INCEPTION_V3)])
