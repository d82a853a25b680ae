"""FCN in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.fcn.weights import RECORDS
from cvzoo.links.model.short_side_preparation import short_side_preprocessing
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: FCN) -> dict[str, Any]:
    return {"backbone": model.kind, "n_class": model.n_class, "width": model.width, "short": model.short}


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> FCN:
    return FCN(
        settings["backbone"],
        settings["n_class"],
        label_names=label_names,
        width=settings["width"],
        short=settings["short"],
    )


ARCHITECTURES = (HandWritten("FCN", FCN, _settings, short_side_preprocessing, _build),)


def members() -> list[ZooMember]:
    """The trained ones."""
    makers = ((functools.partial(FCN, backbone), records) for backbone, records in RECORDS.items())
    return trained_members(makers, "segmentation")
