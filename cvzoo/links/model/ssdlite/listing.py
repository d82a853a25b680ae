"""SSDLite in listings and in files."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.ssdlite.published import SSDLite320MobileNetV3Large
from cvzoo.links.model.ssdlite.settings import SSDLiteSettings
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ssdlite.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _settings(model: SSDLite) -> dict[str, Any]:
    return {"n_fg_class": model.n_fg_class, "settings": dataclasses.asdict(model.settings)}


def _preprocessing(model: SSDLite) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": [127.5, 127.5, 127.5],
        "std": [127.5, 127.5, 127.5],
        "size": [model.insize, model.insize],
        "interpolation": "bilinear",
    }


def _build(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> SSDLite:
    built = SSDLiteSettings(**settings["settings"])
    return SSDLite(int(settings["n_fg_class"]), label_names=label_names, settings=built)


ARCHITECTURES = (Architecture("SSDLite", SSDLite, _settings, _preprocessing, _build).with_thresholds(),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(SSDLite320MobileNetV3Large, WEIGHTS)])
