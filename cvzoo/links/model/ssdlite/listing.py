"""SSDLite in listings and in files."""

from typing import Any

from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.ssdlite.config import SSDLiteConfig
from cvzoo.links.model.ssdlite.published import SSDLite320MobileNetV3Large
from cvzoo.links.model.ssdlite.ssdlite import SSDLite
from cvzoo.links.model.ssdlite.weights import WEIGHTS
from cvzoo.links.model.trained_members import trained_members
from cvzoo.links.model.zoo_member import ZooMember


def _preprocessing(model: SSDLite) -> dict[str, Any]:
    return {
        "channels": "RGB",
        "mean": [127.5, 127.5, 127.5],
        "std": [127.5, 127.5, 127.5],
        "size": [model.insize, model.insize],
        "interpolation": "bilinear",
    }


ARCHITECTURES = (Architecture("SSDLite", SSDLite, SSDLiteConfig, _preprocessing, key="settings"),)


def members() -> list[ZooMember]:
    """The trained ones."""
    return trained_members([(SSDLite320MobileNetV3Large, WEIGHTS)])
