"""LRASPP in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.lraspp.lraspp import LRASPPMobileNetV3Large
from cvzoo.links.model.lraspp.weights import RECORDS
from cvzoo.links.model.short_side_preparation import short_side_preprocessing
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: LRASPPMobileNetV3Large) -> dict[str, Any]:
    return {"n_class": model.n_class, "width": model.width, "short": model.short}


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> LRASPPMobileNetV3Large:
    return LRASPPMobileNetV3Large(
        settings["n_class"], label_names=label_names, width=settings["width"], short=settings["short"]
    )


ARCHITECTURES = (
    HandWritten("LRASPPMobileNetV3Large", LRASPPMobileNetV3Large, _settings, short_side_preprocessing, _build),
)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(LRASPPMobileNetV3Large, RECORDS)], "segmentation")
