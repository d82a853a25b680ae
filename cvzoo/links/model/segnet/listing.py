"""SegNet in listings and in files."""

from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic
from cvzoo.links.model.segnet.weights import RECORDS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: SegNetBasic) -> dict[str, Any]:
    return {"n_class": model.n_class, "channels": model.channels}


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> SegNetBasic:
    return SegNetBasic(settings["n_class"], label_names=label_names, channels=settings["channels"])


def _preprocessing(model: SegNetBasic) -> dict[str, Any]:
    return {"channels": "RGB", "range": [0, 255]}


ARCHITECTURES = (HandWritten("SegNetBasic", SegNetBasic, _settings, _preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(SegNetBasic, RECORDS)], "segmentation")
