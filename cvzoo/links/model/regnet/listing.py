"""RegNets in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.classifier_listing import classifier_members, classifier_preprocessing
from cvzoo.links.model.photo_preparation import PhotoPreparation
from cvzoo.links.model.regnet.design import Design
from cvzoo.links.model.regnet.regnet import RegNet
from cvzoo.links.model.regnet.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: RegNet) -> dict[str, Any]:
    return {
        "design": model.design if isinstance(model.design, str) else list(model.design),
        "n_class": model.n_class,
        "stem": model.stem,
        "preparation": model.preparation.to_json(),
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> RegNet:
    design = settings["design"]
    return RegNet(
        design if isinstance(design, str) else Design(*design),
        settings["n_class"],
        label_names=label_names,
        stem=settings["stem"],
        preparation=PhotoPreparation.from_json(settings["preparation"]),
    )


ARCHITECTURES = (HandWritten("RegNet", RegNet, _settings, classifier_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return classifier_members((functools.partial(RegNet, design), records) for design, records in WEIGHTS.items())
