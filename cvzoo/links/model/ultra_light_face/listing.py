"""The face detectors in listings and in files."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import HandWritten
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace
from cvzoo.links.model.ultra_light_face.weights import WEIGHTS
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: UltraLightFace) -> dict[str, Any]:
    return {"variant": model.variant}


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> UltraLightFace:
    return UltraLightFace(variant=settings["variant"])


def _preprocessing(model: UltraLightFace) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": [127 / 255] * 3,
        "std": [128 / 255] * 3,
        "fit": "stretch",
        "height": 240,
        "width": 320,
    }


ARCHITECTURES = (HandWritten("UltraLightFace", UltraLightFace, _settings, _preprocessing, _build).with_thresholds(),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return [
        ZooMember(record.name, functools.partial(UltraLightFace, key, variant), record, (record,))
        for variant, records in WEIGHTS.items()
        for key, record in records.items()
    ]
